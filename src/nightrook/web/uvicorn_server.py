"""The uvicorn server of the application: its limits, and how it ends with open streams."""

import socket

import uvicorn

from nightrook.web.access.rules import LARGEST_HEADERS, Rules
from nightrook.web.app import make_app
from nightrook.web.app_state import AppState
from nightrook.web.connections import Connection

_MOST_CONNECTIONS = 256
_GRACE_S = 1
_TICKS_BETWEEN_LOOKS = 50


class Server(uvicorn.Server):
    """Ends the streams of browsers first, which would never end by themselves."""

    def __init__(self, config: uvicorn.Config, state: AppState, idle_s: float | None) -> None:
        super().__init__(config)
        self._state = state
        self._idle_s = idle_s

    async def on_tick(self, counter: int) -> bool:
        """Do what has to be done ten times a second; return whether it ends now."""
        is_due = self._idle_s is not None and counter % _TICKS_BETWEEN_LOOKS == 0
        if (
            is_due
            and self._state.idle_s > (self._idle_s or 0.0)
            and not self._state.has_live_runs()
        ):
            return True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End everything."""
        self._state.events.close()
        await super().shutdown(sockets)


def make_server(
    state: AppState,
    rules: Rules,
    *,
    cert: str | None = None,
    key: str | None = None,
    idle_s: float | None = None,
) -> Server:
    """A server of the application; with a certificate it speaks HTTPS.

    With `idle_s`, it ends when it was not used for so long, and no run is alive.
    """
    config = uvicorn.Config(
        make_app(state, rules),
        http=Connection,  # of h11, which bounds the size of headers
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        access_log=False,
        log_level="critical",
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=cert,
        ssl_keyfile=key,
    )
    return Server(config, state, idle_s)
