"""The messages of boss and workers, as JSON: every field is checked when it is read."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from nightrook.config.options import PortableOptions
from nightrook.fleet.connection import FleetError
from nightrook.fleet.repository.formats import Shipment
from nightrook.fleet.subjects import ANY, TOKEN
from nightrook.model.permissions import Permission
from nightrook.model.questions import Decision
from nightrook.model.status import Outcome
from nightrook.store.run_formats import ExitInfo, RunInfo, VerdictInfo

FORMAT = 2
"""Goes up when a boss or a worker of an earlier version would misunderstand a message."""

LARGEST = 900 * 1024
"""The most bytes of a message, below what a server takes by default."""

_Token = Annotated[str, Meta(pattern="^[A-Za-z0-9_-]{1,64}$")]
_Position = Annotated[int, Meta(ge=0, le=2**53)]
_Dollars = Annotated[float, Meta(ge=0, le=1e9)]
_Commit = Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]
_Seconds = Annotated[float, Meta(gt=0, lt=1e9)]


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of all messages."""

    format: int = msgspec.field(default_factory=lambda: FORMAT)  # so that it is always sent


class Blob(msgspec.Struct, frozen=True, kw_only=True):
    """A file that waits on the server for the worker that has the job."""

    secret: _Token
    """The key that opens it, in hexadecimal."""

    size: _Position
    sha256: str
    parts: Annotated[int, Meta(ge=0, le=100_000)]

    @property
    def public(self) -> "Blob":
        """A copy without its secret, for messages that others can read."""
        return msgspec.structs.replace(self, secret="_")


class RepositoryPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The repository that a job works in, and the parts of it that come back."""

    bundle: Blob
    shipment: Shipment


class Job(Message, frozen=True, kw_only=True, omit_defaults=True):
    """A run that a boss asks for."""

    run: _Token
    attempt: Annotated[int, Meta(ge=1, le=100_000)] = 1
    claim: str = ""
    """A secret that only the worker with the job knows; empty in messages others can read."""

    claim_sha256: str
    label: _Token
    lease_s: _Seconds
    options: PortableOptions
    """Options of the task."""

    repository: RepositoryPlan | None = None
    budget: _Token | None = None
    """The budget that it was reserved from."""

    part_of: tuple[str, int] | None = None
    """The batch that asks for it, and which of its tasks it is."""

    submitted_at: float = 0.0
    boss_version: str = ""

    def __post_init__(self) -> None:
        if not TOKEN.fullmatch(self.options.agent):  # it is a part of subjects
            raise ValueError("not the name of an agent")

    @property
    def agent(self) -> str:
        """The agent that it needs."""
        return self.options.agent

    @property
    def permission(self) -> Permission:
        """Permissions of the agent."""
        return self.options.permission or "agent"

    @property
    def public(self) -> "Job":
        """A copy without its secrets, for messages that others can read."""
        plan = self.repository
        if plan is not None:
            plan = msgspec.structs.replace(plan, bundle=plan.bundle.public)
        return msgspec.structs.replace(self, claim="", repository=plan)

    @property
    def id(self) -> str:
        """Names the attempt, in budgets and message ids."""
        return f"{self.run}/{self.attempt}"


class Claimed(Message, frozen=True, kw_only=True, omit_defaults=True):
    """A worker starts an attempt; only the one that was given the job knows the claim."""

    claim: str = ""
    """Empty for a local run that is only shipped: no boss submitted it."""

    instance: str
    """Names the process of the worker: after a restart it is another one."""

    version: str = ""
    info: RunInfo | None = None


End = Literal["ran", "refused", "returned"]
"""End of a job: it ran, the worker refuses it by its configuration, or left before starting it."""


class Ended(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The end of an attempt on its worker: the last message, after all chunks."""

    claim: str = ""
    end: End = "ran"
    reason: str | None = None
    """The reason why it was refused or returned."""

    info: RunInfo | None = None
    exit: ExitInfo | None = None
    verdict: VerdictInfo | None = None
    sizes: dict[str, _Position] = {}
    """The bytes of each log: all of them were sent before."""

    account: str | None = None
    limits: dict[str, float] = {}
    """The quota windows that are used up, and when each resets."""


class Running(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run in a beat."""

    run: _Token
    attempt: int = 1
    behind: int = 0
    """Bytes that the server does not have yet."""


class Beat(Message, frozen=True, kw_only=True, omit_defaults=True):
    """A report of a worker, sent every second."""

    instance: str
    version: str = ""
    labels: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    jobs: int = 0
    running: tuple[Running, ...] = ()
    draining: bool = False
    load: float | None = None
    problem: str | None = None
    limits: dict[str, float] = {}
    """The accounts whose quota is used up, and when each resets, in seconds since 1970."""

    known: Annotated[tuple[_Commit, ...], Meta(max_length=64)] = ()
    """The newest commits of users' repositories that it has, with all that they need."""

    def takes(self, label: str, agent: str) -> bool:
        """Return whether it pulls such jobs."""
        return not self.draining and agent in self.agents and label in (*self.labels, ANY)


class StopOrder(Message, frozen=True, kw_only=True, omit_defaults=True, tag="stop", tag_field="do"):
    """End an attempt; the second one kills it."""

    attempt: int
    by: str | None = None
    kill: bool = False


class AnswerOrder(
    Message, frozen=True, kw_only=True, omit_defaults=True, tag="answer", tag_field="do"
):
    """A decision on an open question of an attempt; only the first one counts."""

    attempt: int
    question: str
    decision: Decision


class ResendOrder(
    Message, frozen=True, kw_only=True, omit_defaults=True, tag="resend", tag_field="do"
):
    """Send the logs of an attempt again from these positions: the server has lost them."""

    attempt: int
    positions: dict[str, _Position]


class DrainOrder(
    Message, frozen=True, kw_only=True, omit_defaults=True, tag="drain", tag_field="do"
):
    """Take no more jobs, and end when those that run have ended."""


Order = StopOrder | AnswerOrder | ResendOrder | DrainOrder


class Settlement(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The final end of an attempt: stored once; `lost` may be replaced once."""

    status: Outcome
    sentence: str = ""
    worker: str | None = None
    spent_usd: _Dollars | None = None
    at_least: bool = False
    settled_at: float = 0.0


_Kind = TypeVar("_Kind")


class BadMessageError(FleetError):
    """A message that cannot be read: damaged, hostile, or of a newer version."""


def dump(message: Message) -> bytes:
    """Encode a message; one that is too long for a server is an error."""
    data = msgspec.json.encode(message)
    if len(data) > LARGEST:
        raise FleetError(
            f"this takes {len(data):,} bytes, more than the {LARGEST:,} that a message can have: "
            "put long texts into a file of the repository and use --repo"
        )
    return data


def load(data: bytes, kind: type[_Kind] | Any) -> _Kind:
    """Decode a message; a BadMessageError quotes nothing of it."""
    try:
        if len(data) > LARGEST:
            raise BadMessageError("the message is too long")
        message: _Kind = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        if _format_of(data) > FORMAT:
            raise _newer() from error
        if 0 < _format_of(data) < FORMAT:
            raise BadMessageError("an older version of rook wrote it: update rook there") from error
        raise BadMessageError("the message cannot be read") from error
    if getattr(message, "format", FORMAT) > FORMAT:
        raise _newer()
    return message


class _Format(msgspec.Struct):
    format: int = 1  # the first version did not send it


class _Claim(msgspec.Struct):
    claim: str = ""


def claim_of(data: bytes) -> str:
    """The claim in a job that this version cannot read otherwise; empty if there is none."""
    try:
        return msgspec.json.decode(data[:LARGEST], type=_Claim).claim
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def _format_of(data: bytes) -> int:
    try:
        return msgspec.json.decode(data[:LARGEST], type=_Format).format
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return 0


def _newer() -> BadMessageError:
    return BadMessageError("it was written by a newer version of rook: update rook here")
