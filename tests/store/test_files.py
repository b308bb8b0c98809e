"""Private files: modes, links in the way, and writing in one step whatever fails."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nightrook.model.errors import DamagedRunError, RunFolderError, UnsafeRunError
from nightrook.store import files
from nightrook.store.files import Folder, remove_stale


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with Folder.made(tmp_path / "folder") as folder:
        yield folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside, to which links are planted."""
    path = tmp_path / "secret"
    path.write_bytes(b"untouched")
    return path


def modes(root: Path) -> dict[str, int]:
    return {str(path.relative_to(root)): path.stat().st_mode & 0o7777 for path in root.rglob("*")}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o177, 0o277, 0o777])
def test_folders_and_files_are_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        with Folder.made(tmp_path / "a" / "b") as folder, folder.own("c") as inner:
            inner.replace("replaced", b"1")
            inner.create("created", b"2")
            os.close(inner.append("appended"))
    finally:
        os.umask(before)
    assert modes(tmp_path) == {
        "a": 0o700,
        "a/b": 0o700,
        "a/b/c": 0o700,
        "a/b/c/replaced": 0o600,
        "a/b/c/created": 0o600,
        "a/b/c/appended": 0o600,
    }


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """A folder of a user whom modes can lock out; root is nobody for a while."""
    path = Path(tempfile.mkdtemp())
    user = os.geteuid()
    try:
        if user == 0:
            os.chown(path, 65534, -1)
            os.seteuid(65534)
        yield path
    finally:
        os.seteuid(user)
        shutil.rmtree(path)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_no_umask_locks_us_out_of_our_own_files(umask: int, unprivileged: Path) -> None:
    before = os.umask(umask)
    try:
        with Folder.made(unprivileged / "a") as folder:
            folder.replace("state", b"1")
            assert folder.read("state") == b"1"
    finally:
        os.umask(before)


def test_a_home_that_may_not_be_made_is_a_typed_error(unprivileged: Path) -> None:
    unprivileged.chmod(0o500)
    with pytest.raises(RunFolderError, match="Permission denied; fix that, or choose another"):
        Folder.made(unprivileged / "a")


def test_a_folder_of_ours_that_is_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs").chmod(0o777)
    with Folder.made(tmp_path) as folder, folder.own("runs"):
        assert modes(tmp_path) == {"runs": 0o700}


def test_a_folder_of_another_user_is_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.make("runs")
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    for use in (folder.own, folder.open):
        with pytest.raises(UnsafeRunError, match=r"belongs to user \d+, not to you; move it away"):
            use("runs")


def test_a_link_is_never_a_folder(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder.path / "there").symlink_to(tmp_path / "elsewhere")
    (folder.path / "nowhere").symlink_to(tmp_path / "missing")
    (folder.path / "file").touch()
    for name in ("there", "nowhere", "file"):
        assert not folder.make(name)
        for use in (folder.own, folder.open):
            with pytest.raises(UnsafeRunError, match="is a link, or not a folder"):
                use(name)
    assert folder.folders() == []
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "missing").exists()


USES: list[Callable[[Folder, str], object]] = [
    lambda folder, name: folder.replace(name, b"new"),
    lambda folder, name: folder.create(name, b"new"),
    lambda folder, name: folder.append(name),
    lambda folder, name: folder.read(name),
    lambda folder, name: folder.read_at(name, 0, 10),
    lambda folder, name: folder.size(name),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("target", ["secret", "missing"])
def test_a_link_in_a_files_place_is_refused(
    use: Callable[[Folder, str], object], target: str, folder: Folder, secret: Path
) -> None:
    (folder.path / "state").symlink_to(secret.parent / target)
    with pytest.raises(UnsafeRunError, match=r"state: is a link.*; move it away"):
        use(folder, "state")
    assert secret.read_bytes() == b"untouched"
    assert not (secret.parent / "missing").exists()
    assert os.listdir(folder.path) == ["state"]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir], ids=["fifo", "folder"])
def test_a_pipe_or_folder_in_a_files_place_is_refused_without_waiting(
    use: Callable[[Folder, str], object], plant: Callable[[Path], None], folder: Folder
) -> None:
    plant(folder.path / "state")
    with pytest.raises(UnsafeRunError):
        use(folder, "state")


def test_a_pipe_that_somebody_reads_is_still_refused(folder: Folder) -> None:
    os.mkfifo(folder.path / "log")
    reader = os.open(folder.path / "log", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(UnsafeRunError, match="is not a plain file"):
            folder.append("log")
    finally:
        os.close(reader)


def test_what_is_missing_is_none(folder: Folder) -> None:
    assert folder.read("state") is None
    assert folder.read_at("state", 0, 1) is None
    assert folder.size("state") is None
    assert folder.open("folder") is None
    assert Folder.at(folder.path / "missing") is None
    assert Folder.at(folder.path, "missing", "deeper") is None


def test_links_may_lead_to_the_home(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder.path)
    with Folder.made(tmp_path / "link") as home:
        home.replace("state", b"1")
    assert folder.read("state") == b"1"


def test_a_home_that_is_a_file_is_a_typed_error(secret: Path) -> None:
    for home in (secret, secret / "below"):
        with pytest.raises(UnsafeRunError):
            Folder.made(home)


def test_a_file_is_replaced_whole(folder: Folder) -> None:
    folder.replace("state", b"a long old state")
    folder.replace("state", b"new")
    assert folder.read("state") == b"new"
    assert os.listdir(folder.path) == ["state"]


def test_a_file_that_is_there_is_not_created_again(folder: Folder) -> None:
    assert folder.create("state", b"first")
    assert not folder.create("state", b"second")
    assert folder.read("state") == b"first"
    assert os.listdir(folder.path) == ["state"]


def test_of_two_who_create_a_file_at_once_one_wins(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*args: Any, **kwargs: Any) -> None:
        (folder.path / "state").write_bytes(b"theirs")
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", link)
    assert not folder.create("state", b"ours")
    assert folder.read("state") == b"theirs"
    assert os.listdir(folder.path) == ["state"]


def test_a_system_without_hard_links_can_create_files_too(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    assert folder.create("state", b"first")
    assert not folder.create("state", b"second")
    assert folder.read("state") == b"first"
    assert os.listdir(folder.path) == ["state"]


def test_a_system_that_cannot_sync_folders_is_good_enough(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    folder.replace("state", b"new")
    assert folder.read("state") == b"new"


@pytest.mark.parametrize("write", ["replace", "create"])
def test_a_file_is_on_disk_before_it_has_its_name_and_then_the_name_is(
    write: str, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def note(name: str) -> None:
        real = getattr(os, name)

        def noted(*args: Any, **kwargs: Any) -> Any:
            is_folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{args[0]}")
            done.append(f"{name} folder" if is_folder else name)
            return real(*args, **kwargs)

        monkeypatch.setattr(os, name, noted)

    for name in ("write", "fsync", "replace", "link"):
        note(name)
    getattr(folder, write)("state", b"1")
    naming = {"replace": "replace", "create": "link"}[write]
    assert done == ["write", "fsync", naming, "fsync folder"]


def test_the_name_of_a_folder_is_on_disk_when_it_is_made_and_when_it_is_moved(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(fd: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    with folder.own("there") as there:
        assert synced == [str(folder.path)]
        folder.make("moved")
        synced.clear()
        assert folder.move("moved", there, "named")
        assert synced == [str(there.path)]


class Failing:
    """Lets a function of the system fail at its n-th call, once or from then on."""

    def __init__(self, real: Callable[..., Any], nth: int, error: int, *, sticky: bool) -> None:
        self.calls = 0
        self.real, self.nth, self.error, self.sticky = real, nth, error, sticky

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        if self.calls == self.nth or (self.sticky and self.calls > self.nth):
            raise OSError(self.error, os.strerror(self.error))
        return self.real(*args, **kwargs)


@pytest.mark.parametrize("sticky", [False, True])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("function", ["open", "write", "fsync", "replace", "link", "fchmod"])
@pytest.mark.parametrize("write", ["replace", "create"])
def test_whatever_call_fails_the_file_is_the_old_or_the_new_one(
    write: str, function: str, error: int, sticky: bool, folder: Folder
) -> None:
    if write == "replace":
        folder.replace("state", b"old")
    for nth in range(1, 10):
        failing = Failing(getattr(os, function), nth, error, sticky=sticky)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, function, failing)
            reason = None
            try:
                getattr(folder, write)("state", b"new")
            except RunFolderError as caught:
                reason = caught.reason
        assert reason in (None, os.strerror(error))
        assert folder.read("state") in (b"old" if write == "replace" else None, b"new")
        assert set(os.listdir(folder.path)) <= {"state"}
        if failing.calls < nth:
            break
    assert folder.read("state") == b"new"


def test_short_writes_are_continued(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:3]))
    folder.replace("state", b"a state of some length")
    assert folder.read("state") == b"a state of some length"


def test_a_mode_that_cannot_be_set_is_a_typed_error_and_leaks_nothing(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0o777)
    try:
        monkeypatch.setattr(os, "fchmod", Failing(os.fchmod, 1, errno.EPERM, sticky=True))
        opened = len(os.listdir("/proc/self/fd"))
        with pytest.raises(RunFolderError, match="Operation not permitted"):
            folder.append("log")
        assert len(os.listdir("/proc/self/fd")) == opened
    finally:
        os.umask(before)


def test_appending_adds_to_what_is_there(folder: Folder) -> None:
    for piece in (b"one ", b"two"):
        fd = folder.append("log")
        os.write(fd, piece)
        os.close(fd)
    assert folder.read("log") == b"one two"
    assert (folder.read_at("log", 4, 100), folder.read_at("log", 7, 100)) == (b"two", b"")
    assert folder.size("log") == 7


def test_descriptors_are_not_inherited(folder: Folder) -> None:
    fd = folder.append("log")
    assert not os.get_inheritable(fd)
    os.close(fd)


def test_a_state_file_without_end_is_not_read_into_memory(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_MOST", 100)
    folder.replace("state", b"x" * 101)
    with pytest.raises(DamagedRunError, match="is far too large"):
        folder.read("state")


def test_a_folder_that_was_moved_is_still_the_one_written_to(folder: Folder) -> None:
    folder.path.rename(folder.path.with_name("moved"))
    folder.path.symlink_to("/nowhere")
    folder.replace("state", b"1")
    assert (folder.path.with_name("moved") / "state").read_bytes() == b"1"


def test_a_folder_that_was_removed_is_a_typed_error(folder: Folder) -> None:
    folder.path.rmdir()
    with pytest.raises(RunFolderError, match="No such file"):
        folder.replace("state", b"1")


def test_a_folder_is_moved_in_one_step_unless_the_name_is_taken(folder: Folder) -> None:
    for name in ("one", "two"):
        folder.make(name)
        (folder.path / name / "file").write_bytes(name.encode())
    (folder.path / "link").symlink_to("nowhere")
    assert not folder.move("one", folder, "two")
    assert not folder.move("one", folder, "link")
    assert folder.move("one", folder, "three")
    assert (folder.path / "three" / "file").read_bytes() == b"one"
    assert (folder.path / "two" / "file").read_bytes() == b"two"


def test_only_old_folders_are_swept_away(folder: Folder) -> None:
    for name in ("old", "young"):
        folder.make(name)
        (folder.path / name / "file").touch()
    os.utime(folder.path / "old", (1.0, 1.0))
    remove_stale(folder, 60.0)
    assert folder.folders() == ["young"]
