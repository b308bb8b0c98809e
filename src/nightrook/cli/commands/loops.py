"""`rook loops`: the list of loops."""

import sys

import click
import msgspec

from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.loop_view import loop_table
from nightrook.cli.terminal.output import put, put_json
from nightrook.config.command_options import ListOptions
from nightrook.display.loops import loop_json, read_loop
from nightrook.loops.storage import LoopFolder, newest_first
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line
from nightrook.store.home import home_folder

_LONGEST_PROMPT = 50
_LONGEST_ERROR = 200


@click.command("loops", epilog="\b\nExamples:\n  rook loops\n  rook loops --json | jq -r .loop")
@takes("loops", ListOptions)
def command(options: ListOptions) -> None:
    """List the loops, newest first; rook show LOOP shows the runs of one."""
    folders = newest_first(home_folder())
    if options.json:
        for folder in folders:
            put_json(sys.stdout, msgspec.json.encode(loop_json(folder)))
        return
    if not folders:
        click.echo('There are no loops yet. Start one:  rook loop "Fix the tests" --check "…"')
        return
    for line in loop_table(("LOOP", "STATUS", "USED", "PROMPT"), [_row(each) for each in folders]):
        put(sys.stdout, line)


def _row(folder: LoopFolder) -> tuple[str, str, str, str]:
    """Return a loop as a row; a damaged one is listed as such."""
    try:
        view = read_loop(folder, home_folder())
    except NightrookError as error:
        return folder.name, "damaged", "", safe_line(one_line(str(error), _LONGEST_ERROR))
    prompt = one_line(view.plan.run.prompt or view.plan.prompt_file or "", _LONGEST_PROMPT)
    return view.name, view.status, view.used, prompt
