"""Everything that a client could try on the server of a fleet, made from the table of streams."""

import json
from typing import NamedTuple

from nightrook.fleet import subjects
from nightrook.fleet.subjects import JOBS, STREAMS

QUEUES = (("any", "claude"), ("any", "codex"), ("gpu", "claude"))

SUBJECTS = (
    *(subjects.job(label, agent, "run", 1) for label, agent in QUEUES),
    *(subjects.log("ada", "run", 1, "stdout"), subjects.log("bob", "run", 1, "stdout")),
    *(subjects.beat("ada"), subjects.beat("bob")),
    *(subjects.order("ada", "run"), subjects.order("bob", "run")),
    *(subjects.run("run", 1), subjects.settle("run", 1)),
    *(subjects.blob("token", 0), subjects.blob("token", "head")),
    "$KV.budgets.main",
)
"""At least one subject of every stream; of those that name a worker, one of each."""

CONSUMERS = tuple(subjects.job_consumer(label, agent) for label, agent in QUEUES)
_ACK = "1.1.1.1700000000000000000.0"
OTHER_SUBJECTS = (
    *("_INBOX_boss.x", "_INBOX_ada.x", "_INBOX_bob.x", "_INBOX_viewer.x", "_INBOX.x", "_R_.x"),
    *("$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO", "$JS.FC.EV.x", "anything", "ev", "ev.ada"),
    *(f"$JS.ACK.{JOBS}.{consumer}.{_ACK}" for consumer in CONSUMERS),
)

LISTENING = (
    *(">", "*", "*.>", "$JS.>", "$SYS.>", "$KV.>", "_INBOX.>", "_R_.>", "$JS.API.>", "$JS.ACK.>"),
    *("_INBOX_boss.>", "_INBOX_ada.>", "_INBOX_bob.>", "_INBOX_viewer.>"),
    *(kept for stream in STREAMS.values() for kept in stream),
    *("ev.ada.>", "ev.bob.>", "order.ada.>", "order.bob.>", "order.*.*", *SUBJECTS),
)


class Call(NamedTuple):
    """A request to the server's API."""

    subject: str
    data: bytes = b""


def _config(stream: str) -> dict[str, object]:
    return {"name": stream, "subjects": [f"{stream.lower()}-stolen.>"]}


def _consumer(stream: str, **settings: object) -> bytes:
    config = {"ack_policy": "none", "deliver_policy": "all", **settings}
    return json.dumps({"stream_name": stream, "config": config}).encode()


def _calls_of(stream: str) -> list[Call]:
    """Every call of the API that names a stream."""
    get = json.dumps({"seq": 1}).encode()
    api = "$JS.API"
    return [
        Call(f"{api}.STREAM.INFO.{stream}"),
        Call(f"{api}.STREAM.UPDATE.{stream}", json.dumps(_config(stream)).encode()),
        Call(f"{api}.STREAM.PURGE.{stream}"),
        Call(f"{api}.STREAM.MSG.GET.{stream}", get),
        Call(f"{api}.STREAM.MSG.DELETE.{stream}", get),
        Call(f"{api}.STREAM.SNAPSHOT.{stream}", b'{"deliver_subject":"_INBOX_ada.x"}'),
        Call(f"{api}.STREAM.RESTORE.{stream}", json.dumps({"config": _config(stream)}).encode()),
        Call(f"{api}.STREAM.LEADER.STEPDOWN.{stream}"),
        Call(f"{api}.STREAM.PEER.REMOVE.{stream}", b'{"peer":"x"}'),
        Call(f"{api}.CONSUMER.NAMES.{stream}"),
        Call(f"{api}.CONSUMER.LIST.{stream}"),
        Call(f"{api}.CONSUMER.CREATE.{stream}", _consumer(stream, deliver_subject="_INBOX_ada.x")),
        Call(f"{api}.CONSUMER.CREATE.{stream}.new", _consumer(stream, name="new")),
        Call(f"{api}.CONSUMER.CREATE.{stream}.new.ev.>", _consumer(stream, name="new")),
        Call(f"{api}.CONSUMER.DURABLE.CREATE.{stream}.new", _consumer(stream, durable_name="new")),
        Call(f"{api}.CONSUMER.INFO.{stream}.any=claude"),
        Call(f"{api}.CONSUMER.MSG.NEXT.{stream}.other", b'{"batch":1,"no_wait":true}'),
        Call(f"{api}.CONSUMER.PAUSE.{stream}.any=claude"),
        Call(f"{api}.CONSUMER.RESET.{stream}.any=claude"),
        Call(f"{api}.CONSUMER.UNPIN.{stream}.any=claude", b'{"group":"x"}'),
        Call(f"{api}.CONSUMER.LEADER.STEPDOWN.{stream}.any=claude"),
        Call(f"{api}.CONSUMER.DELETE.{stream}.any=claude"),
        Call(f"{api}.DIRECT.GET.{stream}", get),
        Call(f"{api}.DIRECT.GET.{stream}.>"),
        Call(f"{api}.DIRECT.GET.{stream}.*.*.run.1.stdout"),
        Call(f"{api}.DIRECT.GET.{stream}.order.*.run"),
        *(Call(f"{api}.DIRECT.GET.{stream}.{subject}") for subject in _kept(stream)),
        Call(f"{api}.STREAM.DELETE.{stream}"),
    ]


def _kept(stream: str) -> list[str]:
    first = {kept.split(".")[0] for kept in STREAMS[stream]}
    return [subject for subject in SUBJECTS if subject.split(".")[0] in first]


CALLS = (
    Call("$JS.API.INFO"),
    Call("$JS.API.STREAM.NAMES"),
    Call("$JS.API.STREAM.LIST"),
    Call("$JS.API.STREAM.CREATE.NEW", b'{"name":"NEW","subjects":["new.>"]}'),
    Call("$JS.API.STREAM.TEMPLATE.NAMES"),
    Call("$JS.API.META.LEADER.STEPDOWN"),
    Call("$JS.API.SERVER.REMOVE", b'{"peer":"x"}'),
    Call("$JS.API.ACCOUNT.PURGE.FLEET"),
    Call("$JS.API.ACCOUNT.STREAM.MOVE.FLEET.EV"),
    Call("$SYS.REQ.SERVER.PING"),
    Call("$SYS.REQ.SERVER.PING.RELOAD"),
    Call("$SYS.REQ.ACCOUNT.PING.CONNZ"),
    *(
        Call(f"$JS.API.CONSUMER.MSG.NEXT.JOBS.{consumer}", b'{"batch":1,"no_wait":true}')
        for consumer in CONSUMERS
    ),
    *(call for stream in STREAMS for call in _calls_of(stream)),
)
"""Every call of the API, for every stream."""
