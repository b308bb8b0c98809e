"""`rook index`: the ledger of all calls, shown or rebuilt."""

import os
import sys

import click

from nightrook.archive.ledger.ledger import FILE, Ledger
from nightrook.archive.session_files import user_homes
from nightrook.cli.commands.import_ import show
from nightrook.cli.import_bar import ImportBar
from nightrook.cli.options.parameters import takes
from nightrook.config.archive_options import IndexOptions
from nightrook.display.numbers import size
from nightrook.model.safe import safe_line
from nightrook.model.text import count
from nightrook.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook index
  rook index --rebuild
"""


@click.command("index", epilog=_EXAMPLES)
@takes("index", IndexOptions)
def command(options: IndexOptions) -> None:
    """Show where the ledger is and what it holds, or rebuild it.

    The ledger is a SQLite file with every call that was read. It isn't a cache: calls whose files
    are gone are only there, so include it in backups. --rebuild reads all sessions again, as after
    an upgrade that reads more, and keeps the calls whose files are gone.
    """
    path = home_folder() / FILE
    if options.rebuild:
        from nightrook.archive.rebuild import rebuild  # only for this

        with ImportBar(sys.stderr, os.environ) as bar:
            show(rebuild(path, user_homes(), progress=bar))
    with Ledger.open(path) as ledger:
        calls, sessions, files, gone = ledger.connection.execute(
            "SELECT (SELECT count(*) FROM calls WHERE source_id != 0), "
            "(SELECT count(*) FROM sessions), count(*), "
            "coalesce(sum(state = 'gone'), 0) FROM sources"
        ).fetchone()
    click.echo(f"{safe_line(str(path))} ({size(path.stat().st_size)})")
    click.echo(
        f"{count(calls, 'call')} in {count(sessions, 'session')}, "
        f"read from {count(files, 'file')}, {gone} of which no longer exist"
    )
