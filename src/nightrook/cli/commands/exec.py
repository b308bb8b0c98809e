"""`rook exec`: runs any agent's command line as it is."""

import shlex

import click
from click.core import ParameterSource
from msgspec.structs import replace

from nightrook import agents
from nightrook.cli.end_actions import EndActions
from nightrook.cli.options.defaults import print_project_settings
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.options.piped_input import PipedStdin
from nightrook.cli.options.view_options import check_view, hold_messages
from nightrook.cli.terminal.foreground import watch
from nightrook.config.options import EndOptions, RunOptions, StartOptions, ViewOptions
from nightrook.runs.start import start_command

_EXAMPLES = """\b
Examples:
  rook exec -- claude -p "Fix the tests"
  rook exec --timeout 10m -- ./my-agent.sh
  git diff | rook exec -- claude -p "Review this"
"""


@click.command("exec", epilog=_EXAMPLES, context_settings={"allow_interspersed_args": False})
@takes("exec", RunOptions, StartOptions, ViewOptions, EndOptions)
@argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def command(
    options: RunOptions,
    starting: StartOptions,
    view_options: ViewOptions,
    end_options: EndOptions,
    command: tuple[str, ...],
) -> None:
    """Run any command line as it is, show what it does, and record every byte.

    If the command is a headless prompt for an agent that rook knows, rook adds the options that
    make the agent print its messages as JSON. Any other command runs unchanged: its output is
    shown as it comes, and its exit code says how it ended. What is piped to rook is passed on to
    the command as it comes.
    """
    check_view(view_options, detach=starting.detach)
    hold_messages(view_options)
    print_project_settings()
    known = agents.agent_for(command[0])
    words = known.with_output_flags(command) if known else None
    if words and (added := len(words) - len(command)):
        pairs = zip(words, command, strict=False)
        at = next((n for n, (ours, given) in enumerate(pairs) if ours != given), len(command))
        click.echo(f"[rook] added: {shlex.join(words[at : at + added])}", err=True)
    source = click.get_current_context().get_parameter_source("max_cost")
    if words is None and source is not ParameterSource.COMMANDLINE:
        options = replace(options, max_cost_unchecked=True)  # a setting is meant for agents
    piped = PipedStdin(starting.stdin_mode, quiet=view_options.quiet)
    stdin = piped.descriptor()
    run = start_command(words or command, options, raw=words is None, stdin=stdin)
    ends = EndActions(end_options, lively=view_options.lively, quiet=view_options.quiet)
    ends.warn()
    if starting.detach:
        from nightrook.cli.detach_run import put_away  # rarely needed

        code = put_away(run, view_options, ends)
    else:
        code = watch(run, view_options, ends)
    piped.warn_of_loss()
    raise click.exceptions.Exit(code)
