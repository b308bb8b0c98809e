"""Kills imports at chosen points, each in a process of its own, and reports what is in the ledger.

Run as a program, so that it can fork: `python -m tests.archive.killing FOLDER FIRST LAST`.
"""

import json
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from nightrook.archive import importer
from nightrook.archive.importer import bring_up_to_date
from nightrook.archive.rebuild import rebuild
from tests.archive.homes import Home, message

CALLS = 300
_LINES_IN_A_BATCH = 40


def _make_home(folder: Path) -> Home:
    home = Home(folder)
    for file in range(6):
        numbers = range(file * CALLS // 6, (file + 1) * CALLS // 6)
        lines = [message(number, output) for number in numbers for output in (1, 5)]
        home.write("".join(lines) + message(file), f"s{file}")  # the last one is a copy
    return home


def _in_child(work: Callable[[], object], kill_at: int | None = None) -> int:
    """Run something in a process that is killed at its n-th call; return how many there were."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        count = 0

        def step(*_: object) -> None:
            nonlocal count
            count += 1
            if count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(step)
        work()
        sys.setprofile(None)
        os.write(writer, str(count).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        count_text = answer.read()
    os.waitpid(pid, 0)
    return int(count_text or 0)


def _killed(home: Home, work: Callable[[], object], point: float, steps: int) -> object:
    """Kill some work at a point from 0 to 1, then import; return what the ledger has."""
    _in_child(work, int(point * steps) + 1)
    bring_up_to_date(home.ledger, (home.path,), names=("claude",))
    return home.totals()


def _report(found: object) -> None:
    sys.stdout.write(json.dumps(found) + "\n")


def main(folder: Path, first: int, last: int) -> None:
    """Print what the ledger has after each kill."""
    importer._MOST_LINES = _LINES_IN_A_BATCH
    home = _make_home(folder)

    def work() -> None:
        bring_up_to_date(home.ledger, (home.path,), names=("claude",))

    def again() -> None:
        rebuild(home.ledger, (home.path,))

    steps = _in_child(work)
    home.file("s0").unlink()  # its calls are only in the ledger from now on
    rebuilding = _in_child(again)
    for number in range(first, last):
        point = random.Random(number).random()
        ledger = home.ledger
        _report(_killed(home, again, point, rebuilding))
        home.ledger = folder / str(number) / "ledger.db"
        home.write("".join(message(n) for n in range(CALLS // 6)), "s0")
        _report(_killed(home, work, point, steps))
        home.file("s0").unlink()
        home.ledger = ledger


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
