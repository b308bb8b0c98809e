"""What a report is asked for: how it is grouped, and which calls it counts."""

import os
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

import msgspec

from nightrook.archive.report.zone import Zone
from nightrook.model.errors import OptionError

Key = Literal[
    "hour",
    "day",
    "week",
    "month",
    "agent",
    "model",
    "project",
    "branch",
    "session",
    "subagent",
    "run",
    "loop",
]
"""What calls are grouped by."""

KEYS: tuple[Key, ...] = get_args(Key)


class CostQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which calls a report counts, and how it groups them."""

    by: tuple[Key, ...]
    zone: Zone
    since: int | None = None
    """Milliseconds since 1970, UTC."""

    until: int | None = None
    """The first millisecond that does not count any more."""

    agent: str | None = None
    project: str | None = None
    """A path, or the last parts of one."""

    model: str | None = None
    """A name; `*` stands for any characters."""


def keys_of(by: str | Sequence[str]) -> tuple[Key, ...]:
    """Read what to group by: words, or one text with commas between them."""
    words = by.split(",") if isinstance(by, str) else list(by)
    wanted = [word.strip() if isinstance(word, str) else str(word) for word in words]
    wrong = [word for word in wanted if word not in KEYS]
    if wrong or not wanted:
        known = ", ".join(KEYS)
        near = _nearest(wrong[0]) if wrong else ""
        raise OptionError("by", f"words out of {known}{near}", wrong[0] if wrong else by)
    return tuple(key for key in dict.fromkeys(wanted) if key in KEYS)


def matching_projects(wanted: str, projects: Iterable[str]) -> list[str]:
    """The projects with that path, or whose path ends in these parts."""
    path, ending = os.path.abspath(os.path.expanduser(wanted)), wanted.strip("/\\")
    return [
        each
        for each in projects
        if each in (wanted, path)
        or (ending not in ("", ".", "..") and each.endswith((f"/{ending}", f"\\{ending}")))
    ]


def matching_models(wanted: str, models: Iterable[str]) -> list[str]:
    """The models of that name; `*` stands for any characters."""
    from fnmatch import fnmatchcase  # slow to import, and rarely needed

    pattern = wanted.replace("[", "[[]").replace("?", "[?]")
    return [each for each in models if fnmatchcase(each, pattern)]


def _nearest(word: str) -> str:
    from difflib import get_close_matches  # only a typo needs it

    near = get_close_matches(word, KEYS, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
