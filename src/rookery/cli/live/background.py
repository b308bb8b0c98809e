"""`rook run --detach`: starts a run that survives the terminal, and says how to attach to it."""

import sys

import click

from rookery.cli.live.ending import EndedRun, print_end
from rookery.cli.live.foreground import report_of, warnings
from rookery.cli.live.raw_text import without_chatter
from rookery.cli.reporting.end_actions import EndActions
from rookery.cli.safe_output import guarded
from rookery.config.options import ViewOptions
from rookery.model.safe import safe_line
from rookery.model.text import suggested
from rookery.runs.detach import RunStart, detach
from rookery.runs.run import Run


def put_away(run: Run, view_options: ViewOptions, ends: EndActions) -> int:
    """Start a run in the background and print its name; return its exit code if it is over."""
    for words in warnings(run):
        _say(f"WARNING: {words}")
    if view_options.quiet:
        guarded(sys.stderr).drop()
    start = detach(run, lambda: ends.finish(lambda: report_of(run), detached=True))
    if start.verdict is not None and start.verdict.status == "not_started":
        agent = run.agent.name if run.agent else None
        for line in without_chatter(agent, start.stderr):
            click.echo(line, err=True)
        print_end(view_options, EndedRun(start.verdict, run.state, agent, None, called=run.called))
    else:
        click.echo(start.name)
        if not view_options.quiet:
            _say(_where(start))
    return start.verdict.exit_code if start.verdict else 0


def _where(start: RunStart) -> str:
    name = start.name
    if start.verdict is None:
        return f"it runs in the background: {suggested('attach', name)} · {suggested('stop', name)}"
    status = start.verdict.status.replace("_", " ")
    return f"it has ended already: {status} · {suggested('show', name)}"


def _say(words: str) -> None:
    click.echo(f"[rook] {safe_line(words)}", err=True)
