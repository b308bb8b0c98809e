"""The orders of the boss to a worker: as they come, and those missed while it was away."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from nats.aio.msg import Msg

from nightrook.fleet import subjects
from nightrook.fleet.connection import Connection, FleetError
from nightrook.fleet.messages import BadMessageError, Order, load

_LOOK_S = 0.2

Obey = Callable[[str, Order], None]
"""Obeys an order for a run."""


async def take_orders(
    connection: Connection, worker: str, obey: Obey, runs: Callable[[], Iterable[str]]
) -> None:
    """Obey orders until the task is cancelled; one that cannot be read is ignored.

    After a reconnect, the last order for the worker itself and for each of its `runs` is read from
    the server. An order may come twice.
    """

    async def take(message: Msg) -> None:
        _obey(message.subject, message.data, obey)

    await connection.client.subscribe(subjects.orders_of_worker(worker), cb=take)
    reconnects = connection.reconnects
    while True:
        await asyncio.sleep(_LOOK_S)
        if connection.is_up and reconnects != connection.reconnects:
            reconnects = connection.reconnects
            for run in (*runs(), subjects.WHOLE_WORKER):
                await _take_missed(connection, subjects.order(worker, run), obey)


async def _take_missed(connection: Connection, subject: str, obey: Obey) -> None:
    with suppress(FleetError):
        get = f"$JS.API.DIRECT.GET.{subjects.ORDERS}.{subject}"
        _obey(subject, await connection.ask(get), obey)


def _obey(subject: str, data: bytes, obey: Obey) -> None:
    with suppress(BadMessageError):
        order: Order = load(data, Order)
        obey(subject.rpartition(".")[2], order)
