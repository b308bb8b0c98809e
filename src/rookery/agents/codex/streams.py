"""Detects which of its two formats Codex writes, and decodes it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from rookery.adapter.lines import DEFAULT_CAP, LineBuffer
from rookery.agents.codex import reader
from rookery.agents.codex.app_server import reader as app_server
from rookery.model.records import Decoder, Record

_MOST_HELD = 1 << 20  # bytes of noise before the first message
_load = msgspec.json.Decoder().decode


class CodexDecoder:
    """A decoder for a stream of `codex exec --json` or of `codex app-server`.

    Everything before the first message is held back: noise may precede either format.
    """

    agent = "codex"

    def __init__(self, *, cap: int = DEFAULT_CAP) -> None:
        self._cap = cap
        self._chosen: Decoder | None = None
        self._lines = LineBuffer(cap)
        self._held: list[tuple[bytes, float | None]] = []
        self._size = 0

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the lines that these bytes complete."""
        if self._chosen is not None:
            return self._chosen.feed(data, at)
        self._held.append((data, at))
        self._size += len(data)
        for line in self._lines.feed(data):
            if isinstance(line, bytes) and (name := _format(line)) is not None:
                return self._choose(is_rpc=name == "rpc")
        return self._choose(is_rpc=False) if self._size > _MOST_HELD else []

    def close(self) -> list[Record]:
        """Decode a last line without newline, end everything open and close the stream."""
        records = []
        if self._chosen is None:
            last = self._lines.close()
            records = self._choose(is_rpc=isinstance(last, bytes) and _format(last) == "rpc")
        assert self._chosen is not None
        return records + self._chosen.close()

    def _choose(self, *, is_rpc: bool) -> list[Record]:
        self._chosen = (app_server if is_rpc else reader).decoder(cap=self._cap)
        held, self._held = self._held, []
        return [record for data, at in held for record in self._chosen.feed(data, at)]


def is_rpc(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of the app server's: a notification, request or response."""
    params, result = message.get("params"), message.get("result")
    if isinstance(message.get("method"), str) and "jsonrpc" not in message:
        return isinstance(params, dict)
    if "id" not in message or "jsonrpc" in message or "type" in message:
        return False
    return isinstance(result, dict) or isinstance(message.get("error"), dict)


def _format(line: bytes) -> str | None:
    try:
        message = _load(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    return "rpc" if is_rpc(message) else "exec"


def decoder(*, cap: int = DEFAULT_CAP) -> CodexDecoder:
    """Return a decoder for one stream of Codex."""
    return CodexDecoder(cap=cap)
