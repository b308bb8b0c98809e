"""The session and the agent that the path of a stored file names."""

from collections.abc import Sequence

MAIN = "main"
"""The agent that the user talks to; the others are its subagents."""


def session_of(parts: Sequence[str]) -> str | None:
    """`<work folder>/<session>/agents/<agent>/wire.jsonl`."""
    return parts[-4] if len(parts) >= 4 and parts[-3] == "agents" else None
