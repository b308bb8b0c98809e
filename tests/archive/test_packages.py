"""Other packages that add agents or stored sessions are noticed wherever they are on the path."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from nightrook.archive import packages
from nightrook.archive.packages import may_add

GROUP = "nightrook.histories"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path of modules."""
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "missing")])
    packages._may_add.cache_clear()
    return tmp_path


def _package(folder: Path, name: str, points: str | None) -> None:
    folder.joinpath(name).mkdir()
    if points is not None:
        folder.joinpath(name, "entry_points.txt").write_text(points)


def test_packages_that_add_other_things_add_nothing_here(path: Path) -> None:
    _package(path, "plain-1.0.dist-info", None)
    _package(path, "command-1.0.dist-info", "[console_scripts]\ncommand = command:main\n")
    path.joinpath("old.egg-info").write_text("Name: old\n")
    assert not may_add(GROUP)


@pytest.mark.parametrize("name", ["some-1.0.dist-info", "some.egg-info"])
def test_a_package_with_the_group_may_add_something(path: Path, name: str) -> None:
    _package(path, name, f"[console_scripts]\nx = x:y\n\n[{GROUP}]\nsome = some:HISTORY\n")
    assert may_add(GROUP)


def test_packages_in_archives_may_add_something(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = path / "packages.zip"
    ZipFile(archive, "w").close()
    monkeypatch.setattr("sys.path", [str(archive)])
    assert may_add(GROUP)


def test_eggs_may_add_something(path: Path) -> None:
    path.joinpath("some-1.0-py3.11.egg").mkdir()
    assert may_add(GROUP)
