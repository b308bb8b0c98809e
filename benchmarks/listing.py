"""What `rook runs` costs with very many runs, and short commands in a home as people have it."""

import os
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Protocol

from starting import ROOK, SESSION, rook_environment
from timing import Row, dearer, race_children, spent_by_children

from nightrook.store.file_names import INFO, RUNS, STDOUT, VERDICT
from nightrook.store.run_formats import RunInfo, VerdictInfo, dump

MANY, FEWER = 20_000, 2_000
MOST_CPU_S = 0.3
USUAL = 300
MOST_USUAL_CPU_S = 0.15
LIBRARIES = "import click, msgspec"
_SCAN = """
import json, os, sys
runs = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(sys.argv[1])]
for _, path in sorted(runs)[-20:]:
    for file in ("run.json", "verdict.json"):
        with open(f"{path}/{file}") as text:
            json.load(text)
"""


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool
    starts: int


def listing(setting: Setting) -> Iterator[Row]:
    """The CPU time of `rook runs`, and that of the least that such a list needs."""
    home = setting.folder / "many"
    count = FEWER if setting.quick else MANY
    runs = _make(home / RUNS, count)
    environment = {**rook_environment(setting.folder), "ROOK_HOME": str(home)}
    least, command = [sys.executable, "-c", _SCAN, str(home / RUNS)], [ROOK, "runs"]
    ratio = race_children(setting.starts, least, command, environment)
    what = f"rook runs, {count} runs"
    yield dearer(what, "os.scandir, stat and json.load of the 20 shown", ratio, 3.0)
    for shape in ("", ", home copied"):
        if shape:
            _copied(runs)
        spent = median(spent_by_children(command, environment) for _ in range(setting.starts))
        limit = f"≤ {MOST_CPU_S:.2f} s"
        yield Row(what + shape, "CPU time", f"{spent:.3f} s", limit, spent <= MOST_CPU_S)


def short_commands(setting: Setting) -> Iterator[Row]:
    """The CPU time of what people type most, and that of importing the libraries that it needs."""
    home = setting.folder / "usual"
    _make(home / RUNS, USUAL)
    environment = {**rook_environment(setting.folder), "ROOK_HOME": str(home)}
    least = [sys.executable, "-c", LIBRARIES]
    for words, at_most in ((["--version"], 1.5), (["runs"], 2.5), (["show"], 3.5)):
        what = f"rook {words[0]}, {USUAL} runs"
        ratio = race_children(setting.starts, least, [ROOK, *words], environment)
        yield dearer(what, f"python -c {LIBRARIES!r}", ratio, at_most)
        spent = [spent_by_children([ROOK, *words], environment) for _ in range(setting.starts)]
        most = MOST_USUAL_CPU_S
        yield Row(what, "CPU time", f"{min(spent):.3f} s", f"≤ {most:.2f} s", min(spent) <= most)


def _copied(runs: Sequence[Path]) -> None:
    """Let all folders have changed within a minute, in any order, as in a home that was copied."""
    made = random.Random(5)
    for run in runs:
        at = 2e9 + 60.0 * made.random()
        os.utime(run, (at, at))


def _make(runs: Path, count: int) -> list[Path]:
    """Make many finished runs of many projects, one a minute."""
    made = []
    runs.mkdir(parents=True, mode=0o700)
    session = SESSION.read_bytes()
    for number in range(count):
        started = 1e9 + 60.0 * number
        info = RunInfo(
            agent="claude",
            command=["claude"],
            cwd=f"/work/project-{number % 500}",
            prompt="Fix it",
            started_at=started,
        )
        verdict = VerdictInfo(status="success", sentence="", exit_code=0, ended_at=started + 30)
        run = runs / f"r{number}"
        run.mkdir(mode=0o700)
        (run / INFO).write_bytes(dump(info))
        (run / STDOUT).write_bytes(session)
        (run / VERDICT).write_bytes(dump(verdict))
        os.utime(run, (started + 30, started + 30))
        made.append(run)
    return made
