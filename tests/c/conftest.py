from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--sanitize",
        action="store_true",
        help="build the C library and its tests with the address and undefined-behaviour sanitizers",
    )
