"""Serves a site on a socket until it is told to end."""

import socket

import uvicorn

from rookery.web.access.rules import LARGEST_HEADERS, Rules
from rookery.web.app import make_app
from rookery.web.site import Site

_MOST_CONNECTIONS = 256
_GRACE_S = 1


class Server(uvicorn.Server):
    """Ends the streams of browsers first, which would never end by themselves."""

    def __init__(self, config: uvicorn.Config, site: Site) -> None:
        super().__init__(config)
        self._site = site

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End everything."""
        self._site.bell.close()
        await super().shutdown(sockets)


def make_server(
    site: Site, rules: Rules, *, cert: str | None = None, key: str | None = None
) -> Server:
    """A server for a site; with a certificate it speaks HTTPS."""
    config = uvicorn.Config(
        make_app(site, rules),
        http="h11",  # it bounds the size of headers
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
    return Server(config, site)
