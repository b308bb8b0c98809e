"""Decodes a stored stream, from a file or from bytes."""

import os
import pathlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from os import PathLike
from typing import Any, BinaryIO, TypeGuard, cast

from nightrook import agents
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.adapter.stored import Transcript
from nightrook.model.errors import UndetectedAgentError, UnreadableSourceError
from nightrook.model.records import Decoder, Record
from nightrook.store.logs import LogStream, open_packed
from nightrook.story.source import DETECTION_SIZE, StreamDecoder
from nightrook.story.tail import Piece

CHUNK = 64 * 1024
"""How much is read at once."""

Path = str | PathLike[str]
ByteSource = Path | BinaryIO | Iterable[bytes]


def decode(
    source: ByteSource, agent: str | None = None, *, cap: int = DEFAULT_CAP
) -> Iterator[Record]:
    """Decode a stored stream; the agent is detected when it is not named.

    A file opened by its path is closed at the end; an open file stays open. Raises
    UnreadableSourceError, UnknownAgentError or UndetectedAgentError, never for what a line holds.
    """
    decoder = StrictDecoder(name_of(source), agent, cap)
    with closing(_chunks(source)) as chunks:
        for chunk in chunks:
            yield from decoder.feed(chunk)
    yield from decoder.close()


def decode_pieces(
    pieces: Iterable[Piece], agent: str | None, name: str, *, cap: int = DEFAULT_CAP
) -> Iterator[Record]:
    """Decode bytes whose arrival times are known; `name` is what errors call the stream."""
    decoder = StrictDecoder(name, agent, cap)
    for data, at in pieces:
        yield from decoder.feed(data, at)
    yield from decoder.close()


class StrictDecoder:
    """Decodes a stream or a stored session whose agent must be known or detected."""

    def __init__(self, name: str, agent: str | None = None, cap: int = DEFAULT_CAP) -> None:
        self.name = name
        """What errors call the stream."""
        make = partial(agents.decoder, cap=cap)
        self._cap = cap
        self._stream = StreamDecoder(agent, detect=agent is None, make=make)
        self._head: bytearray | None = bytearray()  # until its first lines are known
        self._transcript: Transcript | None = None
        self._session: Decoder | None = None

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self._transcript.agent if self._transcript else self._stream.agent

    @property
    def is_stored_session(self) -> bool:
        """Whether it is a session as its agent keeps it, rather than what the agent wrote."""
        return self._transcript is not None

    def feed(self, chunk: bytes, at: float | None = None) -> list[Record]:
        """Decode the next bytes; there are no records until the agent is known."""
        if self._head is not None:
            self._head += chunk
            if b"\n" not in chunk and len(self._head) < DETECTION_SIZE:
                return []
            chunk = self._look_at_head()
        if self._session is not None:
            return self._session.feed(chunk)
        records = self._stream.feed(chunk, at)
        if self._stream.gave_up:
            raise UndetectedAgentError(self.name, agents.names())
        return records

    def close(self) -> list[Record]:
        """End the stream; raises UndetectedAgentError if no line identified the agent."""
        head = b"" if self._head is None else self._look_at_head()
        if self._session is not None:
            return [*self._session.feed(head), *self._session.close()]
        records = [*self._stream.feed(head), *self._stream.close()]
        if self._stream.agent is None:
            raise UndetectedAgentError(self.name, agents.names())
        return records

    def _look_at_head(self) -> bytes:
        """Find out whether the first lines are those of a stored session; return them."""
        head, self._head = bytes(self._head or b""), None
        self._transcript = agents.detect_transcript(head)
        if self._transcript is not None:
            self._session = self._transcript.decoder(cap=self._cap)
        return head


def open_source(path: Path) -> BinaryIO:
    """Open a file for decoding; an UnreadableSourceError says why that failed.

    A log that was packed since is found by the path that it had before, too.
    """
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        packed = open_packed(pathlib.Path(path)) if isinstance(error, FileNotFoundError) else None
        if packed is None:
            raise UnreadableSourceError(os.fspath(path), _why(error)) from error
        return cast(BinaryIO, LogStream(packed))


def is_file(source: object) -> TypeGuard[BinaryIO]:
    """Whether a source is an open file."""
    return hasattr(source, "read")


def read_chunks(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Read a file to its end as its bytes come; an UnreadableSourceError says what went wrong."""
    read: Any = getattr(file, "read1", file.read)  # what is there now, not what will be
    try:
        while chunk := read(CHUNK):
            yield chunk
    except OSError as error:
        raise UnreadableSourceError(name, _why(error)) from error


def name_of(source: object) -> str:
    """What errors call a source."""
    if isinstance(source, (str, PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the stream"


def _chunks(source: ByteSource) -> Generator[bytes, None, None]:
    if isinstance(source, (str, PathLike)):
        with open_source(source) as file:
            yield from read_chunks(file, os.fspath(source))
    elif is_file(source):
        yield from read_chunks(source, name_of(source))
    else:
        yield from source


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, PermissionError):
        return "may not be read"
    return error.strerror or str(error)
