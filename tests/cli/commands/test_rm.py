"""`rook rm`: what it removes, what it asks, and what it refuses."""

import os
import time
from pathlib import Path

import pytest
from tests.cli.desk import Desk
from tests.terminals import Terminal
from tests.warm import ROOK

from nightrook.process.liveness import start_ticks
from nightrook.store.folders import LOOPS
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo

DAY_S = 86_400


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def home_of(desk: Desk) -> Path:
    return desk.home / "runs-home"


def make_run(desk: Desk, *, days: float = 0, loop: str | None = None, pid: int = 0) -> RunFolder:
    """Make a run that last changed some days ago; with a pid, one that is running."""
    ticks = start_ticks(pid) if pid else None
    at = time.time() - days * DAY_S
    folder = create_run(
        home_of(desk),
        RunInfo(
            command=["claude"],
            cwd="/",
            started_at=at,
            loop=loop,
            recorder_pid=pid or None,
            recorder_ticks=ticks,
        ),
    )
    if not pid:
        verdict = VerdictInfo(status="success", sentence="done", exit_code=0, ended_at=at)
        folder.write_verdict(verdict)
    for path in (*folder.path.iterdir(), folder.path):
        os.utime(path, (at, at))
    return folder


def left(desk: Desk) -> set[str]:
    return {folder.name for folder in list(newest_first(home_of(desk)))}


def test_a_named_run_is_removed_without_a_question(desk: Desk) -> None:
    run, other = make_run(desk), make_run(desk)
    done = desk.rook("rm", run.name)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith(f"[rook] removed run {run.name} (")
    assert left(desk) == {other.name}


def test_several_are_removed_only_with_yes_where_rook_cannot_ask(desk: Desk) -> None:
    several = [make_run(desk).name for _ in range(3)]
    refused = desk.rook("rm", *several)
    assert refused.returncode == 2
    assert "this would remove 3 runs (" in refused.stderr
    assert "add --yes to do it, or --dry-run to list them" in refused.stderr
    assert left(desk) == set(several)
    assert desk.rook("rm", "--yes", *several).returncode == 0
    assert left(desk) == set()


@pytest.mark.parametrize(("key", "code"), [("y", 0), ("n", 1)])
def test_on_a_terminal_several_are_removed_after_a_yes(desk: Desk, key: str, code: int) -> None:
    several = [make_run(desk).name for _ in range(2)]
    with Terminal([ROOK, "rm", *several], desk.environment(), cwd=desk.project) as terminal:
        terminal.until("Remove 2 runs")
        terminal.type(f"{key}\n")
        assert terminal.finish() == code
    assert left(desk) == (set() if key == "y" else set(several))


def test_a_dry_run_lists_and_removes_nothing(desk: Desk) -> None:
    old, new = make_run(desk, days=40), make_run(desk, days=1)
    done = desk.rook("rm", "--older-than", "30d", "--dry-run")
    assert done.returncode == 0
    head, row = done.stdout.splitlines()
    assert head.split() == ["NAME", "KIND", "CHANGED", "SIZE"]
    assert row.split()[:2] == [old.name, "run"]
    assert f"[rook] would remove run {old.name} (" in done.stderr
    assert left(desk) == {old.name, new.name}


def test_runs_are_chosen_by_age_and_by_number(desk: Desk) -> None:
    names = [make_run(desk, days=days).name for days in range(6)]
    assert desk.rook("rm", "--keep", "4", "--yes").returncode == 0
    assert left(desk) == set(names[:4])
    assert desk.rook("rm", "--older-than", "36h", "--keep", "3", "--yes").returncode == 0
    assert left(desk) == set(names[:3])
    assert desk.rook("rm", "--older-than", "36h", "--yes").returncode == 0
    assert left(desk) == set(names[:2])
    assert desk.rook("rm", "--older-than", "36h").stderr == "[rook] nothing to remove\n"


def fill(run: RunFolder, size: int = 1_000_000) -> str:
    """Give a run a log of a certain size without a change of its age; return its name."""
    before = run.path.stat().st_mtime
    (run.path / "stdout.raw").write_bytes(b"")
    os.truncate(run.path / "stdout.raw", size)
    for path in (run.path / "stdout.raw", run.path):
        os.utime(path, (before, before))
    return run.name


def test_max_size_removes_the_oldest_until_the_rest_fits(desk: Desk) -> None:
    names = [fill(make_run(desk, days=days)) for days in (3, 1, 4, 2)]
    tried = desk.rook("rm", "--max-size", "2.5M", "--dry-run")
    assert [row.split()[0] for row in tried.stdout.splitlines()[1:]] == [names[0], names[2]]
    refused = desk.rook("rm", "--max-size", "2.5M")
    assert (refused.returncode, left(desk)) == (2, set(names))
    done = desk.rook("rm", "--max-size", "2.5M", "--yes")
    assert (done.returncode, done.stderr) == (0, "[rook] removed 2 runs (2.0 MB freed)\n")
    assert left(desk) == {names[1], names[3]}
    assert desk.rook("rm", "--max-size", "2.5M").stderr == "[rook] nothing to remove\n"


def test_max_size_counts_loops_and_batches_too(desk: Desk) -> None:
    loop = LOOPS.create(home_of(desk), {"plan.json": b" " * 1_000_000})
    os.utime(loop / "plan.json", (0, 0))
    os.utime(loop, (0, 0))
    run = fill(make_run(desk, days=1))
    done = desk.rook("rm", "--max-size", "1.5M", "--yes")
    assert f"[rook] removed loop {loop.name} (1.0 MB freed)" in done.stderr
    assert left(desk) == {run}


def test_max_size_never_removes_what_is_running_and_says_what_is_left(desk: Desk) -> None:
    running = fill(make_run(desk, days=9, pid=os.getpid()))
    ended = fill(make_run(desk, days=1))
    done = desk.rook("rm", "--max-size", "1k", "--yes")
    assert done.returncode == 0
    assert f"[rook] not removed: run {running} is running" in done.stderr
    assert "[rook] 1.0 MB remain, more than --max-size allows" in done.stderr
    assert f"[rook] removed run {ended} (1.0 MB freed)" in done.stderr
    assert left(desk) == {running}


def test_max_size_leaves_what_the_other_options_keep(desk: Desk) -> None:
    names = [fill(make_run(desk, days=days)) for days in range(4)]
    assert desk.rook("rm", "--max-size", "1.5M", "--keep", "3", "--yes").returncode == 0
    assert left(desk) == set(names[:3])
    assert desk.rook("rm", "--max-size", "1k", "--older-than", "36h", "--yes").returncode == 0
    assert left(desk) == set(names[:2])
    assert desk.rook("rm", "--max-size", "1.5M", "--older-than", "1h", "--yes").returncode == 0
    assert left(desk) == set(names[:1])


def test_a_loop_is_removed_with_its_runs(desk: Desk) -> None:
    loop = LOOPS.create(home_of(desk), {"plan.json": b"{}"})
    make_run(desk, loop=loop.name)
    other = make_run(desk)
    done = desk.rook("rm", "--yes", loop.name)
    assert (done.returncode, loop.exists()) == (0, False)
    assert "[rook] removed 1 loop and 1 run (" in done.stderr
    assert left(desk) == {other.name}


def test_what_is_running_is_refused_by_name_and_left_out_by_age(desk: Desk) -> None:
    running, ended = make_run(desk, days=9, pid=os.getpid()), make_run(desk, days=9)
    refused = desk.rook("rm", "--yes", ended.name, running.name)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"[rook] run {running.name} is running: stop it first with  rook stop {running.name}\n"
    )
    assert left(desk) == {running.name, ended.name}
    done = desk.rook("rm", "--yes", "--older-than", "1d")
    assert done.returncode == 0
    assert f"[rook] not removed: run {running.name} is running" in done.stderr
    assert left(desk) == {running.name}


def test_a_damaged_run_can_be_removed(desk: Desk) -> None:
    run = make_run(desk)
    (run.path / "run.json").write_bytes(b"\xff\xfe")
    assert desk.rook("rm", run.name).returncode == 0
    assert left(desk) == set()


def test_it_needs_names_or_a_choice_but_not_both(desk: Desk) -> None:
    for words in ((), ("k7f3", "--keep", "3")):
        done = desk.rook("rm", *words)
        assert done.returncode == 2
        assert "name what to remove, or use --older-than, --keep or --max-size" in done.stderr
    unknown = desk.rook("rm", "nope")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "[rook] no run named 'nope'; see rook runs\n",
    )
