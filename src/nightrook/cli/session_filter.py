"""Reads the options by which stored sessions are chosen."""

import os
import time

import click
import msgspec

from nightrook import agents
from nightrook.archive.report.local_time import period, zone_of
from nightrook.archive.session_files import history_names
from nightrook.config.archive.options import SessionFilter
from nightrook.model.errors import OptionError, UnknownAgentError
from nightrook.model.text import encodable

_MS = 1000


def checked(options: SessionFilter) -> SessionFilter:
    """The same options as the archive can compare them; an agent must be known."""
    check_agent(options.agent)
    typed = {"project": options.project, "tool": options.tool, "session": options.session}
    given = {name: encodable(text) for name, text in typed.items() if text is not None}
    return msgspec.structs.replace(options, **given)


def check_agent(name: str | None) -> None:
    """Refuse the name of an agent that can have no sessions."""
    if name is not None and name not in history_names() and not agents.is_known(name):
        raise UnknownAgentError(name, dict.fromkeys((*history_names(), *agents.names())))


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
