"""Runs below a home: made in one step, found by name, listed newest first."""

import json
import os
import signal
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from nightrook.model.errors import (
    AmbiguousRunError,
    BadRunNameError,
    RunFolderError,
    UnknownRunError,
    UnsafeRunError,
)
from nightrook.store.run_folder import RunFolder
from nightrook.store.runs import create, find, last, newest_first, runs
from tests.store.samples import EXIT, INFO, VERDICT, run_python


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_everything_a_run_keeps_is_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        folder = create(tmp_path / "share" / "home", INFO)
        folder.write_exit(EXIT)
        folder.write_verdict(VERDICT)
        for log in ("stdout", "stderr", "stdin", "arrivals"):
            os.close(folder.open_log(log))
    finally:
        os.umask(before)
    found = {path.name: path.stat().st_mode & 0o7777 for path in tmp_path.rglob("*")}
    assert found == {
        **dict.fromkeys(["share", "home", "new", "runs", folder.name], 0o700),
        **dict.fromkeys(["run.json", "exit.json", "verdict.json"], 0o600),
        **dict.fromkeys(["stdout.raw", "stderr.raw", "stdin.raw", "arrivals"], 0o600),
    }


def test_what_was_asked_is_kept_with_the_name(folder: RunFolder, tmp_path: Path) -> None:
    assert folder.path == tmp_path / "home" / "runs" / folder.name
    assert folder.info() == msgspec.structs.replace(INFO, name=folder.name)
    assert json.loads((folder.path / "run.json").read_bytes())["format"] == 1


def test_the_path_of_a_run_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert create("home", INFO).path.parent == tmp_path / "home" / "runs"
    assert [run.path.parent for run in runs("home")] == [tmp_path / "home" / "runs"]


def test_a_link_in_the_place_of_all_runs_is_refused_by_everything(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "runs").symlink_to(tmp_path / "elsewhere")
    for use in (lambda: create(tmp_path / "home", INFO), lambda: runs(tmp_path / "home")):
        with pytest.raises(UnsafeRunError, match=r"runs: is a link.*move it away, or choose"):
            use()
    with pytest.raises(UnsafeRunError):
        find(tmp_path / "home", "abcd")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_runs_of_another_user_are_refused(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(UnsafeRunError, match="belongs to user"):
        create(tmp_path / "home", INFO)


def test_a_link_in_a_runs_place_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    planted = folder.path.with_name("planted")
    planted.symlink_to(folder.path)
    with pytest.raises(UnsafeRunError, match="planted: is a link"):
        find(tmp_path / "home", "planted")
    with pytest.raises(UnsafeRunError):
        RunFolder(planted).write_exit(EXIT)
    assert runs(tmp_path / "home") == [folder]


def test_a_run_that_cannot_be_written_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RunFolderError, match="No space left on device"):
        create(tmp_path, INFO)
    assert runs(tmp_path) == []
    assert list((tmp_path / "runs").iterdir()) == []


CREATOR = """
import sys
from nightrook.store import names
from nightrook.store.run_formats import RunInfo
from nightrook.store.runs import create

names.LETTERS, names.DIGITS = "ab", ""  # few names: they must meet
sys.stdin.read(1)
for _ in range(25):
    print(create(sys.argv[1], RunInfo(command=["true"], cwd="/", started_at=1.0)).name)
"""


def test_four_processes_that_create_runs_at_once_get_distinct_names(tmp_path: Path) -> None:
    creators = [run_python(CREATOR, str(tmp_path / "home")) for _ in range(4)]
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write(b".")
        creator.stdin.flush()
    names = [name for creator in creators for name in creator.communicate()[0].split()]
    assert len(names) == len(set(names)) == 100
    assert {run.name.encode() for run in runs(tmp_path / "home")} == set(names)
    for name in names:
        info = RunFolder(tmp_path / "home" / "runs" / name.decode()).info()
        assert info is not None
        assert info.name == name.decode()


HALF_MADE = """
import os, signal, sys
from nightrook.store import runs
from nightrook.store.files import Folder
from nightrook.store.run_formats import RunInfo

Folder.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
runs.create(sys.argv[1], RunInfo(command=["true"], cwd="/", started_at=1.0))
"""


def test_a_process_killed_while_making_a_run_leaves_no_run_without_info(tmp_path: Path) -> None:
    maker = run_python(HALF_MADE, str(tmp_path))
    maker.communicate()
    assert maker.returncode == -signal.SIGKILL
    (left,) = (tmp_path / "new").iterdir()
    assert runs(tmp_path) == []
    create(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == [left]  # its maker may still be at work
    os.utime(left, (1.0, 1.0))
    create(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == []
    assert len(runs(tmp_path)) == 2


def test_runs_are_listed_newest_first_and_then_by_name(tmp_path: Path) -> None:
    made = [
        create(tmp_path, msgspec.structs.replace(INFO, started_at=at)) for at in (2.0, 3.0, 1.0)
    ]
    twin = create(tmp_path, msgspec.structs.replace(INFO, started_at=3.0))
    newest = sorted([made[1], twin], key=lambda run: run.name)
    assert runs(tmp_path) == [*newest, made[0], made[2]]
    assert last(tmp_path) == newest[0]


def test_a_home_without_runs_has_none(tmp_path: Path) -> None:
    assert runs(tmp_path / "missing") == []
    assert last(tmp_path / "missing") is None
    with pytest.raises(UnknownRunError, match="no run named 'abcd'"):
        find(tmp_path / "missing", "abcd")
    assert not (tmp_path / "missing").exists()


def test_broken_folders_do_not_break_the_list_but_come_last(
    folder: RunFolder, tmp_path: Path
) -> None:
    broken = {"empty": None, "torn": b'{"format": 1, "na', "later": b'{"format": 2}', "list": b"[]"}
    for name, data in broken.items():
        folder.path.with_name(name).mkdir()
        if data is not None:
            (folder.path.with_name(name) / "run.json").write_bytes(data)
    folder.path.with_name("a file").touch()
    folder.path.with_name(".hidden").mkdir()
    folder.path.with_name("no name").mkdir()
    listed = [run.name for run in runs(tmp_path / "home")]
    assert listed == [folder.name, *sorted(broken)]
    assert last(tmp_path / "home") == folder


def test_a_run_is_found_by_its_name_or_the_beginning_of_it(tmp_path: Path) -> None:
    for name in ("abcd", "abce", "zzzz"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert find(tmp_path, "abcd").name == "abcd"
    assert find(tmp_path, "z").path == tmp_path / "runs" / "zzzz"
    with pytest.raises(AmbiguousRunError, match="abcd and abce"):
        find(tmp_path, "ab")
    with pytest.raises(UnknownRunError, match="did you mean zzzz"):
        find(tmp_path, "zzxz")
    with pytest.raises(BadRunNameError):
        find(tmp_path, "../runs")


def make_runs(home: Path, count: int) -> None:
    """Make runs that started a minute after each other and took half of it."""
    for number in range(count):
        started = 1e9 + 60 * number
        run = create(home, msgspec.structs.replace(INFO, started_at=started))
        os.utime(run.path, (started + 30, started + 30))


def opens(monkeypatch: pytest.MonkeyPatch, use: Callable[[], object]) -> int:
    """Count how often something is opened."""
    opened: list[object] = []
    real = os.open

    def counting(path: Any, *args: Any, **kwargs: Any) -> int:
        opened.append(path)
        return real(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", counting)
        use()
    return len(opened)


def test_the_newest_runs_are_listed_without_opening_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("few", 30), ("many", 300)):
        make_runs(tmp_path / name, count)
    few = opens(monkeypatch, lambda: [*islice(newest_first(tmp_path / "few"), 20)])
    many = opens(monkeypatch, lambda: [*islice(newest_first(tmp_path / "many"), 20)])
    assert few == many
    assert opens(monkeypatch, lambda: last(tmp_path / "many")) < 10


@pytest.mark.parametrize("seed", range(20))
def test_the_order_is_the_same_whenever_the_folders_changed(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    expected: list[tuple[float, str]] = []
    for _ in range(12):
        started = float(random.randrange(1, 12))
        run = create(tmp_path, msgspec.structs.replace(INFO, started_at=started))
        changed = started + random.choice((0, 0, 1, 5, 100))
        os.utime(run.path, (changed, changed))
        expected.append((-started, run.name))
    assert [run.name for run in runs(tmp_path)] == [name for _, name in sorted(expected)]


def test_a_run_that_claims_to_start_in_the_future_is_not_always_the_newest(tmp_path: Path) -> None:
    liar, honest = (
        create(tmp_path, msgspec.structs.replace(INFO, started_at=at)) for at in (1e300, 20.0)
    )
    os.utime(liar.path, (10.0, 10.0))
    os.utime(honest.path, (30.0, 30.0))
    assert runs(tmp_path) == [honest, liar]
    assert last(tmp_path) == honest
