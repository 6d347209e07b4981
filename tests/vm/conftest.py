from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oracle
import pytest

pytest.register_assert_rewrite("drives")  # before a test imports it: what fails in there shows both values

if not Path("/vm/command").exists():
    pytest.exit("the tests of tests/vm run in guests; `make test-vm` boots them", returncode=2)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever lies here runs in a guest: a file that forgot to say so would be left out without a word."""
    for item in items:
        item.add_marker("vm")


@pytest.fixture(scope="session")
def said() -> dict[str, Any]:
    """What the reference tools say about the drives of this guest."""
    return oracle.ask()


@pytest.fixture(scope="session")
def nodes(said: dict[str, Any]) -> dict[str, str]:
    """The names in sysfs by serial number; of a namespace by "SERIAL-NSID" too."""
    return oracle.nodes(said)


@pytest.fixture
def removed() -> Iterator[None]:
    """Takes the device-mapper targets of a test away."""
    yield
    subprocess.run(["dmsetup", "remove_all", "--force"], check=False, timeout=30)
