"""The options that `rook run` and `rook exec` share."""

from typing import Any

import click

from rookery.cli.options.types import Count, Dollars, Duration
from rookery.cli.options.view_options import Form, Manner, format_option, manner_of, manner_options


def shared_options(command: Any) -> Any:
    """The options that `run` and `exec` have in common."""
    for option in reversed(
        (
            click.option(
                "--cwd",
                type=click.Path(file_okay=False, exists=True),
                default=".",
                help="The folder to work in.",
            ),
            click.option("--max-cost", type=Dollars(), metavar="USD", help="Stop it beyond this."),
            click.option("--max-tokens", type=Count(), metavar="N", help="Stop it beyond this."),
            click.option("--timeout", type=Duration(), help="Stop it after this long."),
            click.option("--idle-timeout", type=Duration(), help="Stop it after such a silence."),
            format_option,
            manner_options,
            click.option("--detach", "-d", is_flag=True, help="Run it in the background."),
        )
    ):
        command = option(command)
    return command


def view_of(form: Form, *, detach: bool, as_json: bool, **flags: bool) -> Manner:
    """How the run is to be shown; the end of one in the background is not."""
    if detach and (as_json or form != "text"):
        raise click.UsageError("--detach shows no end: use rook attach --json afterwards")
    return manner_of(form=form, as_json=as_json, **flags)
