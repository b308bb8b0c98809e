"""The files of GitHub Copilot CLI's sessions: one with the messages of each."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nightrook.adapter.history import History, Place, Transcript
from nightrook.agents.copilot.paths import session_of

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored


def _stored() -> "Stored":
    from nightrook.agents.copilot.reader import STORED

    return STORED


def _begins_with_start(head: bytes) -> bool:
    return b'"session.start"' in head and b'"copilotVersion"' in head


HISTORY = History(
    agent="copilot",
    places=(
        Place(
            home=".copilot",
            variable="COPILOT_HOME",
            below="session-state",
            files=r"[^/]+/events\.jsonl|[^/]+\.jsonl",
        ),
    ),
    recognises=_begins_with_start,
    stored=_stored,
    notes=(
        "Copilot reports its cost in premium requests, not in dollars; "
        "its dollars are list prices of the tokens.",
    ),
)


def _recognises(message: Mapping[str, Any]) -> bool:
    """True if a line is the start of a session, which its stream leaves out."""
    data = message.get("data")
    return (
        message.get("type") == "session.start"
        and isinstance(data, dict)
        and data.get("producer") == "copilot-agent"
    )


def _resume(session: str) -> Sequence[str]:
    return ("copilot", f"--resume={session}")


TRANSCRIPT = Transcript(
    agent="copilot",
    recognises=_recognises,
    decoder=lambda **options: _stored().decoder(**options),
    session_of=session_of,
    resume=_resume,
)
