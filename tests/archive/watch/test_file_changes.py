"""Which files change below some folders: with inotify, and where there is none."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook.archive.watch.file_changes import FileChanges, FileSystems
from nightrook.process.folder_watch import FolderWatch

pytestmark = pytest.mark.linux("inotify")


class Clock:
    """A clock that is moved by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Limited(FolderWatch):
    """A watch of so many folders, as if the system allowed no more."""

    left = 1

    def add(self, folder: str) -> bool:
        Limited.left -= 1
        return Limited.left >= 0 and super().add(folder)


def watched(folder: Path) -> FileChanges:
    changes = FileChanges(FolderWatch.opened(), silent=lambda _: None)
    changes.add(str(folder))
    return changes


def names(paths: set[str]) -> set[str]:
    return {Path(path).name for path in paths}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tree" / "a").mkdir(parents=True)
    (tmp_path / "tree" / "a" / "old").write_text("1")
    return tmp_path / "tree"


def test_what_another_process_appends_is_reported(folder: Path) -> None:
    changes = watched(folder)
    write = "import sys; open(sys.argv[1], 'a').write('2')"
    subprocess.run([sys.executable, "-c", write, folder / "a" / "old"], check=True)
    assert changes.read() == {str(folder / "a" / "old")}
    assert changes.read() == set()
    changes.close()


def test_files_in_new_folders_are_found_also_those_made_before_the_folder_was_watched(
    folder: Path,
) -> None:
    changes = watched(folder)
    (folder / "b" / "c").mkdir(parents=True)
    (folder / "b" / "c" / "new").write_text("1")
    assert names(changes.read()) == {"new"}
    (folder / "b" / "c" / "newer").write_text("1")
    assert names(changes.read()) == {"newer"}
    changes.close()


def test_a_folder_that_is_deleted_and_made_again_is_followed_again(folder: Path) -> None:
    changes = watched(folder)
    (folder / "a" / "old").unlink()
    (folder / "a").rmdir()
    changes.read()
    assert not changes.follows(str(folder / "a"))
    (folder / "a").mkdir()
    changes.read()
    (folder / "a" / "new").write_text("1")
    assert names(changes.read()) == {"new"}
    changes.close()


def test_a_folder_that_was_moved_away_is_not_followed_under_its_old_path(
    folder: Path, tmp_path: Path
) -> None:
    changes = watched(folder)
    (folder / "a").rename(tmp_path / "elsewhere")
    changes.read()
    (tmp_path / "elsewhere" / "old").write_text("2")
    assert changes.read() == set()
    changes.close()


def test_links_to_folders_elsewhere_are_followed_and_loops_are_not(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (folder / "link").symlink_to(tmp_path / "other")
    (folder / "loop").symlink_to(folder)
    changes = watched(folder)
    (tmp_path / "other" / "new").write_text("1")
    assert changes.read() == {str(folder / "link" / "new")}
    assert len(changes) == 3
    changes.close()


def test_a_folder_that_cannot_be_read_is_named_and_hides_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scandir = os.scandir

    def refusing(path: str) -> object:
        if path.endswith("/a"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    changes = watched(folder)
    assert changes.problems == {str(folder / "a"): "Permission denied"}
    (folder / "new").write_text("1")
    assert names(changes.read()) == {"new"}
    changes.close()


def test_folders_beyond_the_limit_of_the_system_are_polled_and_said_so(folder: Path) -> None:
    Limited.left = 1
    clock = Clock()
    changes = FileChanges(Limited.opened(), silent=lambda _: None, clock=clock)
    changes.add(str(folder))
    ((why, count),) = changes.polled_because.items()
    assert (count, "max_user_watches" in why) == (1, True)
    assert names(changes.read()) == set()
    (folder / "a" / "old").write_text("22")
    (folder / "top").write_text("1")
    assert names(changes.read()) == {"old", "top"}
    (folder / "a" / "new").write_text("1")
    clock.now += 1000
    assert names(changes.read()) == {"new"}
    changes.close()


def test_without_inotify_recent_files_are_looked_at_often_and_all_of_them_at_times(
    folder: Path,
) -> None:
    clock = Clock()
    os.utime(folder / "a" / "old", (1, 1))
    changes = FileChanges(None, clock=clock)
    changes.add(str(folder))
    assert list(changes.polled_because) == ["this system has no inotify"]
    assert changes.read() == set()
    (folder / "a" / "new").write_text("1")
    (folder / "a" / "old").write_text("22")
    assert changes.read() == set()
    clock.now += 1000
    assert names(changes.read()) == {"new", "old"}
    (folder / "a" / "old").write_text("333")
    assert names(changes.read()) == {"old"}
    (folder / "a" / "old").unlink()
    assert names(changes.read()) == {"old"}
    (folder / "b").mkdir()
    (folder / "b" / "deep").write_text("1")
    clock.now += 1000
    assert "deep" in names(changes.read())
    changes.close()


def test_a_file_system_that_reports_not_all_changes_is_polled(folder: Path) -> None:
    changes = FileChanges(FolderWatch.opened(), silent=lambda _: "nfs4")
    changes.add(str(folder))
    assert changes.polled_because == {"the file system nfs4 does not report all changes": 2}
    changes.close()


def test_when_the_queue_of_changes_overflows_every_file_may_have_changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = watched(folder)
    monkeypatch.setattr(FolderWatch, "read", lambda self: self._anything())
    assert names(changes.read()) == {"old"}
    changes.close()


MOUNTS = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
    "30 22 0:44 / /home/me/net\\040drive rw - nfs4 server:/export rw\n",
    "31 22 0:45 / /mnt/host rw - fuse.sshfs host: rw\n",
    "32 31 8:2 / /mnt/host/local rw - xfs /dev/sdb rw\n",
    "damaged\n",
]


def test_the_nearest_mount_above_a_folder_decides() -> None:
    systems = FileSystems(MOUNTS)
    found = {
        folder: systems.silent(folder)
        for folder in ("/home/me", "/home/me/net drive/a/b", "/mnt/host/x", "/mnt/host/local/y")
    }
    assert found == {
        "/home/me": None,
        "/home/me/net drive/a/b": "nfs4",
        "/mnt/host/x": "fuse.sshfs",
        "/mnt/host/local/y": None,
    }


def test_without_a_table_of_mounts_nothing_is_silent() -> None:
    assert FileSystems([]).silent("/home") is None
