"""What happened in the sessions that Gemini CLI keeps on disk: `reader` reads their lines."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.stored import Transcript
from nightrook.agents.gemini.transcript.reader import decoder

_ID = 8  # characters of the session's id, with which the name of its file ends


class _Document(msgspec.Struct):
    """A whole session as earlier versions wrote it: the header, and the messages in it."""

    messages: list[msgspec.Raw] = []


_document = msgspec.json.Decoder(_Document)


def _lines(document: bytes) -> Sequence[bytes]:
    read = salvage.decode_part(document, _document)
    head = salvage.parse(document)
    value = head.value if isinstance(head, salvage.Repaired) else None
    if read is None or not isinstance(value, dict):
        return (document.replace(b"\n", b" "),)
    facts = {key: part for key, part in value.items() if key != "messages"}
    return (msgspec.json.encode(facts), *(_one_line(message) for message in read.messages))


def _one_line(message: msgspec.Raw) -> bytes:
    return msgspec.json.format(bytes(message), indent=-1)


def _recognises(message: Mapping[str, Any]) -> bool:
    return "projectHash" in message and "sessionId" in message


def _is_of(parts: Sequence[str], session: str) -> bool:
    """Whether a file is of a session: its own, or one of a subagent below a folder of that name."""
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
    decoder=decoder,
    is_of=_is_of,
    task_of=_task_of,
    resume=_resume,
    lines=_lines,
)
