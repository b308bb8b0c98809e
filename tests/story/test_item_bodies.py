"""Bodies of a timeline's items: what the log holds at their places."""

from pathlib import Path

import nightrook
from nightrook.model.events import Text, Thinking, ToolFinished, ToolStarted, UserMessage
from nightrook.model.records import Record
from nightrook.model.timeline import Item, Timeline
from nightrook.story.item_bodies import Bodies, Body, run_bodies
from tests.recorded import agent_of, cases, recordings


def kept(path: Path, folder: Path) -> tuple[list[Record], Timeline, Bodies]:
    """A recorded stream as a run folder keeps it."""
    (folder / "stdout.raw").write_bytes(path.read_bytes())
    records = list(nightrook.decode(path, agent=agent_of(path)))
    line = Timeline()
    line.take(records)
    return records, line, run_bodies(folder, agent_of(path))


def wrong(item: Item, records: list[Record], body: Body) -> bool:
    """Whether a body is not what the stream holds."""
    event = records[item.seq].event
    if isinstance(event, (Text, Thinking, UserMessage)):
        return (event.text or "") != (body.text or "")
    if isinstance(event, ToolStarted):
        ends = [r.event for r in records if isinstance(r.event, ToolFinished)]
        end = next(e for e in ends if e.id == event.id)
        start = body.start
        same = isinstance(start, ToolStarted) and start.input == event.input
        result = body.result
        given = (result.output, result.error) if result else (None, None)
        return not same or (end.status != "orphaned" and (end.output, end.error) != given)
    return False


def test_every_body_of_every_recorded_stream_is_read_from_the_log(tmp_path: Path) -> None:
    faults = []
    for path in [*cases(), *recordings()]:
        records, line, bodies = kept(path, tmp_path)
        faults += [
            f"{agent_of(path)} {path.parent.name}: {item}"
            for item in line.items
            if wrong(item, records, bodies.read(item))
        ]
    assert faults == []


def test_who_wrote_a_stream_is_read_from_its_head(tmp_path: Path) -> None:
    (path,) = (path for path in cases("acp") if path.parent.name == "kimi_main-1")
    lines = path.read_bytes().splitlines(keepends=True)
    filler = next(line for line in lines if b"agent_message_chunk" in line) * 2000
    long = tmp_path / "acp" / "cases" / "long" / "wire.jsonl"
    long.parent.mkdir(parents=True)
    first = next(n for n, line in enumerate(lines) if b'"tool_call"' in line)
    long.write_bytes(b"".join([*lines[:first], filler, *lines[first:]]))
    records, line, bodies = kept(long, tmp_path)
    calls = [item for item in line.items if item.kind == "tool"]
    assert len(calls) == 6
    assert [item for item in calls if wrong(item, records, bodies.read(item))] == []
