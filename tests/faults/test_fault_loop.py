"""Whatever call to the disk fails or is the last: nothing promised is lost, and all is listed.

As SQLite's tests do it: each command runs again and again, and the n-th call of its runner or its
recorder that changes the disk fails, or kills the process, for every n. `make test` tries some n.
"""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from nightrook.process import trees
from tests.cli.desk import Desk
from tests.rules import each

COMMANDS = {
    "run": ("run", "Fix it"),
    "loop": ("loop", "Fix it", "--until", "Done.", "--check", "true", "--max-iterations", "2"),
    "batch": ("batch", "tasks.jsonl", "--jobs", "1"),
}
PROCESSES = ("runner", "recorder")
ACTIONS = ("kill", "eio", "enospc", "full")
SHARE = 61
"""`make test` tries one in so many calls."""

NEVER = 10**9
ENDS = {"success", "incomplete", "interrupted", "not_started"}
CASES = [*product(COMMANDS, PROCESSES, ACTIONS)]


class Place:
    """A home with a good run, a good loop and a good batch, and what happens to it."""

    def __init__(self, folder: Path) -> None:
        self.desk = Desk(folder / "desk")
        self.tally = folder / "tally"
        tasks = [{"prompt": "Fix it"}, {"prompt": "Fix it too"}]
        lines = "".join(f"{json.dumps(task)}\n" for task in tasks)
        (self.desk.project / "tasks.jsonl").write_text(lines)
        for words in COMMANDS.values():
            assert self.desk.rook(*words).returncode == 0
        self.folders = self.desk.home / "runs-home"
        self.good = self._listed("runs")
        assert {run["status"] for run in self.good.values()} == {"success"}
        self.good_loops = self._listed("loops")

    def calls(self, command: str, process: str) -> int:
        """How many calls of a process change the disk when nothing fails."""
        assert self.strike(command, process, "eio", NEVER)
        return len(self.tally.read_bytes())

    def strike(self, command: str, process: str, action: str, at: int) -> str:
        """Run a command with a fault; return what it showed."""
        self.tally.unlink(missing_ok=True)
        fault = f"{process} {action} {at} {self.tally}"
        done = self.desk.rook(*COMMANDS[command], ROOK_TEST_FAULT=fault)
        assert "Traceback" not in done.stderr, (fault, done.stderr)
        return done.stdout

    def check(self, fault: str, shown: str) -> None:
        """Check that everything is still listed and shown, and that nothing promised is lost."""
        for name, run in self._listed("runs").items():
            if run["status"] == "running":  # its runner was killed: the recorder ends it
                self.desk.rook("attach", name)
        runs, loops = self._listed("runs"), self._listed("loops")
        assert self.good.items() <= runs.items(), fault
        assert self.good_loops.items() <= loops.items(), fault
        assert runs.keys() == {path.name for path in (self.folders / "runs").iterdir()}, fault
        assert loops.keys() == {path.name for path in (self.folders / "loops").iterdir()}, fault
        new = runs.keys() - self.good.keys()
        for name in new:
            assert runs[name]["status"] in ENDS, (fault, runs[name])
            assert trees.marked(str(self.folders / "runs" / name)) == [], fault
        for name in (*new, *loops.keys() - self.good_loops.keys()):
            self._read("show", name)
        logs = [(self.folders / "runs" / name / "stdout.raw") for name in new]
        kept = b"".join(log.read_bytes() for log in logs if log.exists())
        assert kept.count(b'"type":"result"') >= shown.count("Complete (cost"), fault
        self.good, self.good_loops = runs, loops

    def _listed(self, what: str) -> dict[str, Any]:
        words = ["--limit", "100000"] if what == "runs" else []
        rows = map(json.loads, self._read(what, "--json", *words).splitlines())
        return {row.get("name") or row["loop"]: row for row in rows}

    def _read(self, *words: str) -> str:
        done = self.desk.rook(*words)
        assert done.returncode == 0, (words, done.stderr)
        assert "Traceback" not in done.stderr, (words, done.stderr)
        return done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@each(("command", "process", "action"), CASES)
def test_faults_at_some_calls_lose_nothing(
    place: Place, command: str, process: str, action: str
) -> None:
    start = 1 + CASES.index((command, process, action)) % SHARE
    _try(place, command, process, action, start=start, step=SHARE)


@pytest.mark.soak
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("process", PROCESSES)
@pytest.mark.parametrize("command", COMMANDS)
def test_faults_at_every_call_lose_nothing(
    place: Place, command: str, process: str, action: str
) -> None:
    _try(place, command, process, action, start=1, step=1)


def _try(place: Place, command: str, process: str, action: str, *, start: int, step: int) -> None:
    for at in range(start, place.calls(command, process) + 1, step):
        shown = place.strike(command, process, action, at)
        place.check(f"{action} at call {at} of the {process}", shown)
