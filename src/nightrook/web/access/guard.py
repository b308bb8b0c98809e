"""Stands before everything else: refuses requests, bounds their size, and sets the headers."""

from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nightrook.web.access.headers import DATA_HEADERS, PAGE_HEADERS
from nightrook.web.access.rules import Asked, Refusal, Rules, is_api, is_write, refusal
from nightrook.web.replies import error_body

LARGEST_BODY = 1 << 20
_TOO_LARGE = Refusal(413, f"the body is too large: send at most {LARGEST_BODY >> 20} MiB")

_FROM_AGENT = Refusal(
    403, "this request comes from a process of an agent: an agent cannot answer for you"
)

FromAgent = Callable[[Scope], Awaitable[bool]]
"""Check that is true if a request is known to come from a process of an agent."""


class Guard:
    """An ASGI application around another one, which only gets the accepted requests."""

    def __init__(self, app: ASGIApp, rules: Rules, from_agent: FromAgent) -> None:
        self._app = app
        self._rules = rules
        self._from_agent = from_agent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = _with_headers(send, is_data=is_api(scope["path"]))
        refused = refusal(self._rules, Asked(scope["method"], scope["path"], scope["headers"]))
        if refused is None and is_write(scope["method"]):
            # guards: agent-writes-nothing
            refused = _FROM_AGENT if await self._from_agent(scope) else None
            if refused is None:
                body = await _read_body(receive)
                refused = _TOO_LARGE if body is None else None
                receive = _replay(body or b"", receive)
        if refused is not None:
            await _refuse(send, refused)
            return
        await self._app(scope, receive, send)


async def _refuse(send: Send, refused: Refusal) -> None:
    body = error_body(refused.sentence)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _read_body(receive: Receive) -> bytes | None:
    """Read the body of a request; None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:  # guards: bodies-bounded
            return None
        if not message.get("more_body"):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Receive a body that was read before, then what follows it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _with_headers(send: Send, *, is_data: bool) -> Send:
    more = DATA_HEADERS if is_data else PAGE_HEADERS

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *more]
        await send(message)

    return sending
