"""The CI services that rook knows, in one list: the variable and the writer of each.

All of them would run some of what an agent prints, so `cli/terminal/output.py` breaks the commands
in it wherever one of these variables is set. For the first three rook also writes groups,
annotations, summaries and outputs. It is imported whenever `rook` starts: the writers are not.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from nightrook.display.reports.report import Report

_UNSET = ("", "0", "false")


class Writer(Protocol):
    """Writes what a CI service shows; the service is meant to run the lines that it returns."""

    def open_group(self, title: str) -> str:
        """The line that opens a part of the log that can be folded."""

    def close_group(self) -> str:
        """The line that closes it."""

    def annotations(self, report: "Report") -> list[str]:
        """The lines that show failures next to the log; at most ten."""

    def save(self, report: "Report") -> list[str]:
        """Save the summary and the outputs; return the failures."""


Environment = Mapping[str, str]


class Service(NamedTuple):
    """A CI service: the variable that its jobs have, and the factory of its writer, if any."""

    variable: str
    writer: Callable[[Environment], Writer] | None = None
    has_headings: bool = False
    """True if a line that begins with `---`, `+++` or `~~~` is a command."""


def _github(environ: Environment) -> Writer:
    from nightrook.ci.github import GitHub

    return GitHub(environ)


def _gitlab(environ: Environment) -> Writer:
    from nightrook.ci.gitlab import GitLab

    return GitLab(environ)


def _buildkite(environ: Environment) -> Writer:
    from nightrook.ci.buildkite import Buildkite

    return Buildkite(environ)


SERVICES = (
    Service("GITHUB_ACTIONS", _github),
    Service("GITLAB_CI", _gitlab),
    Service("BUILDKITE", _buildkite, has_headings=True),
    Service("TF_BUILD"),
    Service("TEAMCITY_VERSION"),
    Service("TRAVIS"),
    Service("JENKINS_URL"),
    Service("CI"),  # any other
)


def services_of(environ: Environment) -> list[Service]:
    """The services that may read the output: most jobs have the variables of two."""
    return [each for each in SERVICES if environ.get(each.variable, "").lower() not in _UNSET]


def writer_of(environ: Environment) -> Writer | None:
    """Make the writer for the service of this job; None if that has no writer."""
    for service in SERVICES:
        if service.writer is not None and environ.get(service.variable) == "true":
            return service.writer(environ)
    return None
