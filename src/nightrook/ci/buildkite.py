"""Buildkite: groups of the log, and an annotation and meta-data by `buildkite-agent`."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from nightrook.display.reports.markdown_report import markdown_report
from nightrook.display.reports.report import Report, values
from nightrook.model.safe import defused, safe_line
from nightrook.model.text import first_line
from nightrook.process.guarded_command import run_guarded

_PROGRAM = "buildkite-agent"
_MOST_S = 30.0
_LARGEST = 100_000  # bytes of an annotation, which is an argument of a program
_LONGEST_PROBLEM = 200


class Buildkite:
    """A step of a job on Buildkite."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._agent = shutil.which(_PROGRAM, path=environ.get("PATH"))

    def open_group(self, title: str) -> str:
        """The line that opens a group, collapsed."""
        return f"--- {defused(safe_line(title))}"

    def close_group(self) -> str:
        """The line that opens the next group: Buildkite closes none by itself."""
        return "+++ rook"

    def annotations(self, report: Report) -> list[str]:
        """Return none for the log: the annotation of the build has them."""
        return []

    def save(self, report: Report) -> list[str]:
        """Annotate the build and set its meta-data, if `buildkite-agent` is there."""
        if self._agent is None:
            return []
        style = "success" if report.ok else "error"
        body = markdown_report(report)
        if len(body.encode("utf-8", "replace")) > _LARGEST:
            body = markdown_report(replace(report, answer=None, errors=(), files=()))
        words = ["annotate", body, "--style", style, "--context", f"rook-{report.name}"]
        problems = [self._call(words)]
        for name, value in values(report).items():
            if value and name != "answer_file":  # it is on the machine of this step
                problems.append(self._call(["meta-data", "set", f"rook-{name}", value]))
        return [problem for problem in problems if problem]

    def _call(self, words: Sequence[str]) -> str | None:
        """Call `buildkite-agent`; return why it failed."""
        name = f"{_PROGRAM} {words[0]}"
        command = [self._agent or _PROGRAM, *words]
        try:
            cwd, marker = str(Path.cwd()), f"ci-{os.getpid()}"
            ended = asyncio.run(run_guarded(command, cwd=cwd, marker=marker, timeout_s=_MOST_S))
        except OSError as error:
            return f"{name} cannot run: {error.strerror or error}"
        if ended.timed_out:
            return f"{name} did not end in {_MOST_S:g}s"
        said = first_line(ended.output.decode("utf-8", "replace"), _LONGEST_PROBLEM)
        return None if ended.exit_code == 0 else f"{name} failed: {said or ended.exit_code}"
