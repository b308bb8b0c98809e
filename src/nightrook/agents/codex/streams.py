"""Detects which of its two formats Codex writes, and decodes it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from nightrook.adapter.decoder import ChoosingDecoder
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.agents.codex import reader
from nightrook.agents.codex.app_server import reader as app_server


def is_rpc(message: Mapping[str, Any]) -> bool:
    """Whether a message is one of the app server's: a notification, request or response."""
    params, result = message.get("params"), message.get("result")
    if isinstance(message.get("method"), str) and "jsonrpc" not in message:
        return isinstance(params, dict)
    if "id" not in message or "jsonrpc" in message or "type" in message:
        return False
    return isinstance(result, dict) or isinstance(message.get("error"), dict)


def decoder(*, cap: int = DEFAULT_CAP) -> ChoosingDecoder:
    """Return a decoder for one stream of Codex: of `exec --json`, or of the app server."""
    return ChoosingDecoder(
        "codex",
        is_rpc,
        partial(app_server.decoder, cap=cap),
        partial(reader.decoder, cap=cap),
        cap=cap,
    )
