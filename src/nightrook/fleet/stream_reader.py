"""Reads a stream in order, from any position, with bounded memory, across restarts."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

import nats.errors
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import api
from nats.js import errors as js_errors

from nightrook.fleet.connection import Connection

_BATCH = 256
_BATCH_BYTES = 8 * 1024 * 1024
_EXPIRES_S = 5.0
_HEARTBEAT_S = 1.0
_SILENT_S = 3.0  # longer than two heartbeats
_RETRY_S = 0.25
_LOOK_S = 0.05
_NANO = 1_000_000_000
_LAST_DELIVERY = "Nats-Last-Consumer"


class StoredMessage(NamedTuple):
    """A message of a stream."""

    seq: int
    subject: str
    data: bytes
    headers: dict[str, str]


class JetStreamReader:
    """Reads the present and the next messages of a stream from a position on.

    The consumer on the server is made again whenever it is gone; then reading continues after the
    last message. `name` names it where the account may only use a consumer of that name.
    """

    def __init__(
        self,
        connection: Connection,
        stream: str,
        subject: str,
        *,
        after: int = 0,
        newest: bool = False,
        name: str | None = None,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._subject = subject
        self._newest = newest
        self._name = name
        self.position = after
        """The number of the last message that was read."""
        self._consumer: str | None = None
        self._delivered = 0  # by this consumer: its deliveries are numbered without gaps

    def rewind(self, after: int) -> None:
        """Continue after this message instead."""
        self.position = min(self.position, after)
        self._consumer = None

    async def messages(self) -> AsyncIterator[StoredMessage | None]:
        """Yield every message in order; None whenever all that there is has been read."""
        if self._connection.address.only_reads:
            async for stored in self._by_gets():
                yield stored
        while True:
            self._consumer, self._delivered = await self._make(), 0
            if self._consumer is None:
                await asyncio.sleep(_RETRY_S)
                continue
            subscription = await self._connection.client.subscribe(
                inbox := self._connection.client.new_inbox()
            )
            try:
                async for message in self._of_consumer(self._consumer, inbox, subscription):
                    yield message
            finally:
                await self._remove(subscription)

    async def _by_gets(self) -> AsyncIterator[StoredMessage | None]:
        """Read without a consumer, which a viewer cannot make."""
        client = self._connection.client
        subscription = await client.subscribe(inbox := client.new_inbox())
        try:
            while True:
                before = self.position
                async for stored in self._get(inbox, subscription):
                    self.position = stored.seq
                    yield stored
                yield None
                if self.position == before:
                    await asyncio.sleep(_LOOK_S)
        finally:
            with suppress(nats.errors.Error):
                await subscription.unsubscribe()

    async def _get(self, inbox: str, subscription: Subscription) -> AsyncIterator[StoredMessage]:
        """Get the next messages by one request."""
        wanted = {"seq": self.position + 1, "next_by_subj": self._subject}
        wanted |= {"batch": _BATCH, "max_bytes": _BATCH_BYTES}
        with suppress(nats.errors.Error):
            subject = f"$JS.API.DIRECT.GET.{self._stream}"
            await self._connection.client.publish(subject, json.dumps(wanted).encode(), inbox)
        while True:
            try:
                message = await subscription.next_msg(timeout=_SILENT_S)
            except (TimeoutError, nats.errors.Error):
                return
            headers = message.headers or {}
            if "Status" in headers:  # there are no more
                return
            seq = int(headers["Nats-Sequence"])
            yield StoredMessage(seq, headers["Nats-Subject"], message.data, dict(headers))

    async def _of_consumer(
        self, consumer: str, inbox: str, subscription: Subscription
    ) -> AsyncIterator[StoredMessage | None]:
        """Yield the messages of a consumer, until it is gone or no longer wanted."""
        while consumer == self._consumer:
            await self._request(inbox)
            while consumer == self._consumer and (message := await self._next(subscription)):
                if (stored := self._stored(message)) is not None:
                    yield stored
                if consumer == self._consumer and not subscription.pending_msgs:
                    yield None

    async def _remove(self, subscription: Subscription) -> None:
        """Remove the consumer from the server, if it can be reached."""
        name, self._consumer = self._consumer, None
        with suppress(nats.errors.Error, TimeoutError):
            await subscription.unsubscribe()
            if name is not None and self._connection.is_up:
                await self._connection.streams.delete_consumer(self._stream, name)

    async def _next(self, subscription: Subscription) -> Msg | None:
        """The next message, or heartbeat; None when it is time to ask again."""
        try:
            message = await subscription.next_msg(timeout=_SILENT_S)
        except (TimeoutError, nats.errors.Error):
            self._consumer = None  # no heartbeat: the consumer is gone, or the server is
            return None
        status = (message.headers or {}).get("Status")
        if status in (None, "100"):
            return message
        if status not in ("404", "408"):  # anything but that there is nothing now
            self._consumer = None
        return None

    def _stored(self, message: Msg) -> StoredMessage | None:
        headers = message.headers or {}
        if "Status" in headers or not message.reply:
            self._check_last(headers.get(_LAST_DELIVERY, ""))
            return None
        seq, number = message.metadata.sequence.stream, message.metadata.sequence.consumer
        if number != self._delivered + 1:  # a message was lost on the way, as at a reconnect
            self._consumer = None
            return None
        self._delivered = number
        if seq <= self.position:
            return None
        self.position = seq
        return StoredMessage(seq, message.subject, message.data, dict(headers))

    def _check_last(self, number: str) -> None:
        """Make the consumer again if a heartbeat names a delivery that never came."""
        if number.isdecimal() and int(number) > self._delivered:
            self._consumer = None

    async def _request(self, inbox: str) -> None:
        wanted = {
            "batch": _BATCH,
            "max_bytes": _BATCH_BYTES,
            "expires": int(_EXPIRES_S * _NANO),
            "idle_heartbeat": int(_HEARTBEAT_S * _NANO),
        }
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        with suppress(nats.errors.Error):
            await self._connection.client.publish(subject, json.dumps(wanted).encode(), inbox)

    async def _make(self) -> str | None:
        """Make the consumer; None if that is not possible now."""
        if not self._connection.is_up:
            return None
        try:
            if self._name is not None:
                with suppress(js_errors.NotFoundError):
                    await self._connection.streams.delete_consumer(self._stream, self._name)
            info = await self._connection.streams.add_consumer(self._stream, self._config())
        except (nats.errors.Error, TimeoutError):
            return None
        return info.name

    def _config(self) -> api.ConsumerConfig:
        policy, start = api.DeliverPolicy.ALL, None
        if self.position:
            policy, start = api.DeliverPolicy.BY_START_SEQUENCE, self.position + 1
        elif self._newest:
            policy = api.DeliverPolicy.LAST_PER_SUBJECT
        return api.ConsumerConfig(
            name=self._name,
            deliver_policy=policy,
            opt_start_seq=start,
            filter_subject=self._subject,
            ack_policy=api.AckPolicy.NONE,
            inactive_threshold=60.0,
            mem_storage=True,
        )
