"""The story of a stored session, so that every viewer of runs can show it."""

from nightrook import agents
from nightrook.archive.sessions.find import StoredSession
from nightrook.archive.sessions.parts import Parts
from nightrook.archive.sessions.session_log import SessionLog
from nightrook.model.records import Record
from nightrook.store.logs import Stream
from nightrook.story.feed import ByteReader, StoredFeed
from nightrook.story.item_bodies import Bodies
from nightrook.story.story import Story
from nightrook.story.tail import Piece


class _NoText:
    """A session has no text beside its records."""

    def read(self) -> list[Piece]:
        return []

    def close(self) -> None:
        """Nothing is open."""


def _no_text(_: Stream) -> ByteReader:
    return _NoText()


def session_story(session: StoredSession) -> Story:
    """What happened in a stored session."""
    transcript = agents.transcript(session.agent)

    def decode(data: bytes) -> list[Record]:
        decoder = transcript.decoder()
        return [*decoder.feed(data), *decoder.close()]

    feed = StoredFeed(
        session.agent,
        _no_text,
        label=session.agent,
        open_records=lambda: SessionLog(Parts(session, transcript), transcript),
    )
    bodies = Bodies(Parts(session, transcript).read_at, decode)
    return Story(feed, name=session.id, bodies=bodies)
