"""Matches the server's confirmations to what was published, many at a time."""

import asyncio
from itertools import count

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

_NO_RESPONDERS = "503"


class _Problem(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class Answer(msgspec.Struct):
    """What the server answers: the number of the stored message, or why it is not stored."""

    seq: int = 0
    error: _Problem | None = None


NO_STREAM = Answer(error=_Problem(code=503, description="no stream takes it"))

Confirmation = asyncio.Future[Answer]


class Confirmations:
    """The answers to what was published over one connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._prefix: str | None = None
        self._numbers = count()
        self._waiting: dict[str, Confirmation] = {}

    async def publish(self, subject: str, data: bytes, headers: dict[str, str]) -> Confirmation:
        """Send a message; the result is the server's answer to it."""
        if self._prefix is None:
            self._prefix = prefix = self._client.new_inbox()
            await self._client.subscribe(f"{prefix}.*", cb=self._take)
        number = str(next(self._numbers))
        answer: Confirmation = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._waiting.pop(number, None))
        self._waiting[number] = answer
        try:
            reply = f"{self._prefix}.{number}"
            await self._client.publish(subject, data, reply, headers=dict(headers) or None)
        except BaseException:
            answer.cancel()
            raise
        return answer

    async def _take(self, message: Msg) -> None:
        answer = self._waiting.get(message.subject.rpartition(".")[2])
        if answer is None or answer.done():
            return
        if message.headers and message.headers.get("Status") == _NO_RESPONDERS:
            answer.set_result(NO_STREAM)
            return
        try:
            answer.set_result(msgspec.json.decode(message.data, type=Answer))
        except (msgspec.DecodeError, UnicodeDecodeError):
            answer.set_result(Answer(error=_Problem(description="the answer cannot be read")))
