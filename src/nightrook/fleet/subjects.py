"""The names of everything on the server: subjects, streams, the bucket and the consumers."""

import re
import socket
from typing import Literal, NamedTuple, get_args

from nightrook.model.errors import NightrookError

JOBS = "JOBS"
EV = "EV"
BEATS = "BEATS"
ORDERS = "ORDERS"
RUNS = "RUNS"
BLOBS = "BLOBS"
BUDGETS = "budgets"
"""The bucket; its stream is `BUDGETS_STREAM`, its keys are subjects under `$KV.budgets.`."""

BUDGETS_STREAM = f"KV_{BUDGETS}"

STREAMS = {
    JOBS: ("job.>",),
    EV: ("ev.>",),
    BEATS: ("beat.*",),
    ORDERS: ("order.>",),
    RUNS: ("run.>", "settle.>"),
    BLOBS: ("blob.>",),
    BUDGETS_STREAM: (f"$KV.{BUDGETS}.>",),
}
"""Subjects that each stream keeps."""

ANY = "any"
"""The label of a job that any worker may run."""

ShippedLog = Literal[
    "stdout",
    "stderr",
    "arrivals",
    "stdin",
    "questions",
    "decisions",
    "recorder",
    "output",
    "bundle",
    "files",
]
"""The files of a run folder that leave a worker, by position."""

Moment = Literal["claimed", "started", "ended"]
"""A report that a worker makes once about an attempt, as JSON."""

OFFSET = "Rook-Offset"
"""The header with the position of a chunk in its log."""

WHOLE_WORKER = "_"
"""Stands for the run in an order to the worker itself."""

_LOGS = frozenset(get_args(ShippedLog))
_MOMENTS = frozenset(get_args(Moment))
_LONGEST_ATTEMPT = 6
TOKEN = re.compile(r"[A-Za-z0-9_-]{1,64}")


class EventSubject(NamedTuple):
    """The parts of the subject of a log or a moment."""

    worker: str
    run: str
    attempt: int
    what: ShippedLog | Moment


class BadNameError(NightrookError):
    """A name that cannot be a part of a subject."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name[:80]!r} is not a name: use 1 to 64 of A-Z a-z 0-9 _ -")


def token(name: str) -> str:
    """Return a name that can be one part of a subject, or raise."""
    if TOKEN.fullmatch(name) is None:
        raise BadNameError(name)
    return name


def machine_name() -> str:
    """The name of this machine, as a worker can have it."""
    host = socket.gethostname().partition(".")[0]
    name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "-" for c in host)
    return name[:64] or "worker"


def job(label: str, agent: str, run: str, attempt: int) -> str:
    """The subject of an attempt that waits for a worker with that label and agent."""
    return f"job.{token(label)}.{token(agent)}.{token(run)}.{attempt:d}"


def jobs_of(label: str, agent: str) -> str:
    """Return the subject of all jobs for one agent on workers with one label."""
    return f"job.{token(label)}.{token(agent)}.>"


def job_consumer(label: str, agent: str) -> str:
    """The consumer from which workers pull these jobs; no name has a `=`, so it is unambiguous."""
    return f"{token(label)}={token(agent)}"


def log(worker: str, run: str, attempt: int, name: str) -> str:
    """The subject of one log, or of `claimed` or `ended`, of one attempt."""
    return f"ev.{token(worker)}.{token(run)}.{attempt:d}.{token(name)}"


def logs_of_worker(worker: str) -> str:
    """Return the subject of all that a worker publishes about its runs."""
    return f"ev.{token(worker)}.>"


def events_of(run: str, attempt: int) -> str:
    """Return the subject of all that any worker publishes about an attempt."""
    return f"ev.*.{token(run)}.{attempt:d}.>"


def events_of_worker(worker: str, run: str, attempt: int) -> str:
    """Return the subject of all that one worker publishes about an attempt."""
    return f"ev.{token(worker)}.{token(run)}.{attempt:d}.>"


def claims_of(run: str) -> str:
    """Return the subject of the reports of any worker that it has started the run."""
    return f"ev.*.{token(run)}.*.claimed"


def read_event(subject: str) -> EventSubject | None:
    """Read the subject of a log or a moment; None if rook publishes nothing there."""
    parts = subject.split(".")
    if len(parts) != 5 or parts[0] != "ev":
        return None
    _, worker, name, attempt, what = parts
    if not attempt.isdecimal() or len(attempt) > _LONGEST_ATTEMPT:
        return None
    if what not in _LOGS and what not in _MOMENTS:
        return None
    return EventSubject(worker, name, int(attempt), what)  # type: ignore[arg-type]


def beat(worker: str) -> str:
    """The subject of a worker's beats."""
    return f"beat.{token(worker)}"


def order(worker: str, run: str) -> str:
    """Return the subject of orders to one worker about one run."""
    return f"order.{token(worker)}.{token(run)}"


def orders_of_worker(worker: str) -> str:
    """Return the subject of all orders to one worker."""
    return f"order.{token(worker)}.>"


def run(name: str, attempt: int) -> str:
    """The subject of a job as it was submitted."""
    return f"run.{token(name)}.{attempt:d}"


def passed(name: str, attempt: int) -> str:
    """The subject of the first look at which a job had left the queue; its time counts."""
    return f"run.{token(name)}.{attempt:d}.passed"


def settle(name: str, attempt: int) -> str:
    """Return the subject of the final cost of an attempt."""
    return f"settle.{token(name)}.{attempt:d}"


def blob(name: str, part: int | str) -> str:
    """The subject of one part of a file for a worker; `head` describes the file."""
    return f"blob.{token(name)}.{token(str(part))}"


def inbox(name: str) -> str:
    """The prefix of the inboxes of one account."""
    return f"_INBOX_{token(name)}"
