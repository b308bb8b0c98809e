"""The files of Codex's threads, the rollouts, and how to recognise them; `rollout` reads them."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import SessionLog
from nightrook.adapter.history import History, Place, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored

_OWN_MARKS = (b'"session_meta"', b'"turn_context"', b'"token_usage_record"')


def _has_own_mark(head: bytes) -> bool:
    return any(mark in head for mark in _OWN_MARKS)


def _place(below: str) -> Place:
    return Place(
        home=".codex", variable="CODEX_HOME", below=below, files=r"(.*/)?rollout-[^/]*\.jsonl"
    )


def _stored() -> "Stored":
    from nightrook.agents.codex.reader import STORED

    return STORED


HISTORY = History(
    agent="codex",
    places=(_place("sessions"), _place("archived_sessions")),
    recognises=_has_own_mark,
    stored=_stored,
    notes=("Codex does not report what its calls cost.",),
)

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "token_usage_record")
_ID = 36  # characters of a thread's id, with which the name of a file ends


def _is_line(message: Mapping[str, Any]) -> bool:
    return message.get("type") in _TYPES and isinstance(message.get("payload"), dict)


def _session_of(parts: Sequence[str]) -> str | None:
    name = parts[-1].removesuffix(".jsonl")
    return name[-_ID:] if name.startswith("rollout-") and len(name) > _ID else None


def _resume(session: str) -> Sequence[str]:
    return ("codex", "resume", session)


TRANSCRIPT = Transcript(
    agent="codex",
    recognises=_is_line,
    decoder=lambda **options: _stored().decoder(**options),
    session_of=_session_of,
    resume=_resume,
)

_THREAD = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class _Context(msgspec.Struct):
    model: str | None = None


class _Line(msgspec.Struct):
    type: str | None = None
    payload: _Context | None = None


_line_decoder = msgspec.json.Decoder(_Line)


def folder(environ: Mapping[str, str]) -> str | None:
    """The folder of all rollout files; None if it is not known."""
    if home := environ.get("CODEX_HOME"):
        return f"{home}/sessions"
    return f"{environ['HOME']}/.codex/sessions" if environ.get("HOME") else None


def pattern(thread: str) -> str | None:
    """The pattern of a thread's rollout file in that folder; None if the id isn't one of Codex's.

    The file has the id in its name and lies in a folder for its day (0.166.0).
    """
    # guards: thread-id
    return f"*/*/*/rollout-*-{thread}.jsonl" if _THREAD.fullmatch(thread) else None


def model(line: bytes) -> str | None:
    """The model that a line names; only the line that opens a turn does."""
    if b'"turn_context"' not in line:
        return None
    message = salvage.decode_part(line, _line_decoder)
    if message is None or message.type != "turn_context" or message.payload is None:
        return None
    return message.payload.model


SESSION_LOG = SessionLog(folder=folder, pattern=pattern, model=model)
"""The lookup of a thread's model in its rollout."""
