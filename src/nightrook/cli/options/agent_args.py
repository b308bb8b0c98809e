"""Arguments for the agent: those that follow `--`, and a hint for those that should."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import click

from nightrook.cli.options.parameters import GroupedCommand
from nightrook.model.text import suggested

_AGENT_ARGS = "nightrook.agent_args"
_LONGEST_WORD = 80  # of a suggested command


class AgentArgs(GroupedCommand):
    """A command that passes the arguments after `--` on to the agent."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments after `--` for the agent; suggest it for an option rook lacks."""
        at = args.index("--") if "--" in args else len(args)
        ours, theirs = args[:at], args[at + 1 :]
        ctx.meta[_AGENT_ARGS] = theirs
        try:
            return super().parse_args(ctx, [*ours])
        except click.NoSuchOption as error:
            ours, moved = _sorted(self.get_params(ctx), ours)
            if not moved:
                raise
            words = [_short(word) for word in (*ours, "--", *theirs, *moved)]
            command = suggested(*ctx.command_path.split()[1:], *words)
            message = f"If it is an option of the agent, put it behind --:  {command}"
            raise click.UsageError(f"{error.format_message()} {message}", ctx) from None


def agent_args() -> list[str]:
    """The words after `--` on the command line."""
    words: list[str] = click.get_current_context().meta.get(_AGENT_ARGS, [])
    return words


def _short(word: str) -> str:
    """A word that is not too long to be shown, such as a prompt may be."""
    return word if len(word) <= _LONGEST_WORD else "…"


def _sorted(params: Sequence[click.Parameter], words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our own words, and those of the agent: options that rook lacks, with their values.

    There is one prompt: if there are more words, one that follows such an option is its value.
    """
    known = {
        name: param
        for param in params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    }
    roles = list(_roles(known, words))
    spare = sum(role == "free" for _, role in roles) - 1
    ours: list[str] = []
    theirs: list[str] = []
    for (before, of), (word, role) in pairwise([("", "ours"), *roles]):
        is_value = spare > 0 and role == "free" and of == "theirs" and "=" not in before
        spare -= is_value
        (theirs if is_value or role == "theirs" else ours).append(word)
    return ours, theirs


def _roles(
    known: Mapping[str, click.Option], words: Sequence[str]
) -> Iterator[tuple[str, Literal["ours", "theirs", "free"]]]:
    """Yield each word with its kind: our option or its value, one that rook lacks, or neither."""
    is_value = False
    for word in words:
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        option = None if is_value else known.get(name)
        if is_value or option:
            yield word, "ours"
        else:
            yield word, "theirs" if word.startswith("-") and word != "-" else "free"
        is_value = option is not None and not option.is_flag and word == name
