"""Finds a stored session by its id, and the files that it consists of."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from nightrook import agents
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.session_files import FoundFile, Search
from nightrook.archive.sessions.reader import SessionFile, StoredSession
from nightrook.model.errors import NightrookError
from nightrook.model.text import encodable

_SHORTEST = 4
"""Least number of characters of an id that must be given."""

_MOST_NAMED = 5
_MOST_SUBAGENTS = 1000


class UnknownSessionError(NightrookError):
    """No stored session has that id, or several ids begin with it."""


class SessionName(NamedTuple):
    """A session in the ledger."""

    agent: str
    id: str
    project: str | None
    title: str | None


class Kept(Protocol):
    """A copy of a file."""

    @property
    def path(self) -> str:
        """Path of the copy."""

    @property
    def below(self) -> str:
        """The path of the file in the folder of its agent."""


def _none(_: str) -> Iterable[Kept]:
    return ()


def find_session(
    ledger: Ledger, homes: Sequence[Path], id: str, kept: Callable[[str], Iterable[Kept]] = _none
) -> StoredSession:
    """Find the session whose id begins with a text; raise an UnknownSessionError if there is none.

    `kept` returns the copies of an agent's files, which are used if the agent has deleted them.
    """
    named = _named(ledger, encodable(id))
    return StoredSession(
        agent=named.agent,
        id=named.id,
        project=named.project,
        title=named.title,
        files=tuple(_files(ledger, named, homes)) or tuple(_copies(named, kept(named.agent))),
    )


def _copies(named: SessionName, kept: Iterable[Kept]) -> Iterator[SessionFile]:
    """The copies of a session's files, its own first."""
    if named.agent not in agents.HISTORIES:
        return
    transcript = agents.transcript(named.agent)
    found = []
    for copy in kept:
        parts = copy.below.split("/")
        is_of = parts[-1] == f"{named.id}.jsonl" or (
            not transcript.query and transcript.is_of(parts, named.id)
        )
        if is_of:
            found.append(SessionFile(copy.path, "lines", named.id, transcript.task_of(parts)))
    yield from sorted(found, key=lambda file: (file.task or "", file))


def _files(ledger: Ledger, named: SessionName, homes: Sequence[Path]) -> Iterator[SessionFile]:
    """The files of a session, its own first, then those of its subagents."""
    if named.agent not in agents.HISTORIES:
        return
    found = list(Search([agents.history(named.agent)]).homes(homes, os.environ))
    own = sorted(_files_of(named.agent, named.id, found), key=lambda file: (file.task or "", file))
    yield from own
    seen = {file.path for file in own if file.kind != "sqlite"}
    for child in subagent_sessions(ledger, named.agent, named.id):
        for file in _files_of(named.agent, child, found):
            if file.path not in seen:
                seen.add(file.path if file.kind != "sqlite" else "")
                yield file._replace(task=file.task or child)


def subagent_sessions(ledger: Ledger, agent: str, id: str) -> list[str]:
    """The sessions of a session's subagents, and of theirs."""
    query = "SELECT session FROM sessions WHERE agent = ? AND parent = ? ORDER BY first_at"
    found: dict[str, None] = {}
    pending = [id]
    while pending and len(found) < _MOST_SUBAGENTS:
        rows = ledger.connection.execute(query, (agent, pending.pop()))
        new = [child for (child,) in rows if child not in found and child != id]
        found.update(dict.fromkeys(new))
        pending += new
    return list(found)


def _files_of(agent: str, id: str, found: Iterable[FoundFile]) -> Iterator[SessionFile]:
    transcript = agents.transcript(agent)
    seen: set[str] = set()
    for file in found:
        parts = file.below.split("/")
        is_of = file.kind == "sqlite" or (not transcript.query and transcript.is_of(parts, id))
        if file.below in seen or not is_of:
            continue  # a copy in another home, or another session
        seen.add(file.below)
        yield SessionFile(file.path, file.kind, id, transcript.task_of(parts))


def _named(ledger: Ledger, id: str) -> SessionName:
    query = "SELECT agent, session, project, title FROM sessions WHERE substr(session, 1, ?) = ?"
    rows = ledger.connection.execute(query, (len(id), id)).fetchall() if id else []
    found = [SessionName(*row) for row in rows]
    exact = [each for each in found if each.id == id]
    if len(exact) == 1 or (len(found) == 1 and len(id) >= _SHORTEST):
        return (exact or found)[0]
    if not found:
        raise UnknownSessionError(
            f"no run and no session is called {id!r}; `rook runs --sessions` lists them"
        )
    ids = ", ".join(sorted(each.id for each in found)[:_MOST_NAMED])
    raise UnknownSessionError(f"{len(found)} sessions begin with {id!r}: {ids}; write more of it")
