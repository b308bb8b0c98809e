"""What happened in the sessions that Codex keeps on disk, its rollouts: `reader` reads them."""

from collections.abc import Mapping, Sequence
from typing import Any

from nightrook.adapter.stored import Transcript
from nightrook.agents.codex.transcript.reader import decoder

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "token_usage_record")
_ID = 36  # characters of a thread's id, with which the name of a file ends


def _recognises(message: Mapping[str, Any]) -> bool:
    return message.get("type") in _TYPES and isinstance(message.get("payload"), dict)


def _session_of(parts: Sequence[str]) -> str | None:
    name = parts[-1].removesuffix(".jsonl")
    return name[-_ID:] if name.startswith("rollout-") and len(name) > _ID else None


def _resume(session: str) -> Sequence[str]:
    return ("codex", "resume", session)


TRANSCRIPT = Transcript(
    agent="codex",
    recognises=_recognises,
    decoder=decoder,
    session_of=_session_of,
    resume=_resume,
)
