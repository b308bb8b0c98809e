"""The list of what a home holds: found by name, newest first; how a run is made."""

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
    NightrookError,
    RunFolderError,
    UnknownRunError,
    UnsafeRunError,
)
from nightrook.store.list import (
    SessionName,
    Stored,
    chosen_run,
    find_run,
    find_shown,
    newest_first,
    runs_of,
)
from nightrook.store.run_folder import RunFolder, create_run
from tests.store.samples import EXIT, INFO, VERDICT, run_python


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_everything_a_run_keeps_is_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        folder = create_run(tmp_path / "share" / "home", INFO)
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
    assert create_run("home", INFO).path.parent == tmp_path / "home" / "runs"
    assert [run.path.parent for run in list(newest_first("home"))] == [tmp_path / "home" / "runs"]


def test_a_link_in_the_place_of_all_runs_is_refused_by_everything(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "runs").symlink_to(tmp_path / "elsewhere")
    for use in (
        lambda: create_run(tmp_path / "home", INFO),
        lambda: list(newest_first(tmp_path / "home")),
    ):
        with pytest.raises(UnsafeRunError, match=r"runs: is a link.*move it away, or choose"):
            use()
    with pytest.raises(UnsafeRunError):
        find_run(tmp_path / "home", "abcd")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_runs_of_another_user_are_refused(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    with pytest.raises(UnsafeRunError, match="belongs to user"):
        create_run(tmp_path / "home", INFO)


def test_a_link_in_a_runs_place_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    planted = folder.path.with_name("planted")
    planted.symlink_to(folder.path)
    with pytest.raises(UnsafeRunError, match="planted: is a link"):
        find_run(tmp_path / "home", "planted")
    with pytest.raises(UnsafeRunError):
        RunFolder(planted).write_exit(EXIT)
    assert list(newest_first(tmp_path / "home")) == [folder]


def test_a_run_that_cannot_be_written_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(RunFolderError, match="No space left on device"):
        create_run(tmp_path, INFO)
    assert list(newest_first(tmp_path)) == []
    assert list((tmp_path / "runs").iterdir()) == []


CREATOR = """
import sys
from nightrook.store import names
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo

names.LETTERS, names.DIGITS = "ab", ""  # few names: they must meet
sys.stdin.read(1)
for _ in range(25):
    print(create_run(sys.argv[1], RunInfo(command=["true"], cwd="/", started_at=1.0)).name)
"""


def test_four_processes_that_create_runs_at_once_get_distinct_names(tmp_path: Path) -> None:
    creators = [run_python(CREATOR, str(tmp_path / "home")) for _ in range(4)]
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write(b".")
        creator.stdin.flush()
    names = [name for creator in creators for name in creator.communicate()[0].split()]
    assert len(names) == len(set(names)) == 100
    assert {run.name.encode() for run in list(newest_first(tmp_path / "home"))} == set(names)
    for name in names:
        info = RunFolder(tmp_path / "home" / "runs" / name.decode()).info()
        assert info is not None
        assert info.name == name.decode()


HALF_MADE = """
import os, signal, sys
from nightrook.store.files import Folder
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo

Folder.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
create_run(sys.argv[1], RunInfo(command=["true"], cwd="/", started_at=1.0))
"""


def test_a_process_killed_while_making_a_run_leaves_no_run_without_info(tmp_path: Path) -> None:
    maker = run_python(HALF_MADE, str(tmp_path))
    maker.communicate()
    assert maker.returncode == -signal.SIGKILL
    (left,) = (tmp_path / "new").iterdir()
    assert list(newest_first(tmp_path)) == []
    create_run(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == [left]  # its maker may still be at work
    os.utime(left, (1.0, 1.0))
    create_run(tmp_path, INFO)
    assert list((tmp_path / "new").iterdir()) == []
    assert len(list(newest_first(tmp_path))) == 2


def test_runs_are_listed_newest_first_and_then_by_name(tmp_path: Path) -> None:
    made = [
        create_run(tmp_path, msgspec.structs.replace(INFO, started_at=at)) for at in (2.0, 3.0, 1.0)
    ]
    twin = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=3.0))
    newest = sorted([made[1], twin], key=lambda run: run.name)
    assert list(newest_first(tmp_path)) == [*newest, made[0], made[2]]
    assert chosen_run(tmp_path, None) == newest[0]


def test_a_home_without_runs_has_none(tmp_path: Path) -> None:
    assert list(newest_first(tmp_path / "missing")) == []
    with pytest.raises(NightrookError, match="there are no runs yet"):
        chosen_run(tmp_path / "missing", None)
    with pytest.raises(UnknownRunError, match="no run named 'abcd'"):
        find_run(tmp_path / "missing", "abcd")
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
    listed = [run.name for run in list(newest_first(tmp_path / "home"))]
    assert listed == [folder.name, *sorted(broken)]
    assert chosen_run(tmp_path / "home", None) == folder


def test_a_run_is_found_by_its_name_or_the_beginning_of_it(tmp_path: Path) -> None:
    for name in ("abcd", "abce", "zzzz"):
        (tmp_path / "runs" / name).mkdir(parents=True)
    assert find_run(tmp_path, "abcd").name == "abcd"
    assert find_run(tmp_path, "z").path == tmp_path / "runs" / "zzzz"
    with pytest.raises(AmbiguousRunError, match="abcd and abce"):
        find_run(tmp_path, "ab")
    with pytest.raises(UnknownRunError, match="did you mean zzzz"):
        find_run(tmp_path, "zzxz")
    with pytest.raises(BadRunNameError):
        find_run(tmp_path, "../runs")


def make_runs(home: Path, count: int) -> None:
    """Make runs that started a minute after each other and took half of it."""
    for number in range(count):
        started = 1e9 + 60 * number
        run = create_run(home, msgspec.structs.replace(INFO, started_at=started))
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
    assert opens(monkeypatch, lambda: chosen_run(tmp_path / "many", None)) < 10


@pytest.mark.parametrize("seed", range(20))
def test_the_order_is_the_same_whenever_the_folders_changed(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    expected: list[tuple[float, str]] = []
    for _ in range(12):
        started = float(random.randrange(1, 12))
        run = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=started))
        changed = started + random.choice((0, 0, 1, 5, 100))
        os.utime(run.path, (changed, changed))
        expected.append((-started, run.name))
    assert [run.name for run in newest_first(tmp_path)] == [name for _, name in sorted(expected)]


def test_a_run_that_claims_to_start_in_the_future_is_not_always_the_newest(tmp_path: Path) -> None:
    liar, honest = (
        create_run(tmp_path, msgspec.structs.replace(INFO, started_at=at)) for at in (1e300, 20.0)
    )
    os.utime(liar.path, (10.0, 10.0))
    os.utime(honest.path, (30.0, 30.0))
    assert list(newest_first(tmp_path)) == [honest, liar]
    assert chosen_run(tmp_path, None) == honest


def test_a_chosen_run_is_named_or_the_last_one(tmp_path: Path) -> None:
    earlier = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=1.0))
    last = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=2.0))
    assert chosen_run(tmp_path, None) == last
    assert chosen_run(tmp_path, earlier.name) == earlier


@pytest.mark.parametrize(("name", "kind"), [("loop-k7f3", "loop"), ("batch-k7f3", "batch")])
def test_a_loop_or_a_batch_is_not_a_run(tmp_path: Path, name: str, kind: str) -> None:
    with pytest.raises(
        NightrookError, match=f"{name} is a {kind}, not a run: use  rook show {name}"
    ):
        chosen_run(tmp_path, name)


def test_only_what_can_be_shown_is_taken_for_a_session(tmp_path: Path) -> None:
    run = create_run(tmp_path, INFO)
    assert find_shown(tmp_path, run.name[:3]) == Stored("run", run.path)
    assert find_shown(tmp_path, "5a035b45-aaaa") == SessionName("5a035b45-aaaa")
    with pytest.raises(UnknownRunError, match="no loop named 'loop-none'"):
        find_shown(tmp_path, "loop-none")


def copied(home: Path) -> None:
    """Let all folders have changed at one time, as in a home that was copied."""
    for run in (home / "runs").iterdir():
        os.utime(run, (2e9, 2e9))


def test_a_copied_home_has_the_same_order_and_opens_only_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_runs(tmp_path, 200)
    before = [run.name for run in newest_first(tmp_path)]
    copied(tmp_path)
    assert [run.name for run in newest_first(tmp_path)] == before
    assert opens(monkeypatch, lambda: chosen_run(tmp_path, None)) < 220


@pytest.mark.parametrize("of", ["a folder", "a pipe", "a link", "long", "damaged"])
def test_what_a_quick_look_cannot_read_is_still_in_the_list(of: str, tmp_path: Path) -> None:
    run = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=1.0))
    other = create_run(tmp_path, msgspec.structs.replace(INFO, started_at=2.0))
    info = other.path / "run.json"
    if of == "long":
        other.write_info(msgspec.structs.replace(INFO, started_at=2.0, prompt="x" * 100_000))
    elif of == "damaged":
        info.write_text('{"started_at": 2.0}')
    else:
        info.unlink()
        if of == "a folder":
            info.mkdir()
        elif of == "a pipe":
            os.mkfifo(info)
        else:
            info.symlink_to(run.path / "run.json")
    copied(tmp_path)
    expected = [other, run] if of == "long" else [run, other]
    assert list(newest_first(tmp_path)) == expected


def test_the_runs_of_a_loop_are_found_newest_first(tmp_path: Path) -> None:
    parts = [("loop-a", 1.0), ("loop-b", 2.0), ("loop-a", 3.0), (None, 4.0)]
    made = [
        create_run(tmp_path, msgspec.structs.replace(INFO, loop=loop, started_at=at))
        for loop, at in parts
    ]
    assert [run.folder for run in runs_of(tmp_path, "loop-a")] == [made[2], made[0]]
    assert [run.folder for run in runs_of(tmp_path)] == [made[2], made[1], made[0]]
    assert [run.folder for run in runs_of(tmp_path, since=1.5)] == [made[2], made[1]]
