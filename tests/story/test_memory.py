"""Memory stays bounded for any stream: what grows in it is let go of, and still counts."""

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from nightrook.adapter import decoder, memory
from nightrook.agents.claude import memory as claude_memory
from nightrook.model import bookkeeping, fold
from nightrook.model.events import Text, ToolFinished, ToolStarted
from nightrook.model.records import Record
from nightrook.story.feed import Feed
from nightrook.story.tail import Piece

Line = Callable[[int], dict[str, Any]]

INIT = {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/"}
USAGE = {"input_tokens": 1, "output_tokens": 1}


def message(number: int, block: dict[str, Any]) -> dict[str, Any]:
    content = {"id": f"m{number}", "role": "assistant", "model": "m", "content": [block]}
    return {"type": "assistant", "message": {**content, "usage": USAGE}, "session_id": "s"}


def text(number: int) -> dict[str, Any]:
    return message(number, {"type": "text", "text": "x" * 2000})


def delta(_: int) -> dict[str, Any]:
    piece = {"type": "text_delta", "text": "y" * 2000}
    event = {"type": "content_block_delta", "index": 0, "delta": piece}
    return {"type": "stream_event", "event": event, "session_id": "s"}


def open_call(number: int) -> dict[str, Any]:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "z" * 900}}
    return message(number, call)


def result(number: int) -> dict[str, Any]:
    answer = {"type": "result", "subtype": "success", "is_error": False, "result": "r" * 2000}
    return {**answer, "num_turns": 2, "total_cost_usd": 0.1, "session_id": "s", "usage": USAGE}


def failure(number: int) -> dict[str, Any]:
    answer = {"type": "result", "subtype": "error_during_execution", "is_error": True}
    return {**answer, "errors": ["e" * 2000], "num_turns": 1, "session_id": "s", "usage": USAGE}


def unknown(number: int) -> dict[str, Any]:
    return {"type": f"new type {number} " * 20}


def task(number: int) -> dict[str, Any]:
    started = {"type": "system", "subtype": "task_started", "task_id": f"k{number}"}
    return {**started, "description": "d" * 2000, "tool_use_id": f"t{number}", "session_id": "s"}


def question(number: int) -> dict[str, Any]:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "z" * 900}}
    return {"type": "control_request", "request_id": f"q{number}", "request": request}


def session(number: int) -> dict[str, Any]:
    return {**INIT, "session_id": f"session {number} " * 20}


def gemini_delta(_: int) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": "y" * 2000, "delta": True}


def gemini_call(number: int) -> dict[str, Any]:
    call = {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": f"t{number}"}
    return {**call, "parameters": {"command": "z" * 900}}


def codex_file(number: int) -> dict[str, Any]:
    change = {"path": f"/folder {number}" * 20, "kind": "add"}
    item = {"id": f"i{number}", "type": "file_change", "changes": [change], "status": "completed"}
    return {"type": "item.completed", "item": item}


STREAMS: list[tuple[str, Line]] = [
    *(("claude", line) for line in (text, delta, open_call, result, failure)),
    *(("claude", line) for line in (unknown, task, question, session)),
    *(("gemini", line) for line in (gemini_delta, gemini_call)),
    ("codex", codex_file),
]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a short stream reaches."""
    for module in (decoder, fold):
        monkeypatch.setattr(module, "_TRIM_SIZE", 10_000)
    for module in (memory, fold, claude_memory):
        monkeypatch.setattr(module, "_MOST_SIZE", 40_000)
    for name in ("_MOST_ITEMS", "_MOST_RESULTS", "_MOST_QUESTIONS", "_MOST_NAMES"):
        monkeypatch.setattr(fold, name, 50)
    for name in ("_MOST_OPEN", "_MOST_CALLS", "_MOST_SESSIONS"):
        monkeypatch.setattr(memory, name, 50)
    for name in ("_MOST_MESSAGES", "_MOST_CALLS", "_MOST_BLOCKS"):
        monkeypatch.setattr(claude_memory, name, 50)
    monkeypatch.setattr(bookkeeping, "_MOST_ENTRIES", 50)
    monkeypatch.setattr(memory, "LONGEST_TEXT", 40_000)
    monkeypatch.setattr(fold, "_MOST_TEXT", 40_000)


def feed(source: Feed, line: Line, first: int, count: int) -> list[Record]:
    lines = (json.dumps(line(number)).encode() for number in range(first, first + count))
    return [record for one in lines for record in source.take([(one + b"\n", 1.0)])]


class _Nothing:
    """A log that cannot be read again."""

    def read(self) -> list[Piece]:
        return []

    def close(self) -> None:
        return


def empty_feed(agent: str) -> Feed:
    return Feed(agent, lambda _: _Nothing(), recent_bytes=0)


def grown(agent: str, line: Line, count: int) -> int:
    """How many bytes more a source holds after so many more lines."""
    source = empty_feed(agent)
    feed(source, line, 0, count)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    feed(source, line, count, 6 * count)
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return after - before


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("agent", "line"), STREAMS, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_longer_stream_needs_no_more_memory(agent: str, line: Line) -> None:
    count = 300
    size = sum(len(json.dumps(line(number))) for number in range(count, 7 * count))
    assert size > 490_000
    # Older items are replaced by traced ones: of each kind, at most what the bounds allow.
    assert grown(agent, line, count) < 200_000


@pytest.mark.usefixtures("small")
def test_a_long_text_in_pieces_is_split_and_nothing_of_it_is_lost() -> None:
    source = empty_feed("gemini")
    records = [*feed(source, gemini_delta, 0, 100), *source.close()]
    texts = [record.event for record in records if isinstance(record.event, Text)]
    assert "".join(event.text for event in texts) == "y" * 200_000
    assert max(len(event.text) for event in texts) < 60_000
    assert len({event.id for event in texts}) == len(texts) > 3


@pytest.mark.usefixtures("small")
def test_every_call_ends_once_however_many_are_open() -> None:
    source = empty_feed("claude")
    records = [*feed(source, open_call, 0, 400), *source.close()]
    started = [r.event.id for r in records if isinstance(r.event, ToolStarted)]
    ended = [r.event.id for r in records if isinstance(r.event, ToolFinished)]
    assert sorted(started) == sorted(ended)
    assert len(started) == 400
    assert source.state.tools_orphaned == 400
    assert [record.seq for record in records] == list(range(len(records)))


@pytest.mark.usefixtures("small")
def test_what_is_let_go_of_still_counts() -> None:
    source = empty_feed("claude")
    feed(source, result, 0, 200)
    state = source.state
    assert (len(state.results), state.steps) == (200, 400)
    assert state.results[-1].text == "r" * 2000
    assert sum(one.text is not None for one in state.results) < 100
    files = empty_feed("codex")
    feed(files, codex_file, 0, 300)
    assert files.state.snapshot().files.changed == 300
    strange = empty_feed("claude")
    feed(strange, unknown, 0, 300)
    assert strange.state.unknown.total() == 300


_CHILD = """
import sys
from tests.story import test_memory

agent, line = next(pair for pair in test_memory.STREAMS if pair[1].__name__ == sys.argv[1])
source = test_memory.empty_feed(agent)
for first in range(0, int(sys.argv[2]), 100):
    test_memory.feed(source, line, first, 100)
source.close()
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.soak
@pytest.mark.parametrize("line", [line for _, line in STREAMS])
def test_two_hundred_megabytes_of_anything_need_less_than_a_hundred(line: Line) -> None:
    count = 200_000_000 // len(json.dumps(line(100_000)))
    command = [sys.executable, "-c", _CHILD, line.__name__, str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 150_000  # kilobytes, with Python and all modules
