"""Writes what the CI service shows of a run, a loop or a batch, if one runs this process."""

import os
import sys
from typing import TYPE_CHECKING

from nightrook.cli.terminal.output import guarded, is_ci, put, put_command
from nightrook.config.end_options import EndOptions
from nightrook.display.reports.report import Report
from nightrook.model.safe import safe_line
from nightrook.model.text import one_line

if TYPE_CHECKING:
    from nightrook.ci.service import Service

_LONGEST_TITLE = 100
_INSIDE_A_RUN = "ROOK_RUN_DIR"


class CiOutput:
    """What is written for the CI service; nothing where there is none.

    `lively` is whether lines for people go to standard output: only then they are grouped. With
    `quiet`, a success has no annotations.
    """

    def __init__(self, options: EndOptions, *, lively: bool, quiet: bool = False) -> None:
        self._service = None if options.no_ci else _service()  # guards: no-ci
        self._lively = lively and guarded(sys.stdout).reaches_ci  # guards: groups-for-people
        self._quiet = quiet
        self._is_open = False

    @property
    def is_used(self) -> bool:
        """Whether there is a service to write for."""
        return self._service is not None

    def open_group(self, title: str) -> None:
        """Open a part of the log that can be folded; secrets in the title are replaced."""
        if self._service is not None and self._lively and not self._is_open:
            self._is_open = True
            line = one_line(guarded(sys.stdout).redacted(title), _LONGEST_TITLE)
            put_command(sys.stdout, self._service.open_group(line))

    def close_group(self) -> None:
        """Close it, if one is open."""
        if self._service is not None and self._is_open:
            self._is_open = False
            put_command(sys.stdout, self._service.close_group())

    def finish(self, report: Report) -> None:
        """Write the annotations, the summary and the outputs; a failure is only reported."""
        self.close_group()
        if self._service is None:
            return
        if guarded(sys.stderr).reaches_ci and not (self._quiet and report.ok):
            for line in self._service.annotations(report):
                put_command(sys.stderr, line)
        for problem in self._service.save(report):
            put(sys.stderr, f"[rook] WARNING: {safe_line(problem)}")


def _service() -> "Service | None":
    """The service of this job; none for a rook that an agent calls, whose job it is not."""
    if _INSIDE_A_RUN in os.environ or not is_ci(os.environ):  # guards: inside-a-run
        return None
    from nightrook.ci.services import service_of  # only in CI, and it imports a lot

    return service_of(os.environ)
