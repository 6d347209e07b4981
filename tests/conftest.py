"""What holds for every tier."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # A job that a shell started in the background ignores Ctrl-C, and so would every process that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
