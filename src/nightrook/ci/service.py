"""What rook needs of a CI service."""

from typing import Protocol

from nightrook.display.reports.report import Report


class Service(Protocol):
    """A CI service. What it returns as lines is meant to be run by the service."""

    def open_group(self, title: str) -> str:
        """The line that opens a part of the log that can be folded."""

    def close_group(self) -> str:
        """The line that closes it."""

    def annotations(self, report: Report) -> list[str]:
        """The lines that show what went wrong beside the log; at most ten."""

    def save(self, report: Report) -> list[str]:
        """Save the summary and the outputs; return what could not be saved."""
