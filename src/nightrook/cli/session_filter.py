"""Reads the options by which stored sessions are chosen."""

import time

import click

from nightrook import agents
from nightrook.archive.report.local_time import period, zone_of
from nightrook.archive.search.documents import DocumentFilter
from nightrook.archive.session_files import history_names
from nightrook.config.archive_options import SessionFilter
from nightrook.model.errors import OptionError, UnknownAgentError
from nightrook.model.text import encodable
from nightrook.store.filters import read_project

_MS = 1000


def document_filter(options: SessionFilter) -> DocumentFilter:
    """Read the filter of sessions and their content from the options; an agent must be known."""
    check_agent(options.agent)
    try:
        since, until = period(options.since, options.until, zone_of(None), time.time())
    except OptionError as error:
        raise click.UsageError(f"--{error}") from None
    return DocumentFilter(
        agent=options.agent,
        project=None if options.project is None else read_project(encodable(options.project)),
        since=None if since is None else since / _MS,
        until=None if until is None else until / _MS,
        kind=options.kind,
        tool=None if options.tool is None else encodable(options.tool),
        status=options.status,
        session=None if options.session is None else encodable(options.session),
    )


def check_agent(name: str | None) -> None:
    """Refuse the name of an agent that can have no sessions."""
    if name is not None and name not in history_names() and not agents.is_known(name):
        raise UnknownAgentError(name, dict.fromkeys((*history_names(), *agents.names())))
