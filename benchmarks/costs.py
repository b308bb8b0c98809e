"""What `rook cost` costs: cold, again, after an append, and against ccusage over the same bytes."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shutil import rmtree
from statistics import median
from typing import Protocol

from starting import ROOK, rook_environment
from timing import Row, faster, spent_by_children
from transcripts import write_transcripts

MB = 1_000_000
MOST_AGAIN_S, MOST_APPENDED_S, MOST_MANY_S = 0.25, 0.3, 0.4
MOST_MEMORY = 200 * MB
MOST_LEDGER = 0.015
OTHERS = Path(__file__).parent.parent / ".cache" / "others"
CCUSAGE_20 = OTHERS / "20/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage"
CCUSAGE_18 = OTHERS / "18/node_modules/.bin/ccusage"
_PEAK = """
import os, resource, sys
pid = os.spawnvpe(os.P_NOWAIT, sys.argv[1], sys.argv[1:], os.environ)
print(os.wait4(pid, 0)[2].ru_maxrss * 1024)
"""


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool
    starts: int


class Home:
    """A home with stored sessions, and commands that report on it."""

    def __init__(self, setting: Setting, name: str, size: int, files: int) -> None:
        self.path = setting.folder / name
        self.size = write_transcripts(self.path, size, files=files)
        self.ledger = setting.folder / f"{name}-ledger"
        inherited = rook_environment(setting.folder)
        kept = {name: inherited[name] for name in ("PATH", "PYTHONPYCACHEPREFIX")}
        self.environment: Mapping[str, str] = {
            **kept,
            "HOME": str(self.path),
            "ROOK_HOME": str(self.ledger),
            "NO_COLOR": "1",
        }

    def cold(self) -> float:
        """The CPU time of the first report."""
        rmtree(self.ledger, ignore_errors=True)
        return self.report()

    def report(self) -> float:
        """The CPU time of a report."""
        return spent_by_children([ROOK, "cost", "--by", "day", "--json"], self.environment)

    def other(self, command: Sequence[str]) -> float:
        """The CPU time of another program's report."""
        return spent_by_children(command, self.environment)

    def append(self, size: int) -> None:
        """Append lines of other sessions to one of the files."""
        more = self.path.parent / "more"
        write_transcripts(more, size, files=1, seed=os.getpid())
        new = next(more.rglob("*.jsonl"))
        old = next(self.path.rglob("*.jsonl"))
        with old.open("ab") as file:
            file.write(new.read_bytes())
        rmtree(more)

    def peak(self) -> int:
        """The peak memory of the first report, in bytes."""
        rmtree(self.ledger, ignore_errors=True)
        command = [sys.executable, "-S", "-c", _PEAK, ROOK, "cost", "--json"]
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True)
        return int(done.stdout.split()[-1])

    def ledger_size(self) -> int:
        """The bytes of the ledger."""
        return sum(path.stat().st_size for path in self.ledger.glob("ledger.db*"))


def costs(setting: Setting) -> Iterator[Row]:
    """The CPU time of reports over stored sessions."""
    size, files = (30 * MB, 60) if setting.quick else (1000 * MB, 1500)
    home = Home(setting, "sessions", size, files)
    rounds = 3 if setting.quick else 5
    home.cold()  # writes the bytecode, and the copy of the prices
    what = f"rook cost, first report over {home.size / MB:.0f} MB"
    for name, command, at_least in _others():
        ratios = [home.other(command) / home.cold() for _ in range(rounds)]
        yield faster(what, name, median(ratios), at_least)
    yield _ledger("its ledger", home)
    yield _limited("rook cost, again", min(home.report() for _ in range(rounds)), MOST_AGAIN_S)
    appended = []
    for _ in range(rounds):
        home.append(MB)
        appended.append(home.report())
    yield _limited("rook cost, after 1 MB more", min(appended), MOST_APPENDED_S)
    peak = home.peak()
    yield Row(
        what,
        "peak memory",
        f"{peak / MB:.0f} MB",
        f"≤ {MOST_MEMORY / MB:.0f} MB",
        peak <= MOST_MEMORY,
    )
    if not setting.quick:
        rmtree(home.path)
        many = Home(setting, "many-sessions", 2700 * MB, 20_000)
        many.cold()
        yield _ledger("the ledger of 20,000 files and 2.7 GB", many)
        spent = min(many.report() for _ in range(rounds))
        yield _limited("rook cost, again, 20,000 files and 2.7 GB", spent, MOST_MANY_S)


def _ledger(what: str, home: Home) -> Row:
    part = home.ledger_size() / home.size
    return Row(what, "the source", f"{part:.2%}", f"≤ {MOST_LEDGER:.1%}", part <= MOST_LEDGER)


def _limited(what: str, spent: float, most: float) -> Row:
    return Row(what, "CPU time", f"{spent:.3f} s", f"≤ {most:.2f} s", spent <= most)


def _others() -> Iterator[tuple[str, Sequence[str], float]]:
    """The other programs that are installed, their commands, and how much faster rook must be."""
    for name, program, words, at_least in (
        (
            "ccusage@20.0.24 --single-thread",
            CCUSAGE_20,
            ("claude", "daily", "--single-thread"),
            1.5,
        ),
        ("ccusage@18", CCUSAGE_18, ("daily",), 15.0),
    ):
        if program.exists():
            yield name, [str(program), *words, "--offline", "--json"], at_least
