"""The connection to the server of a fleet: kept for ever, with errors that callers can act on."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import msgspec
import nats
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import Header, RawStreamMsg
from nats.js.errors import NotFoundError

from nightrook.fleet import subjects
from nightrook.model.errors import NightrookError

REQUEST_S = 5.0
"""The time that the server may take to confirm a message."""

VIEWER = "viewer"
"""The name of those who only look."""

_CONNECT_S = 2.0
_TRIES = 3  # where no answer comes: a server that reloads its file may drop who connects meanwhile
_RECONNECT_S = 0.25
_PING_S = 2.0
_MOST_PINGS = 2
_WRONG_LAST_SEQUENCE = (10071, 10164)
_UNAVAILABLE = 503
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_NO_RESPONDERS = "503"


class FleetError(NightrookError):
    """An error of the fleet that the user should know."""


class ServerAwayError(FleetError):
    """The server cannot be reached now; the request may have been carried out or not."""


class RefusedError(FleetError):
    """The server refused a request, such as a chunk for a stream that is full."""


class ConflictError(FleetError):
    """Another process was first: the subject's last message is not the expected one."""

    def __init__(self, answer: str) -> None:
        super().__init__("another process was first")
        number = answer.rpartition(" ")[2]
        self.last = int(number) if number.isdecimal() else None
        """The number of that message, if the server says it."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """A server, and who connects to it."""

    url: str
    user: str = "boss"
    """The name of the account entry; its inboxes begin with it."""

    seed: str | None = field(default=None, repr=False)
    """The nkey seed; None where the server asks for none."""

    authority: str | None = None
    """The certificate that signed the server's, as PEM; None without TLS, or for a public one."""

    @property
    def only_reads(self) -> bool:
        """True for a viewer, who can make neither streams nor consumers."""
        return self.user == VIEWER

    @property
    def is_loopback(self) -> bool:
        """True if the server is on this machine."""
        return urlsplit(self.url).hostname in _LOOPBACK

    def tls(self) -> ssl.SSLContext | None:
        """The TLS settings; None where the address does not ask for TLS."""
        if self.authority is not None:
            return ssl.create_default_context(cadata=self.authority)
        return ssl.create_default_context() if urlsplit(self.url).scheme == "tls" else None


class _Problem(msgspec.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class Answer(msgspec.Struct):
    """An answer of the server: the number of the stored message, or why it is not stored."""

    seq: int = 0
    error: _Problem | None = None


NO_STREAM = Answer(error=_Problem(code=503, description="no stream takes it"))


Confirmation = asyncio.Future[Answer]


class Confirmations:
    """The answers to messages published over one connection."""

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


class Connection:
    """A connection that comes back by itself; nothing is sent while the server is away."""

    def __init__(self, client: Client, address: Address) -> None:
        self.client = client
        self.address = address
        self.streams: JetStreamContext = client.jetstream(timeout=REQUEST_S)
        self._confirmations = Confirmations(client)

    @property
    def is_up(self) -> bool:
        """True while the server is connected."""
        return self.client.is_connected

    @property
    def reconnects(self) -> int:
        """The number of times that the connection was lost and came back."""
        return self.client.stats["reconnects"]

    async def publish(
        self,
        subject: str,
        data: bytes,
        *,
        id: str | None = None,
        expected: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> int:
        """Store a message and return its number, once the server has confirmed it.

        With `id`, the same message is stored once, however often it is sent within the server's
        window. `expected` is the number of the last message on the subject, 0 if there is none: a
        ConflictError says that there is another one.
        """
        future = await self.begin_publish(subject, data, id=id, expected=expected, headers=headers)
        return await self.confirmed(future)

    async def begin_publish(
        self,
        subject: str,
        data: bytes,
        *,
        id: str | None = None,
        expected: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> Confirmation:
        """Send a message; pass the result to `confirmed`."""
        if not self.is_up:
            raise self._away()
        fields = dict(headers or {})
        if id is not None:
            fields[Header.MSG_ID] = id
        if expected is not None:
            fields[Header.EXPECTED_LAST_SUBJECT_SEQUENCE] = str(expected)
        with _Explained():
            return await self._confirmations.publish(subject, data, fields)

    async def confirmed(self, confirmation: Confirmation) -> int:
        """Wait until the server has stored a message; return its number."""
        if not confirmation.done():  # most are: a window is confirmed in one go
            with _Explained():
                async with asyncio.timeout(REQUEST_S):
                    await confirmation
        answer = confirmation.result()
        if (problem := answer.error) is None:
            return answer.seq
        if problem.err_code in _WRONG_LAST_SEQUENCE:
            raise ConflictError(problem.description)
        if problem.code == _UNAVAILABLE:
            raise ServerAwayError(f"the server stores nothing now: {problem.description}")
        raise RefusedError(f"the server refused it: {problem.description}")

    async def ask(self, subject: str, data: bytes = b"", timeout_s: float = REQUEST_S) -> bytes:
        """Send a request and return the answer."""
        if not self.is_up:
            raise self._away()
        with _Explained():
            return (await self.client.request(subject, data, timeout=timeout_s)).data

    async def last_message(self, stream: str, subject: str, *, what: str) -> RawStreamMsg | None:
        """Return the last stored message on a subject; None if there is none.

        If the server cannot be asked, the error says that `what` cannot be read now.
        """
        try:
            return await self.streams.get_last_msg(stream, subject)
        except NotFoundError:
            return None
        except (nats.errors.Error, TimeoutError) as error:
            raise ServerAwayError(f"{what} cannot be read now") from error

    async def renew(self) -> None:
        """Connect again, as if the connection had been lost."""
        await self.client.force_reconnect()

    async def close(self) -> None:
        """Close the connection; each message was confirmed, or its caller got an error."""
        with suppress(Exception):
            async with asyncio.timeout(_CONNECT_S):
                await self.client.close()

    def _away(self) -> ServerAwayError:
        return ServerAwayError(f"the server {shown_url(self.address.url)} cannot be reached")


class _Explained:
    """Turns the errors of the client into those that callers can act on."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        match error:
            case TimeoutError() | nats.errors.Error() | OSError():
                raise ServerAwayError(f"the server did not answer: {_words(error)}") from error


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__


def shown_url(url: str) -> str:
    """Return an address without any secret in it."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")


@asynccontextmanager
async def connected(
    address: Address, *, patience_s: float | None = _CONNECT_S
) -> AsyncIterator[Connection]:
    """A connection while the block lasts.

    A ServerAwayError says that no server has answered within `patience_s`, which a few attempts may
    exceed; None waits for ever. Once connected, it reconnects for ever.
    """
    connection = await connect(address, patience_s=patience_s)
    try:
        yield connection
    finally:
        await connection.close()


async def connect(address: Address, *, patience_s: float | None = _CONNECT_S) -> Connection:
    """Connect to the server; the caller closes the connection."""
    deadline = None if patience_s is None else time.monotonic() + patience_s
    tries = 0
    while True:
        tries += 1
        try:
            return await _connect(address)
        except nats.errors.AuthorizationError as error:
            raise FleetError(
                f"the server {shown_url(address.url)} does not let {address.user!r} in: "
                "check the credentials"
            ) from error
        except (TimeoutError, nats.errors.Error, OSError) as error:
            is_patient = isinstance(error, TimeoutError) and tries < _TRIES
            if deadline is not None and time.monotonic() >= deadline and not is_patient:
                raise ServerAwayError(
                    f"the server {shown_url(address.url)} cannot be reached: {_words(error)}"
                ) from error
        await asyncio.sleep(_RECONNECT_S)


class _Client(Client):
    """Closes the socket of a failed try to connect again, which nats-py 2.16 leaves open."""

    async def _connect_to_server(self, s: Any) -> None:
        if self._transport:
            self._transport.close()  # type: ignore[no-untyped-call]
        await super()._connect_to_server(s)


async def _connect(address: Address) -> Connection:
    client = _Client()  # guards: failed-connect-closed
    problems: list[str] = []

    async def keep(error: Exception) -> None:
        problems.append(_words(error))

    try:
        async with asyncio.timeout(_CONNECT_S):
            await client.connect(
                address.url,
                name=f"rook {address.user}",
                error_cb=keep,
                allow_reconnect=True,
                connect_timeout=int(_CONNECT_S),
                max_reconnect_attempts=-1,
                reconnect_time_wait=_RECONNECT_S,  # type: ignore[arg-type]
                ping_interval=_PING_S,  # type: ignore[arg-type]
                max_outstanding_pings=_MOST_PINGS,
                tls=address.tls(),
                nkeys_seed_str=address.seed,
                inbox_prefix=subjects.inbox(address.user),
            )
    except BaseException as error:
        with suppress(Exception):
            async with asyncio.timeout(_CONNECT_S):
                await client.close()
        if any("authorization" in each.lower() for each in problems):
            raise nats.errors.AuthorizationError from None
        if isinstance(error, TimeoutError) and problems:
            raise nats.errors.Error(problems[-1]) from error
        raise
    return Connection(client, address)
