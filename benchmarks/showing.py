"""What showing costs, against rich a line, and whether a viewer keeps up with a quick agent."""

import os
import pty
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from statistics import quantiles
from typing import Any, Protocol

from running import writer_of
from timing import Row, dearer, faster, race

import nightrook
from nightrook.cli.terminal.output import SafeOutput
from nightrook.display.console import Paint
from nightrook.display.plain import PlainDisplay
from nightrook.display.screen import Screen
from nightrook.display.terminal import TerminalDisplay
from nightrook.model.records import Record, dump
from nightrook.model.redaction.redactor import Redactor

SESSIONS = Path(__file__).parent.parent / "src" / "nightrook" / "testing"
MOST_US = 5.0
RATE = 20_000
MOST_LAG_S = 0.5
SHOWN = re.compile(rb'"at (\d+\.\d+)"')


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool
    rounds: int


def show(setting: Setting) -> Iterator[Row]:
    """The events of recorded sessions to lines: plain, and for a terminal, and by rich."""
    records = list(_records())
    plain = partial(_plain, records)
    display = PlainDisplay(StringIO(), "claude", verbose=True)
    lines = [line for record in records for line in display.lines(record)]
    rich = partial(_rich, lines)
    terminal, other = race(setting.rounds, plain, partial(_terminal, records), rich)
    each = _per_call(plain) / len(records) * 1e6
    yield Row(
        "plain lines, an event",
        f"{MOST_US:.0f} µs",
        f"{each:.2f} µs",
        f"< {MOST_US:.0f} µs",
        each < MOST_US,
    )
    what = f"plain lines, {len(lines)} of {len(records)} events"
    yield faster(what, "rich.Console.print of the same lines", other, 10.0)
    yield faster("lines for a terminal", "rich.Console.print of the plain lines", other / terminal)
    (ratio,) = race(setting.rounds, partial(_painted, lines), rich)
    yield faster("a line in colour, words aside", "rich.Console.print of the line", ratio, 50.0)


def redaction(setting: Setting) -> Iterator[Row]:
    """What it costs that no secret is printed: lines for people, and records as JSON."""
    records = list(_records())
    safe = SafeOutput(StringIO(), {"SOME_TOKEN": "some value of 2 words"})
    (lines,) = race(setting.rounds, partial(_plain, records), partial(_plain, records, safe))
    yield dearer("plain lines without secrets", "the same lines as they are", lines, 2.0)
    whole = b"".join(dump(record) for record in records)
    dumped = partial(_dumped, SESSIONS / "demo.jsonl")
    (json,) = race(setting.rounds, dumped, partial(_redacted, dumped, whole))
    yield dearer("records as JSON without secrets", "decoding and dumping them", json, 2.5)


def viewer(setting: Setting) -> Iterator[Row]:
    """How late a line is on the output of `rook exec` after an agent wrote it, at a high rate."""
    count = RATE // 4 if setting.quick else RATE * 5
    program = setting.folder / "bin" / "claude"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f"#!/bin/sh\nexec {shlex.join(writer_of(os.devnull, RATE, count))}\n")
    program.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "ROOK_HOME": str(setting.folder / "home"),
    }
    environment.pop("CI", None)
    rook = Path(sys.executable).with_name("rook")
    command = [str(rook), "exec", "--", "claude", "-p", "x"]
    for name, open_output in (("a pipe", os.pipe), ("a terminal", pty.openpty)):
        lags = _watch(command, {**environment, "TERM": "xterm"}, *open_output())
        late, worst = quantiles(lags, n=100), max(lags[-len(lags) // 10 :])
        yield Row(
            f"lag on {name}, {RATE} lines/s, {len(lags)} lines",
            "the time of writing",
            f"p50 {late[49] * 1000:.0f} ms, p99 {late[98] * 1000:.0f} ms, "
            f"worst at the end {worst * 1000:.0f} ms",
            f"at the end < {MOST_LAG_S * 1000:.0f} ms",
            worst < MOST_LAG_S,
        )


def _watch(
    command: Sequence[str], environment: Mapping[str, str], ours: int, theirs: int
) -> list[float]:
    """How late each line was that the command showed on the other end of a pipe or a terminal."""
    lags: list[float] = []
    with subprocess.Popen(command, env=environment, stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        begun = b""
        while data := _read(ours):
            now = time.monotonic()
            *lines, begun = (begun + data).split(b"\n")
            lags += [now - float(at[1]) for line in lines if (at := SHOWN.search(line))]
    os.close(ours)
    return lags


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # how a terminal tells that nobody has it open any more
        return b""


def _records() -> Iterator[Record]:
    """Whole messages, as an agent writes them that was not asked for pieces."""
    for name in ("demo.jsonl", "sessions/strange-text.jsonl", "sessions/retries.jsonl"):
        yield from nightrook.decode(SESSIONS / name, "claude")


def _dumped(path: Path) -> None:
    for record in nightrook.decode(path, "claude"):
        dump(record)


def _redacted(action: Callable[[], None], data: bytes) -> None:
    action()
    Redactor().data(data)


def _plain(records: Iterable[Record], out: Any = None) -> None:
    display = PlainDisplay(out or StringIO(), "claude", verbose=True)
    for record in records:
        display.show(record)


def _terminal(records: Iterable[Record]) -> None:
    screen = Screen(StringIO(), lambda: 100)
    paint = Paint(colour=True, links=True)
    display = TerminalDisplay(screen, "claude", columns=lambda: 100, paint=paint, verbose=True)
    for record in records:
        display.show(record)


def _painted(lines: Iterable[str]) -> None:
    """Only colour and write lines that are made."""
    paint, screen = Paint(colour=True), Screen(StringIO(), lambda: 100)
    for line in lines:
        prefix, _, rest = line.partition(" ")
        screen.put([f"{paint('prefix', prefix)} {paint('tool', rest)}"])


def _rich(lines: Iterable[str]) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), force_terminal=True, width=100, highlight=False)
    for line in lines:
        prefix, _, rest = line.partition(" ")
        console.print(Text.assemble((prefix, "cyan"), " ", (rest, "yellow")))


def _per_call(action: Callable[[], object]) -> float:
    """The shortest CPU time of some calls."""
    times = []
    for _ in range(20):
        begun = time.process_time()
        action()
        times.append(time.process_time() - begun)
    return min(times)
