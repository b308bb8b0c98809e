"""What happened in the sessions that Claude Code keeps on disk: `reader` reads their lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from nightrook.adapter.stored import Transcript
from nightrook.agents.claude.transcript.reader import decoder

_OWN_FIELDS = ("isSidechain", "leafUuid")
_OWN_TYPES = ("queue-operation", "file-history-snapshot")
_SUBAGENT = "agent-"


def _recognises(message: Mapping[str, Any]) -> bool:
    """Whether it is a line of a session; the stream has neither these fields nor these types."""
    return any(field in message for field in _OWN_FIELDS) or message.get("type") in _OWN_TYPES


def _task_of(parts: Sequence[str]) -> str | None:
    """The subagent that a file belongs to."""
    name = parts[-1].removesuffix(".jsonl") if parts else ""
    return name.removeprefix(_SUBAGENT) if name.startswith(_SUBAGENT) else None


def _session_of(parts: Sequence[str]) -> str | None:
    """The session that a file is named after; copies in a fork name the session they are from."""
    return None if _task_of(parts) else parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("claude", "--resume", session)


TRANSCRIPT = Transcript(
    agent="claude",
    recognises=_recognises,
    decoder=decoder,
    task_of=_task_of,
    session_of=_session_of,
    resume=_resume,
)
