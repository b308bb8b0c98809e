"""A stored session as a feed, so that every viewer of runs can show it."""

from nightrook import agents
from nightrook.archive.sessions.find import StoredSession
from nightrook.archive.sessions.parts import Parts
from nightrook.archive.sessions.session_log import SessionLog
from nightrook.model.records import Record
from nightrook.store.logs import Stream
from nightrook.story.bodies import Bodies
from nightrook.story.feed import ByteReader, Feed
from nightrook.story.source import Source
from nightrook.story.tail import Piece


class _NoText:
    """A session has no text beside its records."""

    def read(self) -> list[Piece]:
        return []

    def close(self) -> None:
        """Nothing is open."""


def _no_text(_: Stream) -> ByteReader:
    return _NoText()


def session_feed(session: StoredSession) -> Feed:
    """What happened in a stored session."""
    transcript = agents.transcript(session.agent)
    return Feed(
        Source(session.agent),
        _no_text,
        label=session.agent,
        complete=True,
        open_records=lambda: SessionLog(Parts(session, transcript), transcript),
    )


def session_bodies(session: StoredSession) -> Bodies:
    """The bulky parts of a session's timeline, read from its files."""
    transcript = agents.transcript(session.agent)

    def decode(data: bytes) -> list[Record]:
        decoder = transcript.decoder()
        return [*decoder.feed(data), *decoder.close()]

    return Bodies(Parts(session, transcript).read_at, decode)
