"""The files of Qwen Code's sessions, and how to recognise them; `sessions` reads them."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import History, Place, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored


def _has_own_mark(head: bytes) -> bool:
    return b'"parentUuid"' in head and (b'"parts"' in head or b'"systemPayload"' in head)


def _stored() -> "Stored":
    from nightrook.agents.qwen.reader import STORED

    return STORED


HISTORY = History(
    agent="qwen",
    places=(
        Place(
            home=".qwen",
            variable="QWEN_HOME",
            below="projects",
            files=r"[^/]+/chats/(?:archive/)?[^/]+\.jsonl",
        ),
    ),
    recognises=_has_own_mark,
    stored=_stored,
    bulk=(b'"type":"', b'tool_result"'),
)


def _is_line(message: Mapping[str, Any]) -> bool:
    """True if a line has the fields of a session: a message of `parts`, or a payload."""
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
    recognises=_is_line,
    decoder=lambda **options: _stored().decoder(**options),
    session_of=_session_of,
    task_of=_task_of,
    resume=_resume,
)
