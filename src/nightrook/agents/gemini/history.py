"""The files of Gemini CLI's sessions: one with the messages of each session and each subagent."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.history import History, Place, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored


def _stored() -> "Stored":
    from nightrook.agents.gemini.reader import STORED

    return STORED


def _begins_with_facts(head: bytes) -> bool:
    return b'"sessionId"' in head and b'"projectHash"' in head


def _place(files: str, **kind: Any) -> Place:
    return Place(home="", variable="GEMINI_CLI_HOME", below=".gemini/tmp", files=files, **kind)


_document: msgspec.json.Decoder[dict[str, msgspec.Raw]] = msgspec.json.Decoder(
    dict[str, msgspec.Raw]
)
_messages: msgspec.json.Decoder[list[msgspec.Raw]] = msgspec.json.Decoder(list[msgspec.Raw])


def _lines(document: bytes) -> Sequence[bytes]:
    """A whole session as earlier versions wrote it: its facts, and the messages in it."""
    facts = salvage.decode_part(document, _document)
    if facts is None:
        return (document.replace(b"\n", b" "),)
    messages = salvage.decode_part(facts.pop("messages", b"[]"), _messages) or ()
    lines = (msgspec.json.encode(facts), *map(bytes, messages))
    return [msgspec.json.format(line, indent=-1) if b"\n" in line else line for line in lines]


HISTORY = History(
    agent="gemini",
    places=(
        _place(r"[^/]+/chats/(?:[^/]+/)?[^/]+\.jsonl"),
        _place(r"[^/]+/chats/session-[^/]*\.json", kind="document"),
    ),
    recognises=_begins_with_facts,
    stored=_stored,
    lines=_lines,
)

_ID = 8  # characters of the session's id, with which the name of its file ends


def _recognises(message: Mapping[str, Any]) -> bool:
    return "projectHash" in message and "sessionId" in message


def _is_of(parts: Sequence[str], session: str) -> bool:
    """True if a file is of a session: its own, or one of a subagent below a folder of that name."""
    return session in parts[:-1] or parts[-1].partition(".")[0].endswith(session[:_ID])


def _task_of(parts: Sequence[str]) -> str | None:
    """The subagent that a file belongs to."""
    is_subagent = len(parts) > 2 and parts[-3] == "chats"
    return parts[-1].partition(".")[0] if is_subagent else None


def _resume(session: str) -> Sequence[str]:
    return ("gemini", "--resume", session)


TRANSCRIPT = Transcript(
    agent="gemini",
    recognises=_recognises,
    decoder=lambda **options: _stored().decoder(**options),
    is_of=_is_of,
    task_of=_task_of,
    resume=_resume,
    lines=_lines,
)
