"""The session that the path of a stored file names."""

from collections.abc import Sequence

_FILE = "events.jsonl"


def session_of(parts: Sequence[str]) -> str | None:
    """`<session>/events.jsonl`; in old versions `<session>.jsonl`."""
    if parts[-1] == _FILE:
        return parts[-2] if len(parts) > 1 else None
    return parts[-1].removesuffix(".jsonl")
