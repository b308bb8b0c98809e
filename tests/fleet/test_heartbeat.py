"""The beats of a worker: a connection over which none arrives is made again."""

import asyncio
from typing import Any

from nightrook.fleet.connection import ServerAwayError
from nightrook.fleet.messages import Beat
from nightrook.fleet.worker import heartbeat
from nightrook.fleet.worker.heartbeat import Heartbeat


class Deaf:
    """A connection that stays up and reaches nothing until it is made again."""

    is_up = True

    def __init__(self) -> None:
        self.renewed = 0

    async def publish(self, *_: Any, **__: Any) -> int:
        if not self.renewed:
            raise ServerAwayError("the server did not answer")
        return 1

    async def renew(self) -> None:
        self.renewed += 1


def beat() -> Beat:
    return Beat(instance="i", version="1", labels=(), agents=(), jobs=1, running=())


def test_a_worker_that_is_connected_but_not_heard_connects_again(monkeypatch: Any) -> None:
    monkeypatch.setattr(heartbeat, "_RENEW_S", 0.02)
    monkeypatch.setattr(heartbeat, "BEAT_S", 0.001)
    connection: Any = Deaf()
    asyncio.run(asyncio.wait_for(Heartbeat(connection, "w1", beat).start(), 30))
    assert connection.renewed == 1
