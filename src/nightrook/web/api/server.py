"""The server itself: a ping, its version, and its event stream."""

import os
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from nightrook.model.text import from_home
from nightrook.version import __version__
from nightrook.web.app_state import AppState, app_state
from nightrook.web.live.event_stream import MOST_LISTENERS
from nightrook.web.replies import ApiError, encoded, json_reply


async def ping(_: Request) -> Response:
    """`GET /api/ping`."""
    return json_reply(encoded({"server": "rook"}))


async def hello(request: Request) -> Response:
    """`GET /api/hello`."""
    state, user_home = app_state(request), _user_home()
    return state.reply(
        {
            "version": __version__,
            "server": state.id,
            "read_only": state.read_only,
            "home": from_home(str(state.home), user_home),
            "user_home": user_home,
            "now": time.time(),
        }
    )


def _user_home() -> str:
    return os.path.expanduser("~")


async def bell(request: Request) -> Response:
    """`GET /api/bell`."""
    state = app_state(request)
    if state.events.listeners >= MOST_LISTENERS:  # guards: bells-bounded
        raise ApiError(429, "too many pages listen to this server: close some of them")
    return StreamingResponse(_events(state), media_type="text/event-stream")


async def _events(state: AppState) -> AsyncIterator[bytes]:
    async with state.live_runs.viewer():
        listener = state.events.join()
        try:
            state.events.state(listener, state.id, time.time(), state.live_runs.followed)
            async for event in listener.events():
                yield event
        finally:
            state.events.leave(listener)


ROUTES = [
    Route("/api/ping", ping),
    Route("/api/hello", hello),
    Route("/api/bell", bell),
]
