"""Reads and changes command lines of the user's, and says which permission an agent has."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from rookery.adapter.agent import Permission
from rookery.model.errors import UnsupportedError

T = TypeVar("T")

_ABOUT_ITSELF = frozenset(("-h", "--help", "-v", "-V", "--version"))

_LONGEST_ARGUMENT = 100_000  # Linux takes 131,071 bytes in one argument


def fits_argument(prompt: str) -> bool:
    """Tell whether a prompt is short enough for a command line."""
    return len(prompt.encode()) <= _LONGEST_ARGUMENT


def needs_stdin(prompt: str) -> bool:
    """Tell whether a prompt is too long for a command line, or would be taken for an option."""
    return not fits_argument(prompt) or prompt.startswith("-")


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


def asks_about_program(command: Sequence[str]) -> bool:
    """Tell whether a command line only asks a program for its help or its version."""
    return not _ABOUT_ITSELF.isdisjoint(options_of(command))


def has_prompt(command: Sequence[str], flags: Collection[str]) -> bool:
    """Tell whether a command line surely has a prompt: in one of these flags, or as a word.

    A word is surely one behind `--`, or with a blank in it where no command stands first.
    """
    options = options_of(command)
    if any(word.partition("=")[0] in flags for word in options):
        return True
    behind = command[len(options) + 2 :]
    is_command = bool(options) and not options[0].startswith("-") and " " not in options[0]
    words = [word for word in options if not word.startswith("-")]
    return bool(behind) or (not is_command and any(" " in word.strip() for word in words))


def with_format(
    command: Sequence[str],
    *,
    flag: tuple[str, str],
    short: str | None = None,
    also: Collection[str] = (),
    after: str | None = None,
    prompts: Collection[str] | None = None,
) -> list[str] | None:
    """Add an option such as `--output-format stream-json` that makes a command write messages.

    `short` is another name of that option, `also` are other values that will do; it goes right
    after the program, or after the word that must follow it. `prompts` are the options that hold a
    prompt, for a program that does other things without one. None if the word or the prompt is
    missing, if the user asks for help, or for another output: then that is what the user wants.
    """
    at = 1 if after is None else 2
    if after is not None and after not in command[1:2]:
        return None
    form = value_of(command, flag[0], short or flag[0])
    if form not in (None, flag[1], *also) or asks_about_program(command):
        return None
    if form is None and prompts is not None and not has_prompt(command, prompts):
        return None
    return [*command[:at], *(flag if form is None else ()), *command[at:]]


def permission_of(agent: str, modes: Mapping[Permission, T], permission: Permission) -> T:
    """What an agent takes for a permission; an UnsupportedError names those that it has."""
    if permission not in modes:
        raise UnsupportedError(
            agent, f"has no permission mode {permission!r}", f"take one of {', '.join(modes)}"
        )
    return modes[permission]
