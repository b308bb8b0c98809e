"""Named folders: lines that another process appends, and whether one runs what is in them."""

import fcntl
from contextlib import ExitStack
from pathlib import Path

from nightrook.store.named_folders import FolderKind, NamedFolder, NewLines

KIND = FolderKind(parent="loops", what="loop")


def test_new_lines_are_read_once_and_only_when_they_are_complete(tmp_path: Path) -> None:
    path = KIND.create(tmp_path, {})
    lines = NewLines(path, "log", bytes.decode)
    assert lines.read() == []
    with (path / "log").open("ab", buffering=0) as log:
        log.write("one\ntwo\nthré".encode()[:-1])
        assert lines.read() == ["one", "two"]
        log.write("é\n".encode()[1:] + b"\xff\nfour\n")
    assert lines.read() == ["thré", "four"]  # a line that cannot be decoded is left out
    assert lines.read() == []


def test_any_number_can_ask_at_once_whether_it_is_running(tmp_path: Path) -> None:
    folder = NamedFolder(KIND.create(tmp_path, {}))
    states = [folder.is_locked]
    with folder.lock():
        states.append(folder.is_locked)
    with ExitStack() as asking:
        for _ in range(2):
            file = asking.enter_context((folder.path / "lock").open())
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # as those do that ask
        states.append(folder.is_locked)
    assert states == [False, True, False]
