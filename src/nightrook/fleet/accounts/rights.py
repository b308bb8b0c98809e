"""The rights of each account: the subjects it may send and receive; nothing else reaches it.

Every worker and all viewers have accounts of their own on the server, in which nothing is but what
is listed here. Permissions of users in one account would not do: a client may name any subject for
the reply to a request, and the server would store the reply there, for instance as a job.
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from nightrook.fleet import subjects
from nightrook.fleet.subjects import BEATS, BLOBS, BUDGETS_STREAM, EV, JOBS, ORDERS, RUNS, STREAMS

READABLE = (EV, BEATS, RUNS, BUDGETS_STREAM)
"""The streams that viewers read, by direct gets and live; they make no consumers.

A consumer delivers to any subject that its maker names, so making one is writing.
"""

_NEXT = "$JS.API.CONSUMER.MSG.NEXT"
_ACK = "$JS.ACK"
_GET = "$JS.API.DIRECT.GET"


class Right(NamedTuple):
    """A subject that an account shares with that of the fleet."""

    kind: Literal["send", "receive"]
    subject: str
    many_replies: bool = False


def worker_rights(name: str, labels: Iterable[str], agents: Iterable[str]) -> list[Right]:
    """Pull jobs of its labels, publish under its own name, read messages sent to it."""
    kinds = sorted({subjects.job_consumer(label, agent) for label in labels for agent in agents})
    logs, orders = subjects.logs_of_worker(name), subjects.orders_of_worker(name)
    return [
        Right("send", logs),  # guards: own-name-only
        Right("send", subjects.beat(name)),
        *(Right("send", f"{_NEXT}.{JOBS}.{kind}", many_replies=True) for kind in kinds),
        *(Right("send", f"{_ACK}.{JOBS}.{kind}.>") for kind in kinds),
        Right("send", f"{_GET}.{EV}.{logs}"),  # guards: own-logs-only
        Right("send", f"{_GET}.{ORDERS}.{orders}"),
        Right("send", f"{_GET}.{BLOBS}.blob.>"),
        Right("receive", orders),  # guards: own-orders-only
    ]


def viewer_rights() -> list[Right]:
    """Read the messages about runs, workers and money; change nothing."""
    gets = [
        right
        for stream in READABLE
        for right in (
            Right("send", f"{_GET}.{stream}", many_replies=True),
            *(Right("send", f"{_GET}.{stream}.{kept}") for kept in STREAMS[stream]),
        )
    ]
    live = [Right("receive", kept) for stream in READABLE for kept in STREAMS[stream]]
    return gets + live
