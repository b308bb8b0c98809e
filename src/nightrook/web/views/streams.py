"""The bell, about the server, and what has no better place."""

import os
import time
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from nightrook.model.text import from_home
from nightrook.version import __version__
from nightrook.web.live.bell import MOST_LISTENERS
from nightrook.web.replies import ApiError, encoded, json_reply
from nightrook.web.site import Site, site_of


async def ping(_: Request) -> Response:
    """`GET /api/ping`."""
    return json_reply(encoded({"server": "rook"}))


async def hello(request: Request) -> Response:
    """`GET /api/hello`."""
    site, user_home = site_of(request), _user_home()
    return site.reply(
        {
            "version": __version__,
            "server": site.id,
            "read_only": site.read_only,
            "home": from_home(str(site.home), user_home),
            "user_home": user_home,
            "now": time.time(),
        }
    )


def _user_home() -> str:
    return os.path.expanduser("~")


async def bell(request: Request) -> Response:
    """`GET /api/bell`."""
    site = site_of(request)
    if site.bell.listeners >= MOST_LISTENERS:  # guards: bells-bounded
        raise ApiError(429, "too many pages listen to this server: close some of them")
    return StreamingResponse(_events(site), media_type="text/event-stream")


async def _events(site: Site) -> AsyncIterator[bytes]:
    async with site.follower.viewer():
        listener = site.bell.join()
        try:
            site.bell.state(listener, site.id, time.time(), site.follower.followed)
            async for event in listener.events():
                yield event
        finally:
            site.bell.leave(listener)
