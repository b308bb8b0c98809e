"""`rook index`: the ledger of all calls, shown or made again."""

import os
import sys

import click

from rookery.archive.ledger.ledger import FILE, Ledger
from rookery.archive.places import user_homes
from rookery.cli.commands.archive.import_ import show
from rookery.cli.options.parameters import takes
from rookery.cli.reporting.import_bar import ImportBar
from rookery.config.archive.options import IndexOptions
from rookery.display.numbers import size
from rookery.model.safe import safe_line
from rookery.model.text import count
from rookery.store.home import home_folder

_EXAMPLES = """\b
Examples:
  rook index
  rook index --rebuild
"""


@click.command("index", epilog=_EXAMPLES)
@takes("index", IndexOptions)
def index(options: IndexOptions) -> None:
    """Show where the ledger is and what it holds, or make it again.

    The ledger is a SQLite file with every call that was read. It isn't a cache: calls whose files
    are gone are only there, so include it in backups. --rebuild reads all sessions again, as after
    an upgrade that reads more, and keeps the calls whose files are gone.
    """
    path = home_folder() / FILE
    if options.rebuild:
        from rookery.archive.rebuild import rebuild  # only for this

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
