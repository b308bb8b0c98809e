"""How a run is shown: the flags that say so, which every command that shows one has in common."""

import os
from typing import Any, Literal, TextIO

import click
import msgspec

from rookery import agents
from rookery.cli.options.types import OneOf
from rookery.display.console.look import look_of
from rookery.display.context import RunContext
from rookery.display.outputs import Display, display_for

Form = Literal["text", "jsonl", "raw"]
"""Lines for people, records for programs, or the agent's own bytes."""


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How a run is shown."""

    verbose: bool = False
    quiet: bool = False
    text: bool = True
    json: bool = False
    form: Form = "text"

    @property
    def lively(self) -> bool:
        """Whether lines are shown while it goes on, as a person reads them."""
        return self.form == "text" and not self.quiet and not self.json


verbose_option = click.option(
    "--verbose", "-v", is_flag=True, help="Outputs, retries, limits, notices."
)
no_text_option = click.option("--no-text", is_flag=True, help="Leave out what the agent says.")
format_option = click.option(
    "--format",
    "form",
    type=OneOf(["text", "jsonl", "raw"]),
    default="text",
    show_default=True,
    help="Lines for people, records as JSON lines, or the agent's own bytes.",
)


def manner_options(command: Any) -> Any:
    """The options of every command that shows a run to its end."""
    for option in (
        no_text_option,
        verbose_option,
        click.option("--quiet", "-q", is_flag=True, help="Only the final answer."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object at the end."),
    ):
        command = option(command)
    return command


def manner_of(
    *, as_json: bool, quiet: bool, verbose: bool, no_text: bool, form: Form = "text"
) -> Manner:
    """How a run is to be shown; flags that contradict each other are wrong usage."""
    if as_json and form != "text":
        raise click.UsageError("--json and --format cannot be had both")
    if quiet and form != "text":
        raise click.UsageError("--quiet and --format cannot be had both")
    return Manner(verbose=verbose, quiet=quiet, text=not no_text, json=as_json, form=form)


def display_on(
    out: TextIO,
    label: str,
    manner: Manner,
    *,
    context: RunContext,
) -> Display:
    """The display of a run on an output; its lines begin with the label."""
    return display_for(
        out,
        label,
        look=look_of(out, os.environ),
        context=context,
        verbose=manner.verbose,
        text=manner.text,
        home=os.path.expanduser("~"),
    )


def reports_starts(agent: str | None) -> bool:
    """Whether an agent reports calls when they begin, not only when they have ended."""
    return agent is None or agents.agent(agent).capabilities.calls != "no"
