"""What following a run costs and how late its records are, against `query()` of the SDK."""

import asyncio
import contextlib
import os
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

import nightrook
from nightrook.model.events import Text
from nightrook.model.records import Record
from nightrook.runs.run import Run

MB = 1_000_000
PIPE = 64 * 1024
MOST_LAG_S = 0.1
RATES = (100, 1000)  # lines a second
NO_SDK = "query() of claude-agent-sdk, which is not installed"

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


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool
    rounds: int


def latency(setting: Setting) -> Iterator[Row]:
    """How late a line is that a child wrote: as a record of a run, and as a message of the SDK.

    Ours is on disk by then.
    """
    sdk = _sdk()
    if sdk is None:
        yield Row("write → record, p50", NO_SDK, "?", "≤ 1.50×")
        return
    seconds = 0.5 if setting.quick else 3.0
    for rate in RATES:
        writer = writer_of(os.devnull, rate, int(rate * seconds))
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(1 if setting.quick else 5):
            theirs += asyncio.run(_read_query(sdk, setting.folder, writer))
            ours += asyncio.run(_read_run(setting.folder, writer))
        for name, part, required in (("p50", 50, 1.5), ("p99", 99, None)):
            mine, other = _percentile(ours, part), _percentile(theirs, part)
            row = dearer(
                f"write → record, {name}, {rate}/s",
                f"query() of {sdk.name}",
                mine / other,
                required,
            )
            yield replace(row, value=f"{row.value} ({mine * 1e6:.0f} / {other * 1e6:.0f} µs)")


def cpu(setting: Setting) -> Iterator[Row]:
    """The CPU time of the process that follows a run, and of one that follows `query()`."""
    sdk = _sdk()
    if sdk is None:
        yield Row("CPU, following a run", NO_SDK, "?", "≥ 5.00×")
        return
    size = (2 if setting.quick else 30) * MB
    path = setting.folder / "stream"
    path.write_bytes(b"".join(sdk.readable(list(Corpus().lines(size)))))
    rounds = 1 if setting.quick else min(setting.rounds, 7)
    for what, follow in (("await run.wait()", _wait), ("async for record in run", _iterate)):
        ours: Callable[[], object] = partial(_follow_file, setting.folder, path, follow)
        (ratio,) = race(rounds, ours, partial(_query_file, sdk, setting.folder, path))
        yield faster(f"CPU, {what}", f"query() of {sdk.name}", ratio, 5.0)


def many(setting: Setting) -> Iterator[Row]:
    """Whether one process can follow many runs at once without falling behind."""
    count, rate, seconds = (5, 100, 0.5) if setting.quick else (50, 200, 5.0)
    lags = asyncio.run(_follow_many(setting.folder, count, rate, seconds))
    late, worst = _percentile(lags, 99), max(lags)
    yield Row(
        f"lag of {count} runs, {rate} lines/s each",
        "the time of writing",
        f"p99 {late * 1000:.0f} ms, worst {worst * 1000:.0f} ms",
        f"p99 ≤ {MOST_LAG_S * 1000:.0f} ms",
        late <= MOST_LAG_S,
    )


def writer_of(go: str, rate: int, count: int) -> list[str]:
    """The command that writes lines at a rate."""
    first = next(Corpus().lines(1)).decode()
    return [sys.executable, "-I", "-S", "-c", WRITER, go, str(rate), str(count), first]


def _make(folder: Path, program: Sequence[str]) -> Run:
    made: Run = nightrook.run("claude", "x", cwd=folder, home=folder / "home", program=program)
    return made


def _sdk() -> Sdk | None:
    try:
        return Sdk()
    except ImportError:
        return None


async def _read_query(sdk: Sdk, folder: Path, writer: Sequence[str]) -> list[float]:
    """Read the messages of `query()`; they are only looked at when all is over."""
    came = [(time.monotonic(), message) async for message in sdk.query(folder, writer)]
    blocks = ((at, block) for at, each in came for block in getattr(each, "content", ()))
    texts = ((at, getattr(block, "text", "")) for at, block in blocks)
    return [at - float(text[3:]) for at, text in texts if text.startswith("at ")]


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


def _query_file(sdk: Sdk, folder: Path, path: Path) -> None:
    """Read what a child of `query()` says that writes a file."""

    async def read() -> None:
        async for _ in sdk.query(folder, ["/bin/cat", os.fspath(path)]):
            pass

    asyncio.run(read())


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
