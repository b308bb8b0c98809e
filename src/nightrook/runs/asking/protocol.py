"""The protocol between viewers and a runner: one JSON line each, up to these sizes."""

import re

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.model.questions import Ask, ClosedQuestion, Decision, OpenQuestion

VERSION = 1
"""Goes up when a viewer or a runner of an earlier version could misunderstand a line."""

LONGEST_REQUEST = 256 * 1024
LONGEST_RESPONSE = 64 * 1024 * 1024  # plans and diffs are whole

_LONGEST_WORDS = 64 * 1024  # a reason, or an answer
_THROUGH = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="do"):
    """A request of a viewer; `version` is that of its protocol."""

    version: int = VERSION


class ListRequest(Request, frozen=True, kw_only=True, tag="list"):
    """A request for the open questions; the answer is `Listed`."""


class WatchRequest(Request, frozen=True, kw_only=True, tag="watch"):
    """`Listed` now, then `Opened` and `Closed` as it happens, until the run is over."""


class DecideRequest(Request, frozen=True, kw_only=True, tag="decide"):
    """Decide on an open question. The answer is `Decided`."""

    id: str
    decision: Decision


class Response(msgspec.Struct, frozen=True, kw_only=True, tag_field="is", omit_defaults=True):
    """An answer of the runner."""


class Listed(Response, frozen=True, kw_only=True, tag="listed"):
    """The questions that are open now."""

    questions: tuple[OpenQuestion, ...] = ()


class Opened(Response, frozen=True, kw_only=True, tag="opened"):
    """The agent asks a question."""

    question: OpenQuestion


class Closed(Response, frozen=True, kw_only=True, tag="closed"):
    """A question has been decided, or is no longer asked."""

    question: ClosedQuestion


class Decided(Response, frozen=True, kw_only=True, tag="decided"):
    """Answer to a decision: only the first one on a question counts."""

    counts: bool
    question: ClosedQuestion | None = None
    """Closed question; None if the run never asked it, or too long ago."""


class Refused(Response, frozen=True, kw_only=True, tag="refused"):
    """Refusal of a request; `reason` is a sentence."""

    reason: str


Requests = ListRequest | WatchRequest | DecideRequest
Changes = Listed | Opened | Closed
Responses = Listed | Opened | Closed | Decided | Refused


class ProtocolError(NightrookError):
    """A line that is not of this protocol."""


_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_requests: msgspec.json.Decoder[Requests] = msgspec.json.Decoder(Requests)
_responses: msgspec.json.Decoder[Responses] = msgspec.json.Decoder(Responses)


def dump(line: Request | Response) -> bytes:
    """Encode a line."""
    return msgspec.json.encode(line) + b"\n"


def load_request(line: bytes) -> Requests:
    """Decode a request of a viewer."""
    try:
        return _requests.decode(line)
    except _UNREADABLE as error:
        if _is_newer(line):
            raise ProtocolError(
                "the run was started by an older rook: update and restart it"
            ) from error
        raise ProtocolError("this is not a request that rook knows") from error


def load_response(line: bytes) -> Responses:
    """Decode an answer of a runner."""
    try:
        return _responses.decode(line)
    except _UNREADABLE as error:
        raise ProtocolError("the runner's answer cannot be read: update rook") from error


def problem(ask: Ask, decision: Decision) -> str | None:
    """Return why a decision from another process is not one on this question; None if it is."""
    texts = {question.text for question in ask.questions}
    if decision.by not in ("person", "program"):  # guards: decider-known
        return "a decision is made by a person or a program"
    if not _THROUGH.fullmatch(decision.through or ""):  # guards: place-plain-word
        return "a decision names what it was made with, such as `web`"
    if decision.answers.keys() - texts:
        return "this is an answer to another question"
    if decision.allow and texts and not decision.answers:
        return "there is no answer"
    if decision.always and (ask.always is None or not decision.allow):
        return "this cannot be allowed for the rest of the run"
    words = (decision.reason or "", *decision.answers.values())
    return "the answer is too long" if max(map(len, words)) > _LONGEST_WORDS else None


class _Version(msgspec.Struct):
    version: int = VERSION


def _is_newer(line: bytes) -> bool:
    try:
        return msgspec.json.decode(line, type=_Version).version > VERSION
    except _UNREADABLE:
        return False
