"""What it costs to start `rook`: to print its help, and to run an agent that ends at once."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Protocol

from timing import Row, dearer, race_children, spent_by_children

ROOK = str(Path(sys.executable).with_name("rook"))
BARE = [sys.executable, "-c", "pass"]
SESSION = (
    Path(__file__).parent.parent / "src" / "nightrook" / "testing" / "sessions" / "short.jsonl"
)
MOST_CPU_S = 0.2


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    starts: int


def start(setting: Setting) -> Iterator[Row]:
    """How long the command takes to print what it can do."""
    ratio = race_children(setting.starts, BARE, [ROOK, "--help"], rook_environment(setting.folder))
    yield dearer("rook --help", "python -c pass", ratio, 4.0)


def whole_run(setting: Setting) -> Iterator[Row]:
    """The CPU time of a run whose agent writes a short session: of `rook` and of its recorder."""
    agent = setting.folder / "bin" / "claude"
    agent.parent.mkdir(exist_ok=True)
    agent.write_text(f"#!/bin/sh\nexec cat {shlex.quote(str(SESSION))}\n")
    agent.chmod(0o755)
    environment = rook_environment(setting.folder)
    command = [ROOK, "run", "Say hello"]
    spent_by_children(command, environment)  # writes the bytecode
    seconds = median(spent_by_children(command, environment) for _ in range(setting.starts))
    yield Row(
        "rook run, an agent that ends at once",
        "CPU time",
        f"{seconds:.3f} s",
        f"≤ {MOST_CPU_S:.2f} s",
        seconds <= MOST_CPU_S,
    )


def rook_environment(folder: Path) -> Mapping[str, str]:
    """An environment in which modules have their bytecode, as those of an installed package do."""
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTHONDONTWRITEBYTECODE")}
    return {
        **kept,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "ROOK_HOME": str(folder / "home"),
    }
