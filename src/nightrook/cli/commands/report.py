"""`rook report`: a run, a loop or a batch as Markdown, JUnit, JSON, or for GitHub Actions."""

import os
import sys

import click
import msgspec

from nightrook.ci.github import GitHub
from nightrook.cli.options.parameters import argument, takes
from nightrook.cli.reports import find_report
from nightrook.cli.terminal.output import put, put_command, put_json
from nightrook.config.command_options import ReportOptions
from nightrook.display.reports.junit import junit
from nightrook.display.reports.markdown_report import markdown_report
from nightrook.display.reports.report import Report
from nightrook.model.safe import safe_line

_EXAMPLES = """\b
Examples:
  rook report
  rook report k7f3 --format junit > rook.xml
  rook report batch-k7f3 --format json | jq .status
"""


@click.command("report", epilog=_EXAMPLES)
@takes("report", ReportOptions)
@argument("run", required=False, completes="stored")
def command(options: ReportOptions, run: str | None) -> None:
    """Report a run, a loop or a batch, for CI and other programs; without a name, the last run.

    Texts of the agent stay text: no Markdown, no HTML, no command for a CI service, and no secret.

    With --format github, in a step of GitHub Actions, the summary and the outputs of the step are
    written, and the annotations are printed: as `rook run` does there by itself.
    """
    made = find_report(run)
    if options.format == "json":
        put_json(sys.stdout, msgspec.json.encode(made))
    elif options.format == "github":
        _put_for_github(made)
    else:
        write = junit if options.format == "junit" else markdown_report
        click.echo(write(made), nl=False)


def _put_for_github(made: Report) -> None:
    """Print the annotations, and write the files that the step has for the rest."""
    service = GitHub(os.environ)
    for line in service.annotations(made):
        put_command(sys.stdout, line)
    for problem in service.save(made):
        put(sys.stderr, f"[rook] WARNING: {safe_line(problem)}")
