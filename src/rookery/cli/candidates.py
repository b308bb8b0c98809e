"""What a word on the command line could be: agents, profiles, runs. Quick, for shells ask often."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from rookery.cli.places import surroundings
from rookery.config.files import AGENTS, PROFILES
from rookery.core.errors import ConfigError
from rookery.core.safe import safe_line
from rookery.core.text import one_line
from rookery.folder.names import RUNS, is_name
from rookery.run.places import home_folder

_MOST_RUNS = 50
_LONGEST_HELP = 60

Candidate = tuple[str, str | None]
"""A word, and what it is."""


def own_agents() -> Iterator[Candidate]:
    """The commands of the user's own."""
    for name, table in _tables(AGENTS):
        speaks = table.get("speaks") if isinstance(table, dict) else None
        yield name, f"speaks {safe_line(str(speaks))}"


def profiles() -> Iterator[Candidate]:
    """The profiles in the user's file and the project's."""
    for name, _ in _tables(PROFILES):
        yield name, None


def runs() -> Iterator[Candidate]:
    """The last runs, the newest first, with what was asked of each."""
    try:
        with os.scandir(home_folder() / RUNS) as found:
            folders = [(entry.stat().st_mtime, entry) for entry in found if is_name(entry.name)]
    except OSError:
        return
    folders.sort(key=lambda pair: -pair[0])
    for _, entry in folders[:_MOST_RUNS]:
        yield entry.name, _asked(Path(entry.path))


def _asked(folder: Path) -> str | None:
    try:
        info = json.loads((folder / "run.json").read_bytes())
        asked = info.get("prompt") or " ".join(info["command"])
        return safe_line(one_line(asked, _LONGEST_HELP))
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return None  # being made, or damaged: its name is enough


def _tables(key: str) -> Iterator[tuple[str, object]]:
    try:
        found = surroundings().files()
    except ConfigError:
        return  # in the middle of a word is no time to tell
    for file in found:
        if file is not None:
            yield from (pair for pair in file.tables(key).items() if is_name(pair[0]))
