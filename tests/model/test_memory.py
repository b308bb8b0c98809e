"""How much memory a run of many calls needs: state and timeline together."""

import gc
import tracemalloc
from collections.abc import Iterator
from itertools import count

from nightrook.model.events import (
    Event,
    FileChanged,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    UsageReported,
)
from nightrook.model.fold import Fold
from nightrook.model.records import Record
from nightrook.model.timeline import Timeline

CALLS = 20_000  # of 100,000 each needs less: what is kept of the latest ones does not grow
MOST_BYTES = 400  # a call, on average


def session() -> Iterator[Event]:
    """A long session as agents write it: a message a call, some words, failures and changes."""
    yield SessionStarted(session="s", model="m", cwd="/home/dev/project")
    yield TurnStarted()
    for n in range(CALLS):
        id = f"toolu_{n:024}"
        if n % 5 == 0:
            text = f"Now I look at file {n} to see what is wrong there, and then I correct it."
            yield Text(id=f"text {n}", text=text)
        title = f"go test ./internal/package{n % 100}/... -run TestNumber{n}"
        yield ToolStarted(id=id, name="Bash", kind="execute", title=title)
        yield UsageReported(
            message_id=f"msg_{n:024}",
            model="m",
            scope="message",
            semantics="final",
            input=1000 + n,
            output=300 + n,
            cache_read=20_000 + n,
        )
        failed = n % 20 == 0
        yield ToolFinished(
            id=id,
            status="error" if failed else "ok",
            output=f"ok  package {n}\n" * 100,
            error=f"Exit code 1\npackage{n} failed" if failed else None,
            exit_code=1 if failed else None,
        )
        if n % 4 == 0:
            path = f"/home/dev/project/internal/package{n % 500}/code.go"
            yield FileChanged(path=path, change="modify", added=3, removed=1, tool_id=id)


def records() -> Iterator[Record]:
    offsets = count(0, 1500)
    for seq, (event, offset) in enumerate(zip(session(), offsets, strict=False)):
        yield Record(seq, 1.76e9 + seq / 4, offset, 1500, event)


def test_state_and_timeline_need_little_memory_for_each_call() -> None:
    gc.collect()
    tracemalloc.start()
    try:
        stream, line = Fold(records()), Timeline()
        for record in stream:
            line.take((record,))
        del record
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stream.state.tools_finished == CALLS
    assert len(line.items) > CALLS
    assert used / CALLS <= MOST_BYTES
