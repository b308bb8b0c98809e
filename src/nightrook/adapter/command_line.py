"""Reads and extends the user's command lines, and looks up an agent's permission modes."""

import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

T = TypeVar("T")

_ABOUT_ITSELF = frozenset(("-h", "--help", "-v", "-V", "--version"))

_WITH_VALUE = re.compile("--[a-zA-Z-]+=.")

_LONGEST_ARGUMENT = 100_000  # Linux takes 131,071 bytes in one argument


def fits_argument(prompt: str) -> bool:
    """True if a prompt is short enough for a command line."""
    return len(prompt.encode()) <= _LONGEST_ARGUMENT


def needs_stdin(prompt: str) -> bool:
    """True if a prompt is too long for a command line, or would be read as an option."""
    return not fits_argument(prompt) or prompt.startswith("-")


def option(flag: str, value: str | None) -> tuple[str, ...]:
    """An option with its value as one word, so that no value can be read as another option."""
    return (f"{flag}={value}",) if value else ()  # guards: flag-and-value


def as_typed(own: Sequence[str], args: Sequence[str], *prompt: str) -> tuple[str, ...]:
    """A command line as a person would type it: `--flag value` in our own words, the prompt last.

    A prompt that is too long for a command line is left out.
    """
    spaced = itertools.chain.from_iterable(
        word.split("=", 1) if _WITH_VALUE.match(word) else (word,) for word in own
    )
    return (*spaced, *args, *(prompt if all(map(fits_argument, prompt)) else ()))


def options_of(command: Sequence[str]) -> list[str]:
    """The arguments of a command line up to `--`, without the program."""
    return [*itertools.takewhile(lambda word: word != "--", command[1:])]


def value_of(command: Sequence[str], *names: str) -> str | None:
    """The value of an option, by its names: "" if it has no value, None if it isn't there."""
    options = options_of(command)
    for at, word in enumerate(options):
        if word in names:
            return options[at + 1] if at + 1 < len(options) else ""
        name, equals, value = word.partition("=")
        if equals and name in names:
            return value
    return None


def asks_about_program(command: Sequence[str]) -> bool:
    """True if a command line only asks a program for its help or version."""
    return not _ABOUT_ITSELF.isdisjoint(options_of(command))


def has_prompt(command: Sequence[str], flags: Collection[str]) -> bool:
    """True if a command line certainly has a prompt: in one of these flags, or as an argument.

    An argument is certainly a prompt after `--`, or if it contains a blank and the command line
    does not begin with a subcommand.
    """
    options = options_of(command)
    if any(word.partition("=")[0] in flags for word in options):
        return True
    after_dashes = command[len(options) + 2 :]
    has_subcommand = bool(options) and not options[0].startswith("-") and " " not in options[0]
    arguments = [word for word in options if not word.startswith("-")]
    has_sentence = any(" " in argument.strip() for argument in arguments)
    return bool(after_dashes) or (not has_subcommand and has_sentence)


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

    `short` is another name of that option, and `also` are other values that work as well. The
    option goes right after the program, or after the subcommand `after`. `prompts` are the options
    that contain a prompt, for programs that do other things without one. Returns None if the
    subcommand or the prompt is missing, or if the user asks for help or another output format.
    """
    at = 1 if after is None else 2
    if after is not None and after not in command[1:2]:
        return None
    chosen = value_of(command, flag[0], short or flag[0])
    if chosen not in (None, flag[1], *also) or asks_about_program(command):
        return None
    if chosen is None and prompts is not None and not has_prompt(command, prompts):
        return None
    return [*command[:at], *(flag if chosen is None else ()), *command[at:]]


def permission_of(agent: str, modes: Mapping[Permission, T], permission: Permission) -> T:
    """The agent's own mode for a permission; an UnsupportedError lists those that it has."""
    if permission not in modes:
        raise UnsupportedError(
            agent, f"has no permission mode {permission!r}", f"use one of {', '.join(modes)}"
        )
    return modes[permission]
