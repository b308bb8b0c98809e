"""What `rook runs` costs in a home with very many runs."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Protocol

from starting import ROOK, rook_environment
from timing import Row, dearer, race_children, spent_by_children

from rookery.store.file_names import INFO, RUNS, VERDICT
from rookery.store.run_formats import RunInfo, VerdictInfo, dump

MANY, FEWER = 20_000, 2_000
MOST_CPU_S = 0.3
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
    _make(home / RUNS, count)
    environment = {**rook_environment(setting.folder), "ROOKERY_HOME": str(home)}
    least, command = [sys.executable, "-c", _SCAN, str(home / RUNS)], [ROOK, "runs"]
    ratio = race_children(setting.starts, least, command, environment)
    what = f"rook runs, {count} runs"
    yield dearer(what, "os.scandir, stat and json.load of the 20 shown", ratio, 3.0)
    seconds = median(spent_by_children(command, environment) for _ in range(setting.starts))
    yield Row(what, "CPU time", f"{seconds:.3f} s", f"≤ {MOST_CPU_S:.2f} s", seconds <= MOST_CPU_S)


def _make(runs: Path, count: int) -> None:
    """Make many finished runs, one a minute."""
    runs.mkdir(parents=True, mode=0o700)
    for number in range(count):
        started = 1e9 + 60.0 * number
        info = RunInfo(command=["true"], cwd="/", prompt="Fix it", started_at=started)
        verdict = VerdictInfo(status="success", sentence="", exit_code=0, ended_at=started + 30)
        run = runs / f"r{number}"
        run.mkdir(mode=0o700)
        (run / INFO).write_bytes(dump(info))
        (run / VERDICT).write_bytes(dump(verdict))
        os.utime(run, (started + 30, started + 30))
