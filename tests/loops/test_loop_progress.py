"""The state and the events of a loop: on disk first, then passed on."""

import asyncio
from pathlib import Path

from nightrook.loops.events import Resumed, ToolStarted
from nightrook.loops.loop import Progress
from nightrook.loops.plan import Goal, make_plan
from nightrook.loops.state import LoopState
from nightrook.loops.storage import LOOP_FOLDERS

NOW = 1_794_000_000.0


def progress(home: Path, now: float = NOW) -> Progress:
    plan = make_plan(agent="claude", cwd="/", prompt="p", goal=Goal(until="DONE"))
    state = LoopState(started_at=NOW - 60, agent="claude")
    return Progress(LOOP_FOLDERS.create(home, plan), state, clock=lambda: now)


def test_a_change_is_on_disk_with_the_time_of_the_loop_s_own_clock(tmp_path: Path) -> None:
    saved = progress(tmp_path)
    saved.save(agent="codex")
    assert (saved.state.agent, saved.state.saved_at) == ("codex", NOW)
    assert saved._folder.state() == saved.state


def test_it_counts_time_by_the_loop_s_own_clock(tmp_path: Path) -> None:
    assert progress(tmp_path, NOW + 40).elapsed_s == 100


def test_events_are_in_the_log_before_they_are_read(tmp_path: Path) -> None:
    made = progress(tmp_path)
    event = Resumed(at=NOW, waited_s=1.0)
    made.emit(event)
    assert list(made._folder.events()) == [event]
    made.close()

    async def read() -> list[object]:
        return [each async for each in made.events()]

    assert asyncio.run(read()) == [event]
    made._folder.close()


def test_a_reader_that_is_too_slow_loses_only_what_the_agent_does(tmp_path: Path) -> None:
    made = progress(tmp_path)
    for _ in range(10_001):
        made.emit(ToolStarted(at=NOW, iteration=1, tool_name="Read", message="Tool: Read"))
    made.emit(Resumed(at=NOW, waited_s=1.0))
    made.close()

    async def read() -> list[object]:
        return [each async for each in made.events()]

    events = asyncio.run(read())
    assert len(events) == 10_001
    assert isinstance(events[-1], Resumed)
    made._folder.close()
