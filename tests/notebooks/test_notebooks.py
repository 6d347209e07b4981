"""Runs every notebook from top to bottom, with the smaller parameters that it names for this."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.notebooks
NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    position = next(i for i, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", []))
    smaller = "\n".join(f"{name} = {value!r}" for name, value in notebook.metadata["ci"].items())
    notebook.cells.insert(position + 1, nbformat.v4.new_code_cell(smaller))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output.output_type for cell in notebook.cells for output in cell.get("outputs", [])]
    assert "display_data" in shown or "execute_result" in shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_kept_without_outputs(path: Path) -> None:
    """Outputs of somebody's last run would go stale, and make every change hard to read."""
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 2
