"""What following a run costs and how late it is, against a bare reader and the SDK."""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import quantiles
from typing import Protocol

from corpus import Corpus
from sdk import Sdk
from timing import Row, dearer, faster, race

import rookery
from rookery.model.events import Text
from rookery.model.records import Record
from rookery.runs.run import Run

MB = 1_000_000
PIPE = 64 * 1024
MOST_LAG_S = 0.5

# Writes COUNT lines at a RATE once there is a file GO, each with the time of its writing in it,
# after the first line that an agent writes.
WRITER = r"""
import json, os, sys, time
go, rate, count, first = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
text = {"type": "text", "text": "@@"}
said = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [text]}
ids = {"session_id": "s", "uuid": "u", "parent_tool_use_id": None}
line = json.dumps({"type": "assistant", "message": said, **ids}).encode() + b"\n"
head, tail = line.split(b"@@")
os.write(1, first.encode())
while not os.path.exists(go):
    time.sleep(0.02)
due = time.monotonic()
for _ in range(count):
    due += 1 / rate
    if (early := due - time.monotonic()) > 0:
        time.sleep(early)
    os.write(1, head + b"at %.9f" % time.monotonic() + tail)
"""
WRITTEN = re.compile(rb'"at (\d+\.\d+)"')


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool
    rounds: int


def latency(setting: Setting) -> Iterator[Row]:
    """How late a line is that a child wrote: as a record of a run, and to a bare reader."""
    seconds = 0.5 if setting.quick else 3.0
    for rate in (100, 10_000):
        ours: list[float] = []
        bare: list[float] = []
        for _ in range(1 if setting.quick else 5):
            writer = writer_of(os.devnull, rate, int(rate * seconds))
            bare += _read_bare(writer)
            ours += asyncio.run(_read_run(setting.folder, writer))
        for name, part in (("p50", 50), ("p99", 99)):
            mine, other = _percentile(ours, part), _percentile(bare, part)
            row = dearer(f"write → record, {name}, {rate}/s", "bare os.read", mine / other, 5.0)
            yield replace(row, value=f"{row.value} ({mine * 1e6:.0f} / {other * 1e6:.0f} µs)")


def cpu(setting: Setting) -> Iterator[Row]:
    """The CPU time of the process that follows a run, and of the SDK on the same bytes."""
    try:
        other = Sdk()
    except ImportError:
        yield Row("following a run", "claude-agent-sdk, which is not installed", "?", "≥ 8.00×")
        return
    size = (2 if setting.quick else 30) * MB
    data = b"".join(other.readable(list(Corpus().lines(size))))
    path = setting.folder / "stream"
    path.write_bytes(data)
    chunks = [data[at : at + PIPE] for at in range(0, len(data), PIPE)]
    rounds = 1 if setting.quick else min(setting.rounds, 7)
    for what, follow in (("await run.wait()", _wait), ("async for record in run", _iterate)):
        ours: Callable[[], object] = partial(_follow_file, setting.folder, path, follow)
        (ratio,) = race(rounds, ours, partial(other.receive, chunks))
        yield faster(f"CPU, {what}", f"{other.name}, its whole way", ratio, 8.0)


def many(setting: Setting) -> Iterator[Row]:
    """Whether one process can follow many runs at once without falling behind."""
    count, rate, seconds = (5, 100, 0.5) if setting.quick else (50, 200, 5.0)
    lags = asyncio.run(_follow_many(setting.folder, count, rate, seconds))
    late, worst = _percentile(lags, 99), max(lags)
    yield Row(
        f"lag of {count} runs, {rate} lines/s each",
        "the time of writing",
        f"p99 {late * 1000:.0f} ms, worst {worst * 1000:.0f} ms",
        f"worst < {MOST_LAG_S * 1000:.0f} ms",
        worst < MOST_LAG_S,
    )


def writer_of(go: str, rate: int, count: int) -> list[str]:
    """The command that writes lines at a rate."""
    first = next(Corpus().lines(1)).decode()
    return [sys.executable, "-I", "-S", "-c", WRITER, go, str(rate), str(count), first]


def _make(folder: Path, program: Sequence[str]) -> Run:
    made: Run = rookery.run("claude", "x", cwd=folder, home=folder / "home", program=program)
    return made


def _read_bare(writer: Sequence[str]) -> list[float]:
    """Read with nothing but os.read; what was read is only looked at when all is over."""
    came: list[tuple[float, bytes]] = []
    with subprocess.Popen(writer, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        fd = child.stdout.fileno()
        while data := os.read(fd, PIPE):
            came.append((time.monotonic(), data))
    return list(_lags(came))


def _lags(came: Sequence[tuple[float, bytes]]) -> Iterator[float]:
    """How late lines came, those that were cut in two when their second part did."""
    begun = b""
    for at, data in came:
        *lines, begun = (begun + data).split(b"\n")
        for line in lines:
            if found := WRITTEN.search(line):
                yield at - float(found[1])


async def _read_run(folder: Path, writer: Sequence[str]) -> list[float]:
    """Read the records of a run; they too are only looked at when all is over."""
    async with _make(folder, writer) as run:
        return await _read(run, lambda: None)


async def _read(run: Run, on_ready: Callable[[], None]) -> list[float]:
    came: list[tuple[float, Record]] = []
    async for record in run:
        came.append((time.monotonic(), record))
        if len(came) == 1:
            on_ready()
    told = ((at, record.event) for at, record in came)
    texts = ((at, event.text) for at, event in told if isinstance(event, Text))
    return [at - float(text[3:]) for at, text in texts if text.startswith("at ")]


async def _follow_many(folder: Path, count: int, rate: int, seconds: float) -> list[float]:
    """Start all, let them write once all are ready, and read them all to their ends."""
    go = folder / "go"
    writer = writer_of(str(go), rate, int(rate * seconds))
    waiting = [None] * count

    def on_ready() -> None:
        waiting.pop()
        if not waiting:
            go.touch()

    async with contextlib.AsyncExitStack() as stack:
        runs = [await stack.enter_async_context(_make(folder, writer)) for _ in range(count)]
        lags = await asyncio.gather(*(_read(run, on_ready) for run in runs))
    assert {len(each) for each in lags} == {int(rate * seconds)}
    return list(chain.from_iterable(lags))


def _follow_file(folder: Path, path: Path, follow: Callable[[Run], Awaitable[None]]) -> None:
    """Follow a child that writes a file."""
    asyncio.run(_followed(_make(folder, ["/bin/sh", "-c", f"exec cat {path}"]), follow))


async def _followed(made: Run, follow: Callable[[Run], Awaitable[None]]) -> None:
    async with made as run:
        await follow(run)
        assert run.state.records > 0


async def _wait(run: Run) -> None:
    await run.wait()


async def _iterate(run: Run) -> None:
    async for _ in run:
        pass
    await run.wait()


def _percentile(times: Sequence[float], part: int) -> float:
    return quantiles(times, n=100)[part - 1]
