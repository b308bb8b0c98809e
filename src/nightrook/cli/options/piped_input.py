"""The prompt of a command: from the command line, a file, and the pipe to rook."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from nightrook.adapter.agent import PromptLimit
from nightrook.config.options import StdinMode
from nightrook.runs import standard_input

_BYTES_OF_CHARACTER = 4  # at most, in UTF-8
_WAITED = f"stdin sent nothing within {standard_input.PATIENCE_S:g} seconds"
_LATE = (
    "stdin sent data after the agent was started: the agent did not get it "
    "(--stdin wait waits for it)"
)


class GivenPrompt(NamedTuple):
    """A prompt, and the text that is piped to it."""

    prompt: str
    stdin: str | None = None


class PipedStdin:
    """Input piped to rook: decides whether to wait for it, and reports a loss."""

    def __init__(self, mode: StdinMode, *, quiet: bool = False) -> None:
        self._mode = mode
        self._quiet = quiet
        self.was_silent = False
        """True if it was open, but sent nothing in time."""

    def is_here(self) -> bool:
        """Wait for the first byte; False if there will be none, or none in time."""
        if self._mode == "ignore" or not standard_input.is_data():
            return False
        if self._mode == "auto":
            self.was_silent = not standard_input.has_begun()  # guards: silent-stdin
        return not self.was_silent

    def read(self, limit: PromptLimit) -> str:
        """Read the input to its end, but not much more than an agent takes."""
        size = limit.most * (_BYTES_OF_CHARACTER if limit.unit == "characters" else 1)
        return standard_input.read_text(most=size, on_wait=self._report_wait)

    def descriptor(self) -> int | None:
        """A descriptor of it for a command that reads it itself; None if nothing is piped."""
        if self.is_here():
            return os.dup(standard_input.STDIN)  # a run in the background closes the first one
        self.warn_of_silence()
        return None

    def warn_of_silence(self) -> None:
        """Report that the agent starts without piped input."""
        if self.was_silent:
            self._say(f"WARNING: {_WAITED}: the agent starts without it (< /dev/null skips this)")

    def warn_of_loss(self) -> None:
        """Report data that came too late for the agent, even if the user wants no messages."""
        if self.was_silent and standard_input.has_unread():  # guards: late-input-reported
            click.echo(f"[rook] WARNING: {_LATE}", err=True)

    def _report_wait(self) -> None:
        self._say("waiting for the end of stdin")

    def _say(self, message: str) -> None:
        if not self._quiet:
            click.echo(f"[rook] {message}", err=True)


def given_prompt(
    words: Sequence[str],
    file: str | None,
    piped: PipedStdin,
    *,
    limit: PromptLimit,
    example: str,
) -> GivenPrompt:
    """Return the prompt, typed or from a file, with the piped text, or only that text."""
    if len(words) > 1 or (words and file not in (None, "-")):
        raise click.UsageError("there is more than one prompt: put it in quotes")
    prompt = words[0] if words else ""
    if file == "-":
        data = piped.read(limit)
    else:
        prompt = prompt if file is None else Path(file).read_text("utf-8", "replace")
        data = piped.read(limit) if piped.is_here() else ""
    if file in (None, "-") and not prompt.strip():
        prompt, data = data, ""
    if not prompt.strip():
        why = f" ({_WAITED}; --stdin wait waits for it)" if piped.was_silent else ""
        raise click.UsageError(f"the prompt is missing{why}: {example}")
    piped.warn_of_silence()
    return GivenPrompt(prompt, data or None)
