"""The files of Kimi Code's sessions: one with lines for each agent of a session.

Its stream leaves out how an answer ended; the file of the main agent has it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import SessionLog
from nightrook.adapter.history import History, Place, Transcript
from nightrook.adapter.shapes import Shape
from nightrook.agents.kimi.paths import MAIN, session_of

if TYPE_CHECKING:
    from nightrook.adapter.stored import Stored


def _stored() -> "Stored":
    from nightrook.agents.kimi.reader import STORED

    return STORED


def _begins_with_metadata(head: bytes) -> bool:
    return b'"protocol_version"' in head and b'"metadata"' in head


HISTORY = History(
    agent="kimi",
    places=(
        Place(
            home=".kimi-code",
            variable="KIMI_CODE_HOME",
            below="sessions",
            files=r"[^/]+/[^/]+/agents/[^/]+/wire\.jsonl",
        ),
    ),
    recognises=_begins_with_metadata,
    stored=_stored,
)


def _recognises(message: Mapping[str, Any]) -> bool:
    return message.get("type") == "metadata" and "protocol_version" in message


def _task_of(parts: Sequence[str]) -> str | None:
    """The agent whose file it is, unless it is the main one."""
    is_known = len(parts) >= 2 and parts[-2] != MAIN and session_of(parts) is not None
    return parts[-2] if is_known else None


def _resume(session: str) -> Sequence[str]:
    return ("kimi", "--resume", session)


TRANSCRIPT = Transcript(
    agent="kimi",
    recognises=_recognises,
    decoder=lambda **options: _stored().decoder(**options),
    session_of=session_of,
    task_of=_task_of,
    resume=_resume,
)

_SESSION = re.compile(r"session_[0-9A-Za-z-]{1,100}")


class _Finish(Shape):
    reason: str | None = msgspec.field(default=None, name="finishReason")


class _About(Shape):
    source: str | None = None
    finish: _Finish | None = None


class _Appended(Shape):
    meta: _About | None = None


class _Line(Shape):
    type: str | None = None
    message: _Appended | None = None


_line_decoder = msgspec.json.Decoder(_Line)


def folder(environ: Mapping[str, str]) -> str | None:
    """The folder of all sessions; None if it is not known."""
    if home := environ.get("KIMI_CODE_HOME"):
        return f"{home}/sessions"
    return f"{environ['HOME']}/.kimi-code/sessions" if environ.get("HOME") else None


def pattern(session: str) -> str | None:
    """The pattern of the log of a session's main agent; None if the id isn't one of Kimi's."""
    # guards: kimi-session-id
    return f"*/{session}/agents/main/wire.jsonl" if _SESSION.fullmatch(session) else None


def broke_off(line: bytes) -> bool | None:
    """True if an answer of the model broke off; None if a line does not report an answer.

    A whole answer has the reason for its end, as the model's API gives it. When the stream breaks
    off, Kimi Code reports the half as the whole, with the reason null (2.1.0 mid_stream_cut).
    """
    if b'"finishReason"' not in line or b'"agent.message.appended"' not in line:
        return None
    message = salvage.decode_part(line, _line_decoder)
    if message is None or message.type != "agent.message.appended" or message.message is None:
        return None
    about = message.message.meta
    if about is None or about.source != "llm" or about.finish is None:
        return None
    return about.finish.reason is None


SESSION_LOG = SessionLog(folder=folder, pattern=pattern, broke_off=broke_off)
"""The lookup of broken answers in the session's file."""
