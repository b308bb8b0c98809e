"""`rook attach`: follows a run, a loop or a batch that another process runs."""

import click

from nightrook.cli.options.parameters import argument, takes
from nightrook.config.command_options import AttachOptions
from nightrook.config.options import ViewOptions
from nightrook.store.names import kind_of

_EXAMPLES = """\b
Examples:
  rook attach                        what is running; it asks if there is more than one
  rook attach k7f3 --from-now        only what happens from now on
  rook attach k7f3 -q > answer.md    wait for its answer
  rook attach k7f3 --stop            stop it, and see how it ends
  rook attach loop-k7f3              each iteration of a loop, then the table of its runs
  rook attach batch-k7f3             each result of a batch, then the table of its tasks
"""


@click.command("attach", epilog=_EXAMPLES)
@takes("attach", AttachOptions, ViewOptions)
@argument("run", required=False, completes="stored")
def command(options: AttachOptions, view_options: ViewOptions, run: str | None) -> None:
    """Show a run, a loop or a batch that another process started, from its start to its end.

    Without a name it shows what is running, or asks if there is more than one; if nothing is
    running, the last run.
    Any number of terminals can attach to a run at once; the agent does not notice. Ctrl-C detaches
    and the run continues. The exit code is that of the run (see rook run --help), or 130 if you
    detach before the run has ended.
    """
    raise click.exceptions.Exit(_attach(run, options, view_options))


def _attach(name: str | None, options: AttachOptions, view_options: ViewOptions) -> int:
    if name is None:
        from nightrook.cli.running_choice import running_name  # it imports a lot

        name = running_name()
    kind = "run" if name is None else kind_of(name)
    if kind == "loop":
        from nightrook.cli.terminal.attach_loop import attach_loop

        return attach_loop(name or "", options, view_options)
    if kind == "batch":
        from nightrook.cli.terminal.attach_batch import attach_batch

        return attach_batch(name or "", options, view_options)
    from nightrook.cli.terminal.attach_run import attach_run

    return attach_run(name, options, view_options)
