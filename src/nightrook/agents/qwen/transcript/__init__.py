"""What happened in the sessions that Qwen Code keeps on disk: `reader` reads their lines."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from nightrook.adapter.stored import Transcript
from nightrook.agents.qwen.transcript.reader import decoder


def _recognises(message: Mapping[str, Any]) -> bool:
    """Whether a line has the fields of a session: a message of `parts`, or a payload."""
    inner = message.get("message")
    has_parts = isinstance(inner, dict) and "parts" in inner
    return "parentUuid" in message and (has_parts or "systemPayload" in message)


_SUBAGENT = re.compile(r"agent-.*-(call_\w+)\.jsonl")


def _task_of(parts: Sequence[str]) -> str | None:
    """The call that started the subagent whose file it is."""
    found = _SUBAGENT.fullmatch(parts[-1])
    return found[1] if found else None


def _session_of(parts: Sequence[str]) -> str | None:
    return parts[-2] if _task_of(parts) and len(parts) > 1 else parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("qwen", "--resume", session)


TRANSCRIPT = Transcript(
    agent="qwen",
    recognises=_recognises,
    decoder=decoder,
    session_of=_session_of,
    task_of=_task_of,
    resume=_resume,
)
