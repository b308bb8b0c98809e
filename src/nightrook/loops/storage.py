"""Loop folders with the types of this package, for reading and writing."""

import time
from pathlib import Path

import msgspec

from nightrook.loops.events import LoopEvent
from nightrook.loops.plan import LoopPlan, dump_plan, load_plan
from nightrook.loops.state import LoopState
from nightrook.model.errors import NightrookError
from nightrook.model.status import LOOP_EXIT_CODES
from nightrook.store import loop_folder
from nightrook.store.list import Row
from nightrook.store.loop_folder import Codec, LoopFolders

LoopFolder = loop_folder.LoopFolder[LoopPlan, LoopState, LoopEvent]

_encode = msgspec.json.Encoder().encode

LOOP_FOLDERS: LoopFolders[LoopPlan, LoopState, LoopEvent] = LoopFolders(
    plan=Codec(dump_plan, load_plan),
    state=Codec(_encode, msgspec.json.Decoder(LoopState).decode),
    event=Codec(_encode, msgspec.json.Decoder(LoopEvent).decode),
)


def loop_row(folder: LoopFolder) -> Row:
    """A loop in a list; a NightrookError says why it cannot be read."""
    is_running, state, plan = folder.is_running, folder.state(), folder.plan()
    end = None if state is None or is_running else state.end
    row = Row(
        kind="loop",
        name=folder.name,
        agent=state.agent if state else plan.run.agent,
        status="running" if is_running else end or "cut off",
        cwd=plan.run.cwd,
        model=plan.run.model,
        part_of=plan.batch[0] if plan.batch else None,
        number=plan.batch[1] if plan.batch else None,
        what=plan.run.prompt or plan.prompt_file or "",
    )
    if state is None:
        return row
    return msgspec.structs.replace(
        row,
        started_at=state.started_at,
        ended_at=state.ended_at,
        seconds=state.elapsed_s(last_moment(folder, state, is_running=is_running)),
        spent_usd=state.spent_usd,
        cost_source=state.cost_source,
        exit_code=None if end is None else LOOP_EXIT_CODES[end],
    )


def last_moment(folder: LoopFolder, state: LoopState, *, is_running: bool) -> float:
    """The time; of a loop that was cut off, the time of its last event."""
    if state.end is not None or is_running:
        return time.time()
    return max((event.at for event in folder.events()), default=state.started_at)


def newest_first(home: Path) -> list[LoopFolder]:
    """Return all loops, the newest first; unreadable and never started ones come last."""
    return sorted(LOOP_FOLDERS.all(home), key=_started_at, reverse=True)


def _started_at(folder: LoopFolder) -> float:
    try:
        state = folder.state()
    except NightrookError:
        return 0.0
    return 0.0 if state is None else state.started_at
