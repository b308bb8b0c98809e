"""`rook exec`: runs any agent's command line as it is."""

import shlex

import click

from rookery import agents
from rookery.cli.live.background import put_away
from rookery.cli.live.run_view import watch
from rookery.cli.options.run_options import shared_options, view_of
from rookery.cli.options.view_options import Form
from rookery.config.options import RunOptions
from rookery.runs.start import start_command

_EXEC_EXAMPLES = """\b
Examples:
  rook exec -- claude -p "Fix the tests"
  rook exec --timeout 10m -- ./my-agent.sh
"""


@click.command("exec", epilog=_EXEC_EXAMPLES, context_settings={"allow_interspersed_args": False})
@shared_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def exec_(
    command: tuple[str, ...],
    cwd: str,
    max_cost: float | None,
    max_tokens: int | None,
    timeout: float | None,
    idle_timeout: float | None,
    form: Form,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    no_text: bool,
    detach: bool,
) -> None:
    """Run any agent's command line as it is, show what it does, and keep every byte.

    To a headless prompt of a known agent, what makes it write messages is added if it is missing.
    Every other command runs raw, untouched: shown as it comes, and judged by its exit code.
    """
    manner = view_of(
        form, detach=detach, as_json=as_json, quiet=quiet, verbose=verbose, no_text=no_text
    )
    known = agents.agent_for(command[0])
    words = known.with_output_flags(command) if known else None
    if words and (added := len(words) - len(command)):
        pairs = zip(words, command, strict=False)
        at = next((n for n, (ours, given) in enumerate(pairs) if ours != given), len(command))
        click.echo(f"[rook] added: {shlex.join(words[at : at + added])}", err=True)
    options = RunOptions(
        cwd=cwd,
        max_cost=max_cost,
        max_tokens=max_tokens,
        timeout=timeout,
        idle_timeout=idle_timeout,
    )
    going = start_command(words or command, options, raw=words is None)
    raise click.exceptions.Exit((put_away if detach else watch)(going, manner))
