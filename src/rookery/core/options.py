"""Reads and changes command lines of the user's, and says which permission an agent has."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from rookery.core.agent import Permission
from rookery.core.errors import UnsupportedError

T = TypeVar("T")

_LONGEST_ARGUMENT = 100_000  # Linux takes 131,071 bytes in one argument


def fits_argument(prompt: str) -> bool:
    """Tell whether a prompt is short enough for a command line."""
    return len(prompt.encode()) <= _LONGEST_ARGUMENT


def options_of(command: Sequence[str]) -> list[str]:
    """The words of a command line up to `--`, without the program."""
    return [*itertools.takewhile(lambda word: word != "--", command[1:])]


def value_of(command: Sequence[str], *names: str) -> str | None:
    """The value of an option, given its names; "" if it is missing, None if the option is."""
    options = options_of(command)
    for at, word in enumerate(options):
        if word in names:
            return options[at + 1] if at + 1 < len(options) else ""
        name, equals, value = word.partition("=")
        if equals and name in names:
            return value
    return None


def with_format(
    command: Sequence[str],
    *,
    flag: tuple[str, str],
    short: str | None = None,
    also: Collection[str] = (),
    after: str | None = None,
) -> list[str] | None:
    """Add an option such as `--output-format stream-json` that makes a command write messages.

    `short` is another name of that option, `also` are other values that will do; it goes right
    after the program, or after the word that must follow it. None if that is missing, or if the
    user asks for another output: then that is what the user wants.
    """
    at = 1 if after is None else 2
    if after is not None and after not in command[1:2]:
        return None
    form = value_of(command, flag[0], short or flag[0])
    if form not in (None, flag[1], *also):
        return None
    return [*command[:at], *(flag if form is None else ()), *command[at:]]


def permission_of(agent: str, modes: Mapping[Permission, T], permission: Permission) -> T:
    """What an agent takes for a permission; an UnsupportedError names those that it has."""
    if permission not in modes:
        raise UnsupportedError(
            agent, f"has no permission mode {permission!r}", f"take one of {', '.join(modes)}"
        )
    return modes[permission]
