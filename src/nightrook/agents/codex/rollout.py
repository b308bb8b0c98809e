"""Where Codex keeps a thread, its rollout file, and what of it `codex exec` does not report."""

import re
from collections.abc import Mapping

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import SessionLog

_THREAD = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


class _Context(msgspec.Struct):
    model: str | None = None


class _Line(msgspec.Struct):
    type: str | None = None
    payload: _Context | None = None


_line_decoder = msgspec.json.Decoder(_Line)


def folder(environ: Mapping[str, str]) -> str | None:
    """The folder of all rollout files; None if it is not known."""
    if home := environ.get("CODEX_HOME"):
        return f"{home}/sessions"
    return f"{environ['HOME']}/.codex/sessions" if environ.get("HOME") else None


def pattern(thread: str) -> str | None:
    """The pattern of a thread's rollout file in that folder; None if the id isn't one of Codex's.

    The file has the id in its name and lies in a folder for its day (0.166.0).
    """
    return f"*/*/*/rollout-*-{thread}.jsonl" if _THREAD.fullmatch(thread) else None


def model(line: bytes) -> str | None:
    """The model that a line names; only the line that opens a turn does."""
    if b'"turn_context"' not in line:
        return None
    message = salvage.decode_part(line, _line_decoder)
    if message is None or message.type != "turn_context" or message.payload is None:
        return None
    return message.payload.model


SESSION_LOG = SessionLog(folder=folder, pattern=pattern, model=model)
"""How the model of a thread is found."""
