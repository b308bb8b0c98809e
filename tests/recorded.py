"""The recorded streams that tests read: golden cases and further recordings, and the raw lines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rookery
from rookery.core.fold import fold
from rookery.core.price import Prices, no_prices
from rookery.core.state import RunState


def _about(path: Path) -> str:
    about = path.with_name("about.md")
    return about.read_text(encoding="utf-8").lower() if about.exists() else ""


_FOLDER = Path(__file__).parent / "agents" / "claude"
CASES = sorted(_FOLDER.glob("cases/*/wire.jsonl"))
RECORDINGS = sorted(_FOLDER.glob("recordings/*/*.jsonl"))
ALL = [*CASES, *RECORDINGS]
REAL = [p for p in ALL if "invented" not in _about(p)]
"""Those that a real agent wrote, untouched."""


def name_of(path: Path) -> str:
    """A short name for a test's id."""
    if path.name == "wire.jsonl":
        return path.parent.name
    return f"{path.stem}-{path.parent.name}"


def folded(path: Path, prices: Prices = no_prices) -> RunState:
    """A recorded stream, folded."""
    return fold(rookery.decode(path, agent="claude"), prices)


def messages(path: Path) -> Iterator[dict[str, Any]]:
    """The raw messages of a stream, read without any of our code."""
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, dict):
                yield message


def results(path: Path) -> list[dict[str, Any]]:
    """The raw result messages of a stream."""
    return [message for message in messages(path) if message.get("type") == "result"]
