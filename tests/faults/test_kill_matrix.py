"""Any process of a run gets any signal at any time: it ends, nothing is left, its verdict is true.

`make soak` tries every combination of who gets a signal, which one, what the agent's processes look
like and what it was doing; `make test` tries one in so many.
"""

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from nightrook.process import trees
from nightrook.store.list import newest_first
from tests.cli.desk import Desk
from tests.process.recording import wait_for
from tests.rules import each
from tests.runs.test_soak import working_in
from tests.terminals import Terminal
from tests.warm import ROOK

TARGETS = ("runner", "recorder", "both", "agent", "terminal")
SIGNALS = ("KILL", "STOP", "HUP", "INT", "TERM")
SHAPES = {
    "alone": "",
    "ignores SIGTERM": "ignore-sigterm",
    "child holds the pipe": "grandchild-holds-pipe=20",
    "forking daemons": "forkers=2",
    "both": "ignore-sigterm forkers=1 grandchild-holds-pipe=20",
}
MOMENTS = {  # what it does when the signal comes, and what the screen shows by then
    "waiting": ("silent=25", "waiting for the model"),
    "tool": ("hang-in-tool", "npm run dev"),
    "burst": ("flood=400000000", "claude 2.1.325"),
    "result": ("hang-after-result", "Done."),
}
CASES = [*product(TARGETS, SIGNALS, SHAPES, MOMENTS)]
SHARE = 83  # every target and every signal has its turn
PATIENCE_S = 8.0
"""Seconds after which a person presses Ctrl-C, and then again."""


@each(("target", "number", "shape", "moment"), CASES[::SHARE])
def test_some_kills_leave_nothing_and_end_truthfully(
    tmp_path_factory: pytest.TempPathFactory, target: str, number: str, shape: str, moment: str
) -> None:
    _try(tmp_path_factory.mktemp("killed"), target, number, shape, moment)


@pytest.mark.soak
@pytest.mark.parametrize(("target", "number", "shape", "moment"), CASES)
def test_all_kills_leave_nothing_and_end_truthfully(
    tmp_path: Path,
    target: str,
    number: str,
    shape: str,
    moment: str,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("status", _try(tmp_path, target, number, shape, moment))


def _try(folder: Path, target: str, number: str, shape: str, moment: str) -> str:
    """Try one case; return how the run ended."""
    desk = Desk(folder / "desk")
    script, shown = MOMENTS[moment]
    environment = desk.environment(ROOK_SCRIPT=f"say=Done. {script} {SHAPES[shape]}")
    command: list[str | Path] = [ROOK, "run", "--permission", "agent", "Fix it"]
    with Terminal(command, environment, cwd=desk.project) as terminal:
        terminal.until(shown)
        (run,) = list(newest_first(desk.home / "runs-home"))
        _strike(terminal, run.path, target, signal.Signals[f"SIG{number}"])
        _end(terminal)
    if (target, number) == ("both", "KILL"):
        desk.rook("runs")  # the next command ends what is left of the agent
    wait_for(lambda: not [pid for pid in working_in(desk.project) if pid != os.getpid()])
    wait_for(lambda: trees.marked(str(run.path)) == [])
    assert "Traceback" not in terminal.raw.decode(errors="replace")
    return _checked_status(desk, run.path)


def _strike(terminal: Terminal, folder: Path, target: str, number: signal.Signals) -> None:
    info = json.loads((folder / "run.json").read_text())
    if target == "terminal":
        if number in (signal.SIGKILL, signal.SIGHUP):
            terminal.hang_up()
        elif number == signal.SIGINT:
            terminal.type("\x03")
        else:  # a terminal that nobody reads any more, or whose session is told to end
            terminal.kill(signal.SIGCONT if number == signal.SIGSTOP else number)
        return
    agents = [pid for pid in trees.marked(str(folder)) if pid != info["recorder_pid"]]
    pids = {
        "runner": [info["runner_pid"]],
        "recorder": [info["recorder_pid"]],
        "both": [info["recorder_pid"], info["runner_pid"]],
        "agent": agents,
    }[target]
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _end(terminal: Terminal) -> None:
    """Wait for `rook`; press Ctrl-C three times, each after a while, if it does not end."""
    for _ in range(3):
        if terminal.ends_within(PATIENCE_S):
            return
        for number in (signal.SIGCONT, signal.SIGINT):
            with suppress(ProcessLookupError):
                terminal.kill(number)
    assert terminal.ends_within(60), terminal.text


def _checked_status(desk: Desk, folder: Path) -> str:
    listed = desk.rook("runs", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    (row,) = map(json.loads, listed.stdout.splitlines())
    answered = b'"type":"result"' in (folder / "stdout.raw").read_bytes()
    assert (row["status"] == "success") == answered or row["status"] == "incomplete", row
    return str(row["status"])
