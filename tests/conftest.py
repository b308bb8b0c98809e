"""Shared by all tests: where the recorded streams are, and a session to decode."""

import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "examples" / "session.jsonl"


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start, also when tests run in the background."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def session() -> Path:
    """A recorded session of a real agent."""
    return SESSION


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT
