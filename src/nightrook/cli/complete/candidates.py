"""Candidates for a word: agents, runs and the like. Shells ask often, so this is quick."""

import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from nightrook.cli.options.settings_files import surroundings
from nightrook.config.files import AGENTS, PROFILES
from nightrook.model.errors import ConfigError, NightrookError
from nightrook.model.redaction.redactor import Redactor
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line
from nightrook.process.liveness import is_same_process
from nightrook.store.file_names import INFO, LOCK, RUNS, VERDICT
from nightrook.store.files import Folder, is_locked
from nightrook.store.home import home_folder
from nightrook.store.names import is_name, named_folders

_MOST = 50
_LONGEST_HELP = 60

Candidate = tuple[str, str | None]
"""A word, and a description of it."""


def own_agents() -> Iterator[Candidate]:
    """The user's own agents."""
    for name, table in _tables(AGENTS):
        speaks = table.get("speaks") if isinstance(table, dict) else None
        yield name, f"speaks {safe_line(str(speaks))}"


def profiles() -> Iterator[Candidate]:
    """The profiles in the user's file and the project's."""
    for name, _ in _tables(PROFILES):
        yield name, None


def runs() -> Iterator[Candidate]:
    """The last runs, newest first, with their prompts."""
    for folder in _newest(RUNS):
        yield folder.name, _prompt_of(folder / INFO)


def loops() -> Iterator[Candidate]:
    """The last loops, newest first, with their prompts."""
    for folder in _newest("loops"):
        yield folder.name, _prompt_of(folder / "plan.json")


def batches() -> Iterator[Candidate]:
    """The last batches, newest first."""
    for folder in _newest("batches"):
        yield folder.name, None


def resumable() -> Iterator[Candidate]:
    """Runs that can be resumed, and `last`, the newest of this folder."""
    yield "last", "the newest run in this folder"
    yield from runs()


def shown() -> Iterator[Candidate]:
    """Names for `rook show`: runs, loops, batches and the sessions of agents."""
    yield from stored()
    yield from sessions()


def stored() -> Iterator[Candidate]:
    """Names for `rook rm`: runs, loops and batches."""
    yield from runs()
    yield from loops()
    yield from batches()


def changed() -> Iterator[Candidate]:
    """Names for `rook diff` and `rook apply`: runs and loops."""
    yield from runs()
    yield from loops()


def sessions() -> Iterator[Candidate]:
    """The last sessions of agents that were imported, newest first, with their titles."""
    import sqlite3  # only where sessions can be named

    path = home_folder() / "ledger.db"
    if not path.is_file():
        return  # nothing was imported yet, or it is a pipe, which would block
    query = (
        "SELECT session, agent, title FROM sessions WHERE parent IS NULL "
        "ORDER BY last_at DESC LIMIT ?"
    )
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as ledger:
            rows = ledger.execute(query, (_MOST,)).fetchall()
    except sqlite3.Error:
        return  # nothing was imported yet
    redact = Redactor(os.environ).text
    for session, agent, title in rows:
        words = one_line(redact(f"{agent}: {title or ''}"), _LONGEST_HELP)
        yield safe_line(session), safe_line(words)


def running() -> Iterator[Candidate]:
    """Names for `rook stop`: the runs, loops and batches that a process runs."""
    for folder in _newest(RUNS):
        if not (folder / VERDICT).exists() and _is_running(folder):
            yield folder.name, _prompt_of(folder / INFO)
    for folder in filter(_is_locked, _newest("loops")):
        yield folder.name, _prompt_of(folder / "plan.json")
    for folder in filter(_is_locked, _newest("batches")):
        yield folder.name, None


def _newest(kind: str) -> list[Path]:
    """The folders of the last runs, loops or batches, newest first."""
    home = home_folder()
    try:
        changes = named_folders(home, kind)
    except (OSError, NightrookError):
        return []
    newest = sorted(changes, key=lambda name: -changes[name])
    return [home / kind / name for name in newest[:_MOST]]


def _is_running(folder: Path) -> bool:
    """True if a run without a verdict is running; it may have been killed."""
    info = _loaded(folder / INFO)
    pid, ticks = info.get("recorder_pid"), info.get("recorder_ticks")
    return isinstance(pid, int) and is_same_process(pid, ticks if isinstance(ticks, int) else None)


def _is_locked(folder: Path) -> bool:
    """True if a process runs a loop or a batch."""
    try:
        with Folder.kept(folder) as opened:
            return is_locked(opened, LOCK)
    except (OSError, NightrookError):
        return False  # it is damaged, or was removed meanwhile


def _prompt_of(file: Path) -> str | None:
    info = _loaded(file)
    try:
        prompt = info.get("prompt") or info.get("prompt_file") or " ".join(info["command"])
        line = one_line(prompt, _LONGEST_HELP)
        return safe_line(Redactor(os.environ).text(line))  # guards: completions-redacted
    except (AttributeError, KeyError, TypeError):
        return None  # incomplete or damaged: its name is enough


def _loaded(file: Path) -> dict[str, Any]:
    try:
        with Folder.kept(file.parent) as folder:
            value = json.loads(folder.read(file.name) or b"")  # a pipe is refused
    except (OSError, NightrookError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _tables(key: str) -> Iterator[tuple[str, object]]:
    try:
        found = surroundings().files()
    except ConfigError:
        return  # no error while the user is typing
    for file in found:
        if file is not None:
            yield from (pair for pair in file.tables(key).items() if is_name(pair[0]))
