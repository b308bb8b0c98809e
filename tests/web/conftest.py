"""Servers that several tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import SESSION
from tests.runs.folders import ended
from tests.store.samples import append
from tests.web.served import Served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one run that has ended, called `done`."""
    home = tmp_path_factory.mktemp("web") / "home"
    folder = ended(home, name="done", prompt="Fix the tests\nand more", agent="claude")
    append(folder, "stdout", SESSION.read_bytes())
    return home


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    """A server of that home."""
    with Served(home) as server:
        yield server
