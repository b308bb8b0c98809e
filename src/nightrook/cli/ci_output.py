"""Writes the CI service's view of a run, a loop or a batch, if one runs this process."""

import os
import sys

from nightrook.ci.services import Writer, writer_of
from nightrook.cli.terminal.output import guarded, put, put_command
from nightrook.config.options import EndOptions
from nightrook.display.reports.report import Report
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line

_LONGEST_TITLE = 100
_INSIDE_A_RUN = "ROOK_RUN_DIR"


class CiOutput:
    """The output for the CI service; nothing where there is none.

    `lively` is whether lines for people go to standard output: only then they are grouped. With
    `quiet`, a success has no annotations.
    """

    def __init__(self, options: EndOptions, *, lively: bool, quiet: bool = False) -> None:
        self._writer = None if options.no_ci else _writer()  # guards: no-ci
        self._lively = lively and guarded(sys.stdout).reaches_ci  # guards: groups-for-people
        self._quiet = quiet
        self._is_open = False

    @property
    def is_used(self) -> bool:
        """True if a CI service runs this process."""
        return self._writer is not None

    def open_group(self, title: str) -> None:
        """Open a part of the log that can be folded; secrets in the title are replaced."""
        if self._writer is not None and self._lively and not self._is_open:
            self._is_open = True
            line = one_line(guarded(sys.stdout).redacted(title), _LONGEST_TITLE)
            put_command(sys.stdout, self._writer.open_group(line))

    def close_group(self) -> None:
        """Close the open group of lines, if there is one."""
        if self._writer is not None and self._is_open:
            self._is_open = False
            put_command(sys.stdout, self._writer.close_group())

    def finish(self, report: Report) -> None:
        """Write the annotations, the summary and the outputs; a failure is only reported."""
        self.close_group()
        if self._writer is None:
            return
        if guarded(sys.stderr).reaches_ci and not (self._quiet and report.ok):
            for line in self._writer.annotations(report):
                put_command(sys.stderr, line)
        for problem in self._writer.save(report):
            put(sys.stderr, f"[rook] WARNING: {safe_line(problem)}")


def _writer() -> Writer | None:
    """The writer for the service of this job; none for a rook that an agent calls."""
    if _INSIDE_A_RUN in os.environ:  # guards: inside-a-run
        return None
    return writer_of(os.environ)
