"""What a word on the command line could be: an agent, a run, a loop. Quick: shells ask often."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rookery.cli.options.settings_files import surroundings
from rookery.config.files import AGENTS, PROFILES
from rookery.model.errors import ConfigError
from rookery.model.safe import safe_line
from rookery.model.text import one_line
from rookery.process.liveness import is_alive
from rookery.store.file_names import INFO, RUNS, VERDICT
from rookery.store.home import home_folder
from rookery.store.names import is_name

_MOST = 50
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
    for folder in _newest(RUNS):
        yield folder.name, _asked(folder / INFO)


def loops() -> Iterator[Candidate]:
    """The last loops, the newest first, with what was asked of each."""
    for folder in _newest("loops"):
        yield folder.name, _asked(folder / "plan.json")


def batches() -> Iterator[Candidate]:
    """The last batches, the newest first."""
    for folder in _newest("batches"):
        yield folder.name, None


def shown() -> Iterator[Candidate]:
    """What can be shown: runs, then loops."""
    yield from runs()
    yield from loops()


def running() -> Iterator[Candidate]:
    """What can be stopped: the runs whose recorder is at work, and the loops without an end."""
    for folder in _newest(RUNS):
        if not (folder / VERDICT).exists() and _is_at_work(folder):
            yield folder.name, _asked(folder / INFO)
    for folder in _newest("loops"):
        if _told(folder / "state.json").get("end") is None:
            yield folder.name, _asked(folder / "plan.json")


def _newest(kind: str) -> list[Path]:
    """The folders of the last runs, loops or batches, the newest first."""
    try:
        with os.scandir(home_folder() / kind) as found:
            folders = [(entry.stat().st_mtime, entry) for entry in found if is_name(entry.name)]
    except OSError:
        return []
    folders.sort(key=lambda pair: -pair[0])
    return [Path(entry.path) for _, entry in folders[:_MOST]]


def _is_at_work(folder: Path) -> bool:
    """Whether a run without a verdict goes on: one that was killed waits for it to be healed."""
    info = _told(folder / INFO)
    pid, ticks = info.get("recorder_pid"), info.get("recorder_ticks")
    return isinstance(pid, int) and is_alive(pid, ticks if isinstance(ticks, int) else None)


def _asked(file: Path) -> str | None:
    info = _told(file)
    try:
        asked = info.get("prompt") or info.get("prompt_file") or " ".join(info["command"])
        return safe_line(one_line(asked, _LONGEST_HELP))
    except (AttributeError, KeyError, TypeError):
        return None  # being made, or damaged: its name is enough


def _told(file: Path) -> dict[str, Any]:
    try:
        told = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _tables(key: str) -> Iterator[tuple[str, object]]:
    try:
        found = surroundings().files()
    except ConfigError:
        return  # in the middle of a word is no time to tell
    for file in found:
        if file is not None:
            yield from (pair for pair in file.tables(key).items() if is_name(pair[0]))
