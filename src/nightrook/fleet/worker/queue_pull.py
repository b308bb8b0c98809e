"""Takes one message at a time from the queues of jobs."""

import json
from contextlib import suppress

import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from nightrook.fleet import subjects
from nightrook.fleet.connection import REQUEST_S, Connection

_ONE_NOW = json.dumps({"batch": 1, "no_wait": True}).encode()


class QueuePull:
    """Asks queues for a job.

    What comes after its request has timed out is not read: the boss finds that such a job was
    passed to a worker and not claimed.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._subscription: Subscription | None = None

    async def take(self, consumer: str) -> Msg | None:
        """The next job of a queue; None if there is none now."""
        client = self._connection.client
        try:
            if self._subscription is None:
                self._subscription = await client.subscribe(client.new_inbox())
            inbox = self._subscription.subject
            subject = f"$JS.API.CONSUMER.MSG.NEXT.{subjects.JOBS}.{consumer}"
            await client.publish(subject, _ONE_NOW, inbox)
            message = await self._subscription.next_msg(timeout=REQUEST_S)
        except (nats.errors.Error, TimeoutError):
            await self._forget()
            return None
        return None if "Status" in (message.headers or {}) or not message.reply else message

    async def _forget(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(nats.errors.Error):
                await subscription.unsubscribe()
