"""What OpenCode keeps on disk: a SQLite store; before version 1.2 a document for each message."""

import re
from collections.abc import Sequence

import msgspec

from nightrook.adapter.history import Finding, History, Place, Query, Session
from nightrook.adapter.salvage import decode_part
from nightrook.adapter.shapes import Milliseconds, Shape, seconds_since_1970
from nightrook.adapter.stores.message_steps import (
    CHANGES,
    ROWS,
    Message,
    call_of,
    read_message,
    read_session,
)

_TABLES = re.compile(rb'CREATE TABLE [`"]?(?:part|session_v2)\b')

_V2_CHANGES = """
SELECT id, time_updated || ' ' || coalesce(
  (SELECT max(rowid) || ' ' || max(time_updated) FROM session_message
   WHERE session_id = session_v2.id), '')
FROM session_v2
"""
_V2_ROWS = """
SELECT session_v2.id, parent_id, directory, title, session_v2.time_updated, fork_session_id,
  session_message.id, session_message.data, NULL
FROM session_v2
LEFT JOIN session_message
  ON session_message.session_id = session_v2.id AND session_message.type = 'assistant'
WHERE session_v2.id = :key
ORDER BY session_message.time_created, session_message.id
"""
"""Version 2 stores a message for each request, without parts."""


class Memory(msgspec.Struct):
    """What is known of a document by its path."""

    session: str


class _Times(Shape):
    updated: Milliseconds | None = None


class _Facts(Shape):
    """A document of a session."""

    id: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentID")
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    time: _Times = msgspec.field(default_factory=_Times)


class _Path(Shape):
    cwd: str | None = None


class _Folder(Shape):
    path: _Path = msgspec.field(default_factory=_Path)


_FACTS = msgspec.json.Decoder(_Facts)
_FOLDER = msgspec.json.Decoder(_Folder)


def recognises(head: bytes) -> bool:
    """Whether a document or the schema of a store is OpenCode's; forks have tables of their own."""
    if _TABLES.search(head) is not None:
        return b"kilo" not in head
    return b'"ses_' in head and (b'"sessionID"' in head or b'"projectID"' in head)


def begin(parts: Sequence[str]) -> Memory:
    """Know the session by the folder of a message: `message/<session>/<message>.json`."""
    return Memory(session=parts[-2] if len(parts) > 1 else "unknown")


def read(document: bytes, memory: Memory) -> list[Finding]:
    """Read the document of a message or of a session."""
    message = read_message(document)
    if message is None:
        return []
    if message.role is None:
        return _session(document)
    return _message(document, message, memory)


def _message(document: bytes, message: Message, memory: Memory) -> list[Finding]:
    """Read an answer, which has the tokens of its last step.

    The store of later versions has every step of the same sessions, so an answer counts only if
    its session is not there.
    """
    if not any(message.tokens.counts):
        return []
    folder = decode_part(document, _FOLDER)
    session = Session(
        id=message.session or memory.session, project=folder.path.cwd if folder else None
    )
    call = call_of(message, message, session)
    return [msgspec.structs.replace(call, id=f"document {call.id}", fallback=True)]


def _session(document: bytes) -> list[Finding]:
    facts = decode_part(document, _FACTS)
    if facts is None or not facts.id:
        return []
    return [
        Session(
            id=facts.id,
            at=seconds_since_1970(facts.time.updated),
            project=facts.directory or None,
            title=facts.title or None,
            version=facts.version or None,
            parent=facts.parent or None,
        )
    ]


HISTORY = History(
    agent="opencode",
    places=(
        Place(
            home=".local/share",
            variable="XDG_DATA_HOME",
            below="opencode",
            files=r"opencode(-[^/]+)?\.db",
            kind="sqlite",
        ),
        Place(
            home=".local/share",
            variable="XDG_DATA_HOME",
            below="opencode/storage",
            files=r"(?:message|session)/[^/]+/[^/]+\.json",
            kind="document",
        ),
    ),
    recognises=recognises,
    memory=Memory,
    begin=begin,
    read=read,
    queries=(
        Query(changes=CHANGES, rows=ROWS, read=read_session),
        Query(changes=_V2_CHANGES, rows=_V2_ROWS, read=read_session),
    ),
    notes=("OpenCode doesn't store the requests that make titles.",),
)
