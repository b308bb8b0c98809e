"""The files of Claude Code's sessions, and how to recognise them: `sessions` reads their events.

`calls` reads what was used: it is quicker than the table of the agent's lines in `reader`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from nightrook.adapter.history import Counting, History, Place, Transcript
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model.records import Decoder

_OWN_MARKS = (b'"isSidechain"', b'"leafUuid"', b'"queue-operation"')


def _has_own_mark(head: bytes) -> bool:
    return any(mark in head for mark in _OWN_MARKS)


def _counting() -> Counting:
    from nightrook.agents.claude.calls import COUNTING

    return COUNTING


HISTORY = History(
    agent="claude",
    places=(
        Place(home=".claude", variable="CLAUDE_CONFIG_DIR", below="projects", files=r".*\.jsonl"),
        Place(home=".config/claude", below="projects", files=r".*\.jsonl"),
    ),
    recognises=_has_own_mark,
    stored=_counting,
    bulk=(b'"message":{', b'"role":"user"'),
    notes=(
        "Claude Code does not store the calls that compact a conversation or make its title.",
        "Claude Code deletes sessions after 30 days unless cleanupPeriodDays is set.",
    ),
)

_OWN_FIELDS = ("isSidechain", "leafUuid")
_OWN_TYPES = ("queue-operation", "file-history-snapshot")
_SUBAGENT = "agent-"


def _is_line(message: Mapping[str, Any]) -> bool:
    """True for a line of a session; the stream has neither these fields nor these types."""
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


def _decoder(*, cap: int = DEFAULT_CAP) -> Decoder:
    from nightrook.agents.claude.reader import session_decoder

    return session_decoder(cap=cap)


TRANSCRIPT = Transcript(
    agent="claude",
    recognises=_is_line,
    decoder=_decoder,
    task_of=_task_of,
    session_of=_session_of,
    resume=_resume,
)
