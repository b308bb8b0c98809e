"""Measures CPU time and memory, always of several things in turn, and prints them as ratios."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

_PEAK = """
import sys
from collections import deque
import nightrook
deque(nightrook.decode(sys.stdin.buffer, "claude"), maxlen=0)
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@dataclass(frozen=True)
class Row:
    """One line of the table; `ok` is None where nothing is required."""

    what: str
    against: str
    value: str
    required: str = ""
    ok: bool | None = None


def faster(what: str, against: str, ratio: float, at_least: float | None = None) -> Row:
    """Report how many times as fast as its reference something is."""
    if at_least is None:
        return Row(what, against, f"{ratio:.2f}×")
    return Row(what, against, f"{ratio:.2f}×", f"≥ {at_least:.2f}×", ratio >= at_least)


def dearer(what: str, against: str, ratio: float, at_most: float | None = None) -> Row:
    """Report how many times as much as its reference something costs."""
    if at_most is None:
        return Row(what, against, f"{ratio:.2f}×")
    return Row(what, against, f"{ratio:.2f}×", f"≤ {at_most:.2f}×", ratio <= at_most)


def race(
    rounds: int,
    base: Callable[[], object],
    *others: Callable[[], object],
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Give how many times the CPU time of `base` each of the others takes.

    They take turns, every second round in reverse, lest one of them always comes after the one
    that leaves the caches worst. Times of one round are compared: on a busy machine the median of
    that is steadier than the best of each.
    """
    actions = (base, *others)
    ratios: list[list[float]] = [[] for _ in others]
    for turn in range(rounds):
        order = range(len(actions)) if turn % 2 == 0 else range(len(actions) - 1, -1, -1)
        spent = {n: _spent(actions[n], clock) for n in order}
        for n, found in enumerate(ratios, 1):
            found.append(spent[n] / spent[0])
    return [median(found) for found in ratios]


def race_children(
    rounds: int, base: Sequence[str], other: Sequence[str], environment: Mapping[str, str]
) -> float:
    """Return how many times the CPU time of a child process another child takes."""
    spent_by_children(other, environment)  # writes the bytecode
    ratios = [
        spent_by_children(other, environment) / spent_by_children(base, environment)
        for _ in range(rounds)
    ]
    return median(ratios)


def spent_by_children(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Return the CPU time of a command, its children included."""
    quiet = partial(
        subprocess.run, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return _spent(partial(quiet, command, env=environment), _children_time)


def peak_memory(size: int) -> int:
    """Give the peak memory, in bytes, of a process that decodes a stream of this size.

    The stream comes by pipe from a process that makes it up. The kernel's own counter of the
    peak is read: what getrusage tells a child includes the memory of the process it forked from.
    """
    corpus = [sys.executable, os.fspath(Path(__file__).with_name("corpus.py")), str(size)]
    with subprocess.Popen(corpus, stdout=subprocess.PIPE) as writer:
        decode = [sys.executable, "-c", _PEAK]
        told = subprocess.run(decode, check=True, stdin=writer.stdout, stdout=subprocess.PIPE)
    return int(told.stdout) * 1024


def _spent(action: Callable[[], object], clock: Callable[[], float]) -> float:
    begun = clock()
    action()
    return clock() - begun


def _children_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


HEAD = ("what", "against", "ratio", "required", "")
_WIDTHS = (44, 50, 9, 14, 0)  # rows are printed as they come, so the widest is not known before


def laid_out(row: Row) -> str:
    """Lay a row out under `HEAD`."""
    verdict = {None: "", True: "ok", False: "MISS"}[row.ok]
    return columns((row.what, row.against, row.value, row.required, verdict))


def columns(cells: Sequence[str]) -> str:
    """Lay cells out in columns; one that is too wide moves those after it."""
    return "  ".join(map(str.ljust, cells, _WIDTHS)).rstrip()
