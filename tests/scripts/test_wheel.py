"""The wheel holds the package and nothing else, and its command works in a fresh environment."""

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def wheel(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("wheel")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built with what is installed: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_is_complete_and_holds_nothing_else(wheel: ModuleType, built: Path) -> None:
    assert wheel.inspect(built) == []


def test_the_command_of_the_wheel_works(wheel: ModuleType, built: Path, tmp_path: Path) -> None:
    wheel.try_out(built, tmp_path)
    assert (tmp_path / "venv/share/man/man1/rook.1").is_file()


def test_missing_files_and_strays_are_reported(wheel: ModuleType, built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = archive.namelist()
    damaged = [name for name in names if not name.endswith(("py.typed", "rook.1"))]
    strays = ["tests/test_it.py", "nightrook/notes.txt"]
    assert wheel.problems([*damaged, *strays], wheel.package_files()) == [
        "missing: data/share/man/man1/rook.1",
        "missing: py.typed",
        "does not belong: notes.txt",
        "does not belong: test_it.py",
    ]
