"""GitHub Actions: `::group::`, annotations, `$GITHUB_STEP_SUMMARY` and `$GITHUB_OUTPUT`."""

import os
import secrets
from collections.abc import Mapping

from nightrook.ci.annotations import annotations
from nightrook.display.reports.markdown_report import markdown_report
from nightrook.display.reports.report import Report, with_answer
from nightrook.model.safe import defused, safe_line
from nightrook.process.plain_file import open_plain

SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
_LARGEST_SUMMARY = 1024 * 1024  # bytes; GitHub refuses the summary of a step that is larger
_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_PROPERTY_ESCAPES = {**_ESCAPES, ":": "%3A", ",": "%2C"}  # guards: annotation-properties


class GitHub:
    """A step of a job on GitHub Actions, or on a service that works alike."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def open_group(self, title: str) -> str:
        """The line that opens a group."""
        return f"::group::{_escaped(defused(safe_line(title)), _ESCAPES)}"

    def close_group(self) -> str:
        """The line that closes it."""
        return "::endgroup::"

    def annotations(self, report: Report) -> list[str]:
        """The annotations as workflow commands."""
        return [
            f"::{each.level} title={_escaped(each.title, _PROPERTY_ESCAPES)}"
            f"::{_escaped(each.message, _ESCAPES)}"
            for each in annotations(report)
        ]

    def save(self, report: Report) -> list[str]:
        """Append to the step's summary and its outputs, as far as there are files for them."""
        data = {SUMMARY: f"{markdown_report(report)}\n", OUTPUT: output_lines(with_answer(report))}
        problems = [
            self._append(name, text.encode("utf-8", "replace")) for name, text in data.items()
        ]
        return [problem for problem in problems if problem]

    def _append(self, variable: str, data: bytes) -> str | None:
        """Append to the file that a variable names; return why that failed."""
        path = self._environ.get(variable)
        if not path:
            return None
        try:
            fd = open_plain(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with open(fd, "ab") as file:
                if variable == SUMMARY and file.tell() + len(data) > _LARGEST_SUMMARY:
                    return f"${variable} is full: the summary of {len(data)} bytes is left out"
                file.write(data)
        except OSError as error:
            return f"${variable} cannot be written: {error.strerror or error}"
        return None


def output_lines(values: Mapping[str, str]) -> str:
    """Values in the format of `$GITHUB_OUTPUT`; no value can end early and set another one.

    It begins with a newline, since the last line of the file may have none.
    """
    return "\n" + "".join(  # guards: random-delimiter
        f"{name}<<{end}\n{value}\n{end}\n"
        for name, value in values.items()
        for end in [f"rook_{secrets.token_hex(16)}"]
    )


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
