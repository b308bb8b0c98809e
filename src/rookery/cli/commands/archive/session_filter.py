"""Reads the options by which stored sessions are chosen."""

import os
import time

import click

from rookery.archive.report.period import period
from rookery.archive.report.zone import zone_of
from rookery.config.archive.options import SessionFilter
from rookery.model.errors import OptionError

_MS = 1000


def chosen_period(options: SessionFilter) -> tuple[float | None, float | None]:
    """The first second of the wanted time, and the first after it."""
    try:
        since, until = period(options.since, options.until, zone_of(None), time.time())
    except OptionError as error:
        raise click.UsageError(f"--{error}") from None
    return (None if since is None else since / _MS, None if until is None else until / _MS)


def chosen_project(project: str | None) -> str | None:
    """The wanted folder: a path is made absolute, a name is the last part of one."""
    if project is not None and (os.sep in project or project in (".", "..")):
        return os.path.abspath(project)
    return project
