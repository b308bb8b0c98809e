"""What is done once when a run, a loop or a batch has ended."""

import sys
from collections.abc import Callable

from rookery.cli.live.output import put
from rookery.cli.reporting.ci_output import CiOutput
from rookery.config.end_options import EndOptions
from rookery.display.reports.report import Report
from rookery.model.errors import RookeryError
from rookery.model.safe import safe_line


class EndActions:
    """What the options ask for at the end; none of it changes the exit code."""

    def __init__(self, options: EndOptions, *, lively: bool, quiet: bool = False) -> None:
        self.ci = CiOutput(options, lively=lively, quiet=quiet)

    def finish(self, make_report: Callable[[], Report]) -> None:
        """Do it, with a report that is made only if it is needed."""
        if not self.ci.is_used:
            return
        try:
            self.ci.finish(make_report())
        except (RookeryError, OSError) as error:
            put(sys.stderr, f"[rook] WARNING: no report: {safe_line(str(error))}")
