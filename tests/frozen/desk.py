"""A user's desk: a home, a project and a scripted `claude` on PATH, and what is done at it."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.frozen.rook import ROOK, cases, environment, play

import nightrook.testing

KINDS = ("runs", "loops", "batches")
# Each call of it plays the next line of the file $PLAYS, if there is one.
CLAUDE = """#!/bin/sh
if [ -f "$PLAYS" ]; then
  ROOK_SCRIPT=$(head -n 1 "$PLAYS"); export ROOK_SCRIPT
  sed -i 1d "$PLAYS"
fi
exec "${0%/*}/scripted" "$@"
"""
HANGS = b"npm run dev"  # the command in which the scripted agent hangs
COSTLY = "budget no-result hang-after-result"  # waits until it is stopped


class Desk:
    """Calls `rook` in a project, with a home that is empty at first."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "nightrook"
        self.project = folder / "project"
        self.plays = folder / "plays"
        programs = folder / "bin"
        for path in (self.project, programs, folder / "tmp"):
            path.mkdir()
        nightrook.testing.install_agent(programs, name="scripted")
        (programs / "claude").write_text(CLAUDE)
        (programs / "claude").chmod(0o755)
        self.env = {
            **environment(folder, programs=programs),
            "ROOK_HOME": str(self.home),
            "TMPDIR": str(folder / "tmp"),
        }

    def rook(
        self, *words: str, script: str = "", plays: tuple[str, ...] = (), stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Call `rook`; the agent plays `script`, or the `plays` one after the other."""
        self.plays.write_text("".join(f"{line}\n" for line in plays))
        more = {"PLAYS": str(self.plays)} if plays else {"ROOK_SCRIPT": script}
        return subprocess.run(
            [ROOK, *words],
            env=self.env | more,
            cwd=self.project,
            input=stdin,
            capture_output=True,
            check=False,
        )

    def hanging(self, *words: str, script: str = "hang-in-tool") -> "subprocess.Popen[bytes]":
        """Start `rook`; return it once the agent hangs in a tool."""
        started = subprocess.Popen(
            [ROOK, *words],
            env=self.env | {"ROOK_SCRIPT": script},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert started.stdout is not None
        for line in started.stdout:
            if HANGS in line:
                break
        return started

    def names(self, kind: str) -> list[str]:
        """Return the names of the folders there are: runs, loops or batches."""
        return sorted(os.listdir(self.home / kind)) if (self.home / kind).exists() else []

    def made(self, kind: str, do: "Callable[[Desk], object]") -> str:
        """Do something that makes one folder of a kind; return its name."""
        before = set(self.names(kind))
        do(self)
        [name] = [
            name for name in self.names(kind) if name not in before and _is_asked(self, kind, name)
        ]
        return name


def _is_asked(desk: Desk, kind: str, name: str) -> bool:
    """Whether a folder was asked for by the user, and not by a loop or a batch."""
    if kind != "runs":
        return True
    return json.loads((desk.home / kind / name / "run.json").read_bytes())["loop"] is None


def interrupt(desk: Desk) -> int:
    """Interrupt a run, as Ctrl-C does; return the exit code."""
    with desk.hanging("run", "Fix the tests", script="hang-in-tool sigint-result") as started:
        started.send_signal(signal.SIGINT)
    return started.returncode


def _kill_runner(desk: Desk) -> None:
    """Kill `rook`; its recorder ends the agent, and nobody judges the run."""
    before = set(desk.names("runs"))
    with desk.hanging("run", "Fix the tests") as started:
        [name] = set(desk.names("runs")) - before
        started.kill()
    while not (desk.home / "runs" / name / "exit.json").exists():
        time.sleep(0.02)


def _kill_all(desk: Desk) -> None:
    """Kill `rook`, its recorder and the agent, as a crash of the machine does."""
    before = set(desk.names("runs"))
    with desk.hanging("run", "Fix the tests") as started:
        [name] = set(desk.names("runs")) - before
        recorder = json.loads((desk.home / "runs" / name / "run.json").read_bytes())["recorder_pid"]
        agents = Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()
        started.send_signal(signal.SIGSTOP)
        for pid in (recorder, started.pid, *map(int, agents)):
            os.kill(pid, signal.SIGKILL)


def _kill_loop(desk: Desk) -> None:
    with desk.hanging("loop", "Fix the tests", "--until", "DONE") as started:
        started.kill()
    [name] = [name for name in desk.names("runs") if not _is_asked(desk, "runs", name)][-1:]
    while not (desk.home / "runs" / name / "exit.json").exists():
        time.sleep(0.02)


def _resume(desk: Desk) -> None:
    listed = desk.rook("runs", "--json", "--limit", "100").stdout.splitlines()
    earlier = [run["name"] for run in map(json.loads, listed) if run["status"] == "success"][-1]
    desk.rook("run", "--resume", earlier, "Continue", script="say=Continued.")


def _detach(desk: Desk) -> None:
    name = desk.rook("run", "--detach", "Fix the tests", script="say=Done.").stdout.split()[0]
    desk.rook("attach", name.decode())


def _run(script: str, *words: str) -> Callable[[Desk], object]:
    return lambda desk: desk.rook("run", "Fix the tests", *words, script=script)


def _pipe(agent: str, case: str) -> Callable[[Desk], object]:
    return lambda desk: desk.rook(stdin=cases(agent)[case].read_bytes())


TASKS = b"""{"prompt": "Fix the tests"}
{"prompt": "Port the parser", "max_cost": 2}
{"prompt": "Write the manual", "until": "DONE", "check": ["true"], "max_iterations": 3}
"""
BATCH_PLAYS = ("say=Done.", "error-result", "say=Later.", "say=DONE")
RUNS: dict[str, Callable[[Desk], object]] = {
    "success": _run("say=Done."),
    "failed": _run("error-result"),
    "incomplete": _run("no-result exit-code=3"),
    "cut": _run("cut-last-line"),
    "denied": lambda desk: desk.rook("demo", "--speed", "1000"),
    "asked": _run("ask-permission", "--permission", "ask"),
    "over_budget": _run(COSTLY, "--max-cost", "0.2"),
    "limited": _run("limit"),
    "stuck": _run("silent=30", "--idle-timeout", "1s"),
    "timed_out": _run("hang-in-tool", "--timeout", "1s"),
    "interrupted": interrupt,
    "not_started": _run("bad-flag"),
    "no_program": lambda desk: desk.rook("exec", "--", "no-such-program", "-p", "hi"),
    "raw": lambda desk: desk.rook("exec", "--", "sh", "-c", "echo out; echo err >&2; exit 3"),
    "noise": _run("noise unknown-types strange-text"),
    "background": _run("background-task"),
    "prompt_piped": lambda desk: desk.rook(
        "run", "--prompt-file", "-", script="say=Done.", stdin=b"Fix the tests\n"
    ),
    "piped": _pipe("claude", "seed-samples"),
    "piped_codex": _pipe("codex", min(cases("codex"))),
    "piped_nothing": lambda desk: desk.rook(stdin=b"no message\n"),
    "detached": _detach,
    "killed": _kill_runner,
    "crashed": _kill_all,
    "resumed": _resume,
}
LOOPS: dict[str, Callable[[Desk], object]] = {
    "done": lambda desk: desk.rook(
        *("loop", "Fix the tests", "--until", "DONE"),
        *("--check", "test -f ready || { touch ready; echo not ready; exit 1; }"),
        plays=("say=Later.", "say=DONE", "write-file=notes.md say=DONE"),
    ),
    "ceiling": lambda desk: desk.rook(
        *("loop", "Fix the tests", "--signal", "PHASE_COMPLETE", "--max-iterations", "2"),
        plays=("say=Later.", "error-result"),
    ),
    "killed": _kill_loop,
}
BATCHES: dict[str, Callable[[Desk], object]] = {
    "three_tasks": lambda desk: desk.rook(
        "batch", "-", "--jobs", "1", plays=BATCH_PLAYS, stdin=TASKS
    ),
}
SCENARIOS = {"runs": RUNS, "loops": LOOPS, "batches": BATCHES}
"""What is done to get a folder of each kind in every state."""


LEFT_DEAD = ("killed", "crashed")
"""Scenarios after which a folder tells no end; the next `rook` in the same home would heal it."""


def do_all(desk: Desk) -> dict[str, dict[str, str]]:
    """Make a folder for each scenario; return their names by kind and scenario."""
    all_of_them = [(what, kind, do) for kind in KINDS for what, do in SCENARIOS[kind].items()]
    names: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
    for what, kind, do in sorted(all_of_them, key=lambda each: each[0] in LEFT_DEAD):
        if what in LEFT_DEAD:
            desk.home.rename(desk.home.with_name(f"before-{kind}-{what}"))
        names[kind][what] = desk.made(kind, do)
    for earlier in desk.home.parent.glob("before-*"):
        shutil.copytree(earlier, desk.home, dirs_exist_ok=True)
    return names


def views(home: Path, names: dict[str, dict[str, str]], cwd: Path) -> dict[str, Any]:
    """Return what `rook` shows of the folders in a home, by the words of the call."""
    calls = {" ".join(words): words for words in _views(names)}
    env = {**environment(cwd), "ROOK_HOME": str(home)}
    listed = [{"words": words, "stdin": os.devnull} for words in calls.values()]
    return dict(zip(calls, play(listed, env, cwd), strict=True))


def _views(names: dict[str, dict[str, str]]) -> Iterator[list[str]]:
    for name in names["runs"].values():
        yield ["show", name]
        yield ["replay", "--instant", name]
        yield ["attach", name]
    for what in ("success", "denied", "noise", "piped_codex", "killed"):
        yield ["replay", "--instant", "--format", "jsonl", names["runs"][what]]
    for what in ("success", "denied", "raw"):
        yield ["show", "--verbose", names["runs"][what]]
    for what in ("success", "raw"):
        yield ["replay", "--instant", "--format", "raw", names["runs"][what]]
    for name in names["loops"].values():
        yield ["show", name]
    yield ["loops"]
    yield ["loops", "--json"]
    yield ["runs", "--json", "--limit", "100"]


def copy_home(source: Path, target: Path) -> None:
    """Copy a stored home as it was written: private, and at one moment."""
    shutil.copytree(source, target)
    for path in (target, *target.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (1_800_000_000, 1_800_000_000))
