"""What happened in the sessions that Qwen Code keeps on disk: `reader` reads their lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from rookery.adapter.stores.transcript import Transcript
from rookery.agents.qwen.transcript.reader import decoder


def _recognises(message: Mapping[str, Any]) -> bool:
    """Whether a line has the fields of a session: a message of `parts`, or a payload."""
    inner = message.get("message")
    has_parts = isinstance(inner, dict) and "parts" in inner
    return "parentUuid" in message and (has_parts or "systemPayload" in message)


def _session_of(parts: Sequence[str]) -> str | None:
    return parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("qwen", "--resume", session)


TRANSCRIPT = Transcript(
    agent="qwen",
    recognises=_recognises,
    decoder=decoder,
    session_of=_session_of,
    resume=_resume,
)
