"""A session as a script: its timed calls, in neutral terms; and lines of JSON for it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple


class StoredCommand(NamedTuple):
    """A command that the agent ran."""

    command: str
    output: str = ""
    exit_code: int = 0


@dataclass(frozen=True, kw_only=True)
class StoredCall:
    """One request to a model and its usage; `input` is without the cache."""

    id: str
    at: float
    """Seconds since 1970, with whole milliseconds."""

    model: str
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    prompt: str | None = None
    """The user's earlier prompt, if any."""

    text: str = "Done."
    command: StoredCommand | None = None
    """The command that the agent ran after it."""


@dataclass(frozen=True, kw_only=True)
class StoredSession:
    """A conversation with an agent in a folder."""

    agent: str
    id: str
    project: str
    branch: str = "main"
    title: str = "Work"
    calls: tuple[StoredCall, ...]
    inherited: tuple[StoredCall, ...] = ()
    """The calls of the session that it forks, which its file repeats."""

    forked_from: str | None = None
    subagents: tuple["StoredSession", ...] = field(default=())

    def all_calls(self) -> Iterator[StoredCall]:
        """Every call that was made in it, those of subagents included, each once."""
        yield from self.calls
        for subagent in self.subagents:
            yield from subagent.all_calls()


def timestamp(at: float) -> str:
    """A time as most agents write it."""
    moment = datetime.fromtimestamp(round(at * 1000) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(at: float) -> int:
    """A time as some agents write it."""
    return round(at * 1000)


def folder_name(project: str) -> str:
    """The name of the folder that some agents keep a project's sessions in."""
    return "".join(letter if letter.isalnum() else "-" for letter in project)


def write_lines(path: Path, lines: Iterable[Any]) -> None:
    """Write JSON lines, with the folders above them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
