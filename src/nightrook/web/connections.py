"""Connections that send the head of an answer together with its body."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD, _LENGTH = b"HTTP/1.1 ", b"\r\ncontent-length: "


class Connection(H11Protocol):
    """A connection of a browser; an answer is sent with one call to the system, not with two."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start with a connection."""
        super().connection_made(OneWrite(transport))


class OneWrite(asyncio.Transport):
    """A transport that holds the head of an answer of known length until its body is written.

    A stream, whose first bytes may come much later than its head, has no such length.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: Any) -> None:
        """Send bytes, or keep them for the ones that follow at once."""
        if not self._head and data.startswith(_HEAD) and _LENGTH in data:
            self._head = data
        elif self._head or data:
            self._transport.write(self._head + data)
            self._head = b""

    def close(self) -> None:
        """Close the connection once everything is sent."""
        self.write(b"")
        self._transport.close()

    def is_closing(self) -> bool:
        """True if it is closed or about to be."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return a fact about the connection."""
        return self._transport.get_extra_info(name, default)

    def pause_reading(self) -> None:
        """Receive nothing for now."""
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Resume receiving."""
        self._transport.resume_reading()
