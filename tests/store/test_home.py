"""Where runs are kept, and whether there is room."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from nightrook.store.home import space_problem


@pytest.mark.parametrize(("blocks", "problem"), [(50_000, False), (48_000, True), (0, True)])
def test_an_almost_full_disk_is_reported(
    blocks: int, problem: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def statvfs(path: Path) -> SimpleNamespace:
        asked.append(path)
        return SimpleNamespace(f_bavail=blocks, f_frsize=4096)

    monkeypatch.setattr(os, "statvfs", statvfs)
    found = space_problem(tmp_path / "not" / "made")
    assert asked == [tmp_path]
    assert (found is not None) == problem
    if found is not None:
        assert found.startswith(f"only {blocks * 4096 / 1e6:.0f} MB are free in {tmp_path}")
        assert found.endswith("rook rm frees space")


def test_a_disk_that_cannot_be_asked_is_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def statvfs(_: Path) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "statvfs", statvfs)
    assert space_problem(tmp_path) is None
