"""The file that says how the agent's process ended."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nightrook.process.exit_file import ExitFile


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


def test_space_is_reserved_and_the_file_appears_whole(folder: int, tmp_path: Path) -> None:
    file = ExitFile(folder, "exit.json")
    assert [path.name for path in tmp_path.iterdir()] == ["exit.json.part"]
    assert (tmp_path / "exit.json.part").stat().st_size == 4096
    file.write({"exit_code": 0})
    assert [path.name for path in tmp_path.iterdir()] == ["exit.json"]
    assert json.loads((tmp_path / "exit.json").read_bytes()) == {"exit_code": 0}
    assert (tmp_path / "exit.json").stat().st_mode & 0o777 == 0o600


def test_a_link_in_its_place_is_not_followed(folder: int, tmp_path: Path) -> None:
    (tmp_path / "exit.json.part").symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        ExitFile(folder, "exit.json")


@pytest.mark.parametrize("what", ["file", "fifo", "nothing", "link"])
def test_what_the_agent_put_in_its_place_is_not_taken_for_it(
    folder: int, tmp_path: Path, what: str
) -> None:
    file = ExitFile(folder, "exit.json")
    part = tmp_path / "exit.json.part"
    part.unlink()
    if what == "file":
        part.write_text('{"exit_code": 0, "forged": true}')
    elif what == "fifo":
        os.mkfifo(part)
    elif what == "link":
        part.symlink_to("elsewhere")
    file.write({"exit_code": 1})
    assert json.loads((tmp_path / "exit.json").read_bytes()) == {"exit_code": 1}


def test_it_is_on_disk_before_it_has_its_name_and_then_the_name_is(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, str]] = []

    def note(name: str) -> None:
        real = getattr(os, name)

        def noted(what: Any, *args: Any, **kwargs: Any) -> Any:
            path = os.readlink(f"/proc/self/fd/{what}") if isinstance(what, int) else what
            done.append((name, os.path.basename(path)))
            return real(what, *args, **kwargs)

        monkeypatch.setattr(os, name, noted)

    file = ExitFile(folder, "exit.json")
    for name in ("pwrite", "fsync", "rename"):
        note(name)
    file.write({"exit_code": 0})
    part = "exit.json.part"
    assert done == [("pwrite", part), ("fsync", part), ("rename", part), ("fsync", tmp_path.name)]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_disk_that_fails_to_sync_does_not_keep_it_from_its_name(
    folder: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fsync(fd: int) -> None:
        if fd != folder:
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fsync)
    ExitFile(folder, "exit.json").write({"exit_code": 0})
    assert json.loads((tmp_path / "exit.json").read_bytes()) == {"exit_code": 0}
