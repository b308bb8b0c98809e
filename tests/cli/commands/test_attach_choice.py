"""What `rook attach` follows without a name."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.loops.playing import plan
from tests.runs.folders import ended, live
from tests.terminals import Terminal
from tests.warm import ROOK, rook

from nightrook.batches.queue import new_queue
from nightrook.batches.tasks import read_tasks
from nightrook.cli.commands.attach import list_running, running_name
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.store.batch_folder import BatchFolder

TASK = b'{"prompt": "Fix A"}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    return tmp_path


def batch(home: Path, number: int) -> BatchFolder:
    return new_queue(read_tasks(TASK * number, "tasks", {}), home=home).folder


class Locks:
    """Makes loops and batches that this process runs."""

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self._home = home
        self._stack = stack

    def loop(self, **more: object) -> str:
        folder = LOOP_FOLDERS.create(self._home, plan(self._home, **more))
        self._stack.enter_context(folder.locked())
        return folder.name

    def batch(self, number: int) -> str:
        folder = batch(self._home, number)
        self._stack.enter_context(folder.locked())
        return folder.name


@pytest.fixture
def locks(home: Path) -> Iterator[Locks]:
    with ExitStack() as stack:
        yield Locks(home, stack)


def test_without_a_name_the_run_that_is_running_is_meant(home: Path) -> None:
    running = live(home, 3)
    ended(home, started_at=9e9)
    assert running_name() == running.name


def test_nothing_is_meant_if_nothing_is_running(home: Path) -> None:
    ended(home, started_at=1.0)
    LOOP_FOLDERS.create(home, plan(home))
    batch(home, 1)
    (home / "loops" / "loop-none").mkdir()
    assert running_name() is None


def test_a_running_loop_is_meant_and_not_its_run(home: Path, locks: Locks) -> None:
    name = locks.loop()
    live(home, 3, loop=name, iteration=1)
    assert running_name() == name


def test_a_running_batch_is_meant_and_neither_its_runs_nor_its_loops(
    home: Path, locks: Locks
) -> None:
    name = locks.batch(2)
    live(home, 3, loop=name, iteration=1)
    live(home, 3, loop=locks.loop(batch=(name, 2)), iteration=1)
    assert [(each.name, each.what) for each in list_running()] == [
        (name, "Fix A (and 1 more task)")
    ]


def test_several_running_ones_are_named_where_no_person_can_be_asked(
    home: Path, locks: Locks
) -> None:
    names = {live(home, 3).name, live(home, 3).name}
    environment = {"ROOK_HOME": str(home), "HOME": str(home)}
    done = rook("attach", env=environment)
    assert done.returncode == 2
    assert "2 runs are running: name one of " in done.stderr
    names |= {locks.loop(), locks.batch(1), locks.batch(1)}
    done = rook("attach", env=environment)
    assert "2 runs, 1 loop and 2 batches are running: name one of " in done.stderr
    assert all(name in done.stderr for name in names)


def test_on_a_terminal_rook_attach_asks_which_of_several_is_meant(home: Path, locks: Locks) -> None:
    locks.batch(1)
    run = live(home, 3, prompt="the first task", started_at=1.0)
    environment = {"ROOK_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    with Terminal([ROOK, "attach", "--stop"], environment) as terminal:
        terminal.until("Which one? [1]:")
        assert "Fix A" in terminal.text
        terminal.type("2\n")  # the newest is the first in the list
        terminal.finish()
        assert f"run '{run.name}' is not running" in terminal.text  # it has no recorder
