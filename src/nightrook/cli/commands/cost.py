"""`rook cost`: the usage of agents on this machine."""

import os
import sys
import time
from pathlib import Path

import click
import msgspec

from nightrook.archive.cost import check_agent, cost_query, report
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.report.figures import CostReport
from nightrook.archive.report.query import CostQuery
from nightrook.cli.import_bar import current_archive
from nightrook.cli.options.parameters import takes
from nightrook.cli.terminal.output import guarded, put_json
from nightrook.config.archive_options import CostOptions
from nightrook.display.console import columns, look_of
from nightrook.display.costs.exports import report_csv, report_json, without_secrets
from nightrook.model.errors import OptionError
from nightrook.model.safe import safe_line

_EXAMPLES = """\b
Examples:
  rook cost
  rook cost --by month,model
  rook cost --by project --since 7d
  rook cost --since 2026-11 --agent claude --timezone Europe/Berlin
  rook cost --by session --project . --html cost.html
  rook cost --since today --check 20 || echo "more than $20 today"
  rook cost --json | jq .total.cost_usd
  rook cost --limits
"""
_OVER = 1


@click.command("cost", epilog=_EXAMPLES)
@takes("cost", CostOptions)
def command(options: CostOptions) -> None:
    """Report what agents used on this machine: runs of rook, and the sessions that you had.

    First reads what agents wrote since the last report; what was counted once stays counted when
    an agent deletes its files. `$` is what agents report, `~$` includes an estimate at the list
    prices of the day. Tokens of models without a known price are counted, but cost nothing here.

    Weeks begin on Monday and are named by that day.
    """
    _refuse_combinations(options)
    query = _query(options)
    with current_archive() as archive:
        if options.limits:
            _show_limits(archive.ledger, options)
            return
        # guards: cost-names-redacted
        made = without_secrets(report(archive, query), guarded(sys.stdout).redacted)
    _show(made, options)
    _check(made, options.check)


def _query(options: CostOptions) -> CostQuery:
    try:
        return cost_query(
            options.by,
            since=options.since,
            until=options.until,
            agent=options.agent,
            project=options.project,
            model=options.model,
            timezone=options.timezone,
        )
    except OptionError as error:
        raise click.UsageError(f"--{error}") from None


def _refuse_combinations(options: CostOptions) -> None:
    if options.csv and options.json:
        raise click.UsageError("--csv and --json can't be combined.")
    if options.limits and (options.csv or options.html or options.check is not None):
        raise click.UsageError("--limits can't be combined with --csv, --html or --check.")


def _show(made: CostReport, options: CostOptions) -> None:
    """Print a report, or write it to a file."""
    home = os.path.expanduser("~")
    if options.html is not None:
        _write_page(made, Path(options.html), home)
    if options.json:
        put_json(sys.stdout, report_json(made))
    elif options.csv:
        click.echo(report_csv(made), nl=False)
        for note in made.notes:
            click.echo(f"[rook] {safe_line(note)}", err=True)
    elif options.html is None:
        _print(made, home)


def _print(made: CostReport, home: str) -> None:
    from nightrook.display.costs.table import report_lines  # programs do without it

    look = look_of(sys.stdout, os.environ)
    width = columns(sys.stdout) if look.terminal else None
    lines = report_lines(made, width=width, paint=look.paint(), home=home)
    if not made.total.calls:
        lines.append("[rook] no calls match; agents whose sessions are read: rook agents")
    click.echo("\n".join(lines))


def _write_page(made: CostReport, path: Path, home: str) -> None:
    from nightrook.display.costs.page import report_page  # only for this

    try:
        path.write_text(report_page(made, home), encoding="utf-8", errors="replace")
    except OSError as error:
        reason = error.strerror or str(error)
        raise click.ClickException(f"cannot write {path}: {reason}; name another file") from error
    click.echo(f"[rook] wrote {safe_line(str(path))}", err=True)


def _show_limits(ledger: Ledger, options: CostOptions) -> None:
    from nightrook.archive.ledger.limits import reported_limits  # only for this
    from nightrook.display.costs.table import limit_lines

    check_agent(ledger, options.agent)
    now = time.time()
    limits = reported_limits(ledger.connection, agent=options.agent, now=now)
    if options.json:
        put_json(sys.stdout, msgspec.json.encode({"limits": limits}))
    elif limits:
        look = look_of(sys.stdout, os.environ)
        width = columns(sys.stdout) if look.terminal else None
        click.echo("\n".join(limit_lines(limits, now=now, width=width, paint=look.paint())))
    else:
        click.echo("No agent has reported how much of a limit is used in its sessions.")


def _check(made: CostReport, most: float | None) -> None:
    """Exit with 1 if a report's total is over a limit."""
    if most is None:
        return
    from nightrook.display.costs.table import cost, decimals  # only for this
    from nightrook.display.numbers import price
    from nightrook.model.ledger import Money
    from nightrook.model.price import nano

    if nano(made.total.cost_usd.total) <= nano(most):
        return
    spent = cost(made.total, decimals(made.total))
    limit = price(Money(most, "native"), decimals(made.total))
    click.echo(f"[rook] over the limit of --check: {spent} of {limit}", err=True)
    raise click.exceptions.Exit(_OVER)
