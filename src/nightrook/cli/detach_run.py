"""`rook run --detach`: starts a run that survives the terminal, and prints how to attach to it."""

import sys

import click

from nightrook.cli.end_actions import EndActions
from nightrook.cli.terminal.ending import print_end
from nightrook.cli.terminal.foreground import report_of, warnings
from nightrook.cli.terminal.output import guarded, say
from nightrook.cli.terminal.raw_text import without_chatter
from nightrook.config.options import ViewOptions
from nightrook.model.text import suggested
from nightrook.runs.detach import detach
from nightrook.runs.run import Run


def put_away(run: Run, view_options: ViewOptions, ends: EndActions) -> int:
    """Start a run in the background and print its name; return its exit code if it is over."""
    for warning in warnings(run):
        say(f"WARNING: {warning}")
    if view_options.quiet:
        guarded(sys.stderr).drop()
    start = detach(run, lambda: ends.finish(lambda: report_of(run), detached=True))
    verdict = start.verdict
    if verdict is not None and verdict.status == "not_started":
        agent = run.agent.name if run.agent else None
        for line in without_chatter(agent, start.stderr):
            click.echo(line, err=True)
        run.story.end(verdict)
        print_end(view_options, run.story)
    else:
        ended = None if verdict is None else verdict.status.replace("_", " ")
        print_started(start.name, ended, quiet=view_options.quiet)
        if run.asks and ended is None and not view_options.quiet:
            say(f"what needs approval waits for you: {suggested('answer', start.name)}")
    return verdict.exit_code if verdict else 0


def print_started(name: str, ended: str | None, *, quiet: bool) -> None:
    """Print its name, and how to attach to it and stop it; or how it ended, if it has already."""
    click.echo(name)
    if quiet:
        return
    if ended is None:
        commands = f"{suggested('attach', name)} · {suggested('stop', name)}"
        say(f"it runs in the background: {commands}")
    else:
        say(f"it has ended already: {ended} · {suggested('show', name)}")
