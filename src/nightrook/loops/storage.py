"""Loop folders with the types of this package: what is read from them and written to them."""

from pathlib import Path

import msgspec

from nightrook.loops.events import LoopEvent
from nightrook.loops.plan import LoopPlan, dump_plan, load_plan
from nightrook.loops.state import LoopState
from nightrook.model.errors import NightrookError
from nightrook.store import loop_folder
from nightrook.store.loop_folder import Codec, LoopFolders

LoopFolder = loop_folder.LoopFolder[LoopPlan, LoopState, LoopEvent]

_encode = msgspec.json.Encoder().encode

LOOP_FOLDERS: LoopFolders[LoopPlan, LoopState, LoopEvent] = LoopFolders(
    plan=Codec(dump_plan, load_plan),
    state=Codec(_encode, msgspec.json.Decoder(LoopState).decode),
    event=Codec(_encode, msgspec.json.Decoder(LoopEvent).decode),
)


def newest_first(home: Path) -> list[LoopFolder]:
    """All loops, the newest first; those that cannot be read or were never started come last."""
    return sorted(LOOP_FOLDERS.all(home), key=_started_at, reverse=True)


def _started_at(folder: LoopFolder) -> float:
    try:
        state = folder.state()
    except NightrookError:
        return 0.0
    return 0.0 if state is None else state.started_at
