"""GitLab CI: collapsible sections, and files for `artifacts` in a folder of the project."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from nightrook.display.reports.junit import junit
from nightrook.display.reports.markdown_report import markdown_report
from nightrook.display.reports.report import Report, variables
from nightrook.model.safe import defused, safe_line
from nightrook.process.plain_file import open_plain

FOLDER = "nightrook-report"
"""The folder below the project's; git ignores it."""

DOTENV = "values.env"
_PROJECT = "CI_PROJECT_DIR"
_ERASE = "\x1b[0K"  # the log shows the header instead of the marker before it


class GitLab:
    """A job on GitLab."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._project = environ.get(_PROJECT)
        self._sections = 0

    def open_group(self, title: str) -> str:
        """The line that starts a section, collapsed."""
        self._sections += 1
        start = f"section_start:{int(time.time())}:{self._section}[collapsed=true]"
        # guards: section-title-defused
        return f"{_ERASE}{start}\r{_ERASE}{defused(safe_line(title))}"

    def close_group(self) -> str:
        """The line that ends it."""
        return f"{_ERASE}section_end:{int(time.time())}:{self._section}\r{_ERASE}"

    @property
    def _section(self) -> str:
        return f"rook_{os.getpid()}_{self._sections}"

    def annotations(self, report: Report) -> list[str]:
        """Return none: failures are in the JUnit report, which merge requests show."""
        return []

    def save(self, report: Report) -> list[str]:
        """Write the report as Markdown and JUnit XML, and the values as a dotenv report."""
        if not self._project:
            return []
        files = {
            ".gitignore": "*\n",
            f"{report.name}.md": markdown_report(report),
            f"{report.name}.xml": junit(report),
            DOTENV: dotenv(report),
        }
        try:
            _write(os.path.join(self._project, FOLDER), files)
        except OSError as error:
            return [f"{FOLDER} cannot be written: {error.strerror or error}"]
        return []


def dotenv(report: Report) -> str:
    """The values for `artifacts:reports:dotenv`, each on one line, which none can leave."""
    # guards: dotenv-one-line
    return "".join(f"{name}={safe_line(value)}\n" for name, value in variables(report).items())


def _write(path: str, files: Mapping[str, str]) -> None:
    """Write files into a folder, not through a link; others may read them, as the project's."""
    with suppress(FileExistsError):
        Path(path).mkdir()
    # guards: report-folder-no-link
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        for name, text in files.items():
            fd = open_plain(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, folder)
            with open(fd, "wb") as file:
                os.fchmod(fd, 0o644)
                file.write(text.encode("utf-8", "replace"))
    finally:
        os.close(folder)
