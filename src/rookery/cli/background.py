"""`rook run --detach`: starts a run that outlives the terminal, and says how to find it again."""

import click

from rookery.cli.ending import Ended, Manner, tell_end
from rookery.core.safe import safe_line
from rookery.run.detach import detach
from rookery.run.runner import Run


def put_away(run: Run, manner: Manner) -> int:
    """Start a run in the background and print its name; an agent that cannot start is told."""
    begun = detach(run)
    if begun.verdict is not None and begun.verdict.status == "not_started":
        for line in begun.stderr:
            click.echo(safe_line(line), err=True)
        agent = run.agent.name if run.agent else None
        tell_end(manner, Ended(begun.verdict, run.state, agent, None))
        return begun.verdict.exit_code
    click.echo(begun.name)
    if not manner.quiet:
        name = begun.name
        click.echo(
            f"[rook] it runs in the background: rook attach {name} · rook stop {name}", err=True
        )
    return 0
