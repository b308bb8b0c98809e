"""Shared by all tests: where the recorded streams are, and a session to decode."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "examples" / "session.jsonl"


@pytest.fixture
def session() -> Path:
    """A recorded session of a real agent."""
    return SESSION


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT
