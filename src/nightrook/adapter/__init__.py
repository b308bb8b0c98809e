"""The parts of an agent adapter; adapters outside of this package import them from here.

The parts are in the modules of this folder. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nightrook.adapter.agent import (
        Agent,
        Capabilities,
        ControlChannel,
        Invocation,
        PromptLimit,
        Replacement,
        Support,
        Task,
        Way,
        prompt_before_stdin,
        stdin_before_prompt,
    )
    from nightrook.adapter.command_line import (
        as_typed,
        fits_argument,
        has_prompt,
        needs_stdin,
        option,
        options_of,
        permission_of,
        value_of,
        with_format,
    )
    from nightrook.adapter.decoder import Events, LineDecoder, Reader
    from nightrook.adapter.drift import Drift
    from nightrook.adapter.history import (
        Call,
        Calls,
        Counting,
        Facts,
        Finding,
        History,
        Limit,
        Place,
        Query,
        Session,
    )
    from nightrook.adapter.memory import Memory
    from nightrook.adapter.reader import Read, Row, Table, TableReader, decoder_of, stream_of
    from nightrook.adapter.salvage import decode_part, raw_copy
    from nightrook.adapter.shapes import NOTHING, Count, ExitCode, Milliseconds, Shape
    from nightrook.adapter.stored import Stored, StoredMemory, note_time
    from nightrook.adapter.tools import Tools, first_of, informing_string, split_mcp, title_of
    from nightrook.adapter.usage import reported, uncached
    from nightrook.model.errors import UnsupportedError
    from nightrook.model.permissions import PERMIT_ALL, PERMIT_EDITS, Permission
    from nightrook.model.questions import Ask, Decision

_MODULES = {
    "nightrook.adapter.agent": "Agent Capabilities ControlChannel "
    "Invocation PromptLimit Replacement Support Task Way prompt_before_stdin "
    "stdin_before_prompt",
    "nightrook.adapter.command_line": "as_typed fits_argument has_prompt needs_stdin option "
    "options_of permission_of value_of with_format",
    "nightrook.adapter.decoder": "Events LineDecoder Reader",
    "nightrook.adapter.drift": "Drift",
    "nightrook.adapter.history": "Call Calls Counting Facts Finding History Limit Place "
    "Query Session",
    "nightrook.adapter.memory": "Memory",
    "nightrook.adapter.reader": "Read Row Table TableReader decoder_of stream_of",
    "nightrook.adapter.salvage": "decode_part raw_copy",
    "nightrook.adapter.shapes": "NOTHING Count ExitCode Milliseconds Shape",
    "nightrook.adapter.stored": "Stored StoredMemory note_time",
    "nightrook.adapter.usage": "reported uncached",
    "nightrook.adapter.tools": "Tools first_of informing_string split_mcp title_of",
    "nightrook.model.permissions": "PERMIT_ALL PERMIT_EDITS Permission",
    "nightrook.model.errors": "UnsupportedError",
    "nightrook.model.questions": "Ask Decision",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "NOTHING",
    "PERMIT_ALL",
    "PERMIT_EDITS",
    "Agent",
    "Ask",
    "Call",
    "Calls",
    "Capabilities",
    "ControlChannel",
    "Count",
    "Counting",
    "Decision",
    "Drift",
    "Events",
    "ExitCode",
    "Facts",
    "Finding",
    "History",
    "Invocation",
    "Limit",
    "LineDecoder",
    "Memory",
    "Milliseconds",
    "Permission",
    "Place",
    "PromptLimit",
    "Query",
    "Read",
    "Reader",
    "Replacement",
    "Row",
    "Session",
    "Shape",
    "Stored",
    "StoredMemory",
    "Support",
    "Table",
    "TableReader",
    "Task",
    "Tools",
    "UnsupportedError",
    "Way",
    "as_typed",
    "decode_part",
    "decoder_of",
    "first_of",
    "fits_argument",
    "has_prompt",
    "informing_string",
    "needs_stdin",
    "note_time",
    "option",
    "options_of",
    "permission_of",
    "prompt_before_stdin",
    "raw_copy",
    "reported",
    "split_mcp",
    "stdin_before_prompt",
    "stream_of",
    "title_of",
    "uncached",
    "value_of",
    "with_format",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
