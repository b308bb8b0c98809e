"""The files of Factory Droid's sessions: for each, its messages and a document with its sums."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import History, Place, Transcript

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored


def _stored() -> "Stored":
    from nightrook.agents.droid.reader import STORED

    return STORED


def _is_of_a_session(head: bytes) -> bool:
    is_messages = b'"session_start"' in head and b'"hostId"' in head
    return is_messages or (b'"tokenUsage"' in head and b'"inclusiveTokenUsage"' in head)


HISTORY = History(
    agent="droid",
    places=(
        Place(home=".factory", below="sessions", files=r"(?:[^/]+/)*[^/]+\.jsonl"),
        Place(
            home=".factory",
            below="sessions",
            files=r"(?:[^/]+/)*[^/]+\.settings\.json",
            kind="document",
        ),
    ),
    recognises=_is_of_a_session,
    stored=_stored,
    notes=(
        "Droid reports one sum for each session, which counts at the time of its last message.",
    ),
)


def _recognises(message: Mapping[str, Any]) -> bool:
    return message.get("type") == "session_start" and "hostId" in message


def _session_of(parts: Sequence[str]) -> str | None:
    return parts[-1].removesuffix(".jsonl")


def _resume(session: str) -> Sequence[str]:
    return ("droid", "--resume", session)


TRANSCRIPT = Transcript(
    agent="droid",
    recognises=_recognises,
    decoder=lambda **options: _stored().decoder(**options),
    session_of=_session_of,
    resume=_resume,
)
