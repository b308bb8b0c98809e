"""Decodes recorded streams: a file, an open binary file, or pieces of bytes."""

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from os import PathLike
from typing import Any, BinaryIO, TypeGuard

from rookery import agents
from rookery.adapter.agent import Agent
from rookery.adapter.lines import DEFAULT_CAP
from rookery.model.errors import UndetectedAgentError, UnreadableSourceError
from rookery.model.records import Decoder, Record

CHUNK = 256 * 1024
"""How much is read at once."""

_MOST_HEAD = DEFAULT_CAP  # how much of a stream may be read before its agent must be known

Path = str | PathLike[str]
Source = Path | BinaryIO | Iterable[bytes]


def decode(source: Source, agent: str | None = None, *, cap: int = DEFAULT_CAP) -> Iterator[Record]:
    """Decode a recorded stream; the agent is detected when it is not named.

    A file given by path is closed at the end, one given open is left to its owner. Raises
    UnreadableSourceError, UnknownAgentError or UndetectedAgentError, never for what a line holds.
    """
    feeding = Feeding(name_of(source), agent, cap)
    with closing(_chunks(source)) as chunks:
        for chunk in chunks:
            yield from feeding.feed(chunk)
    yield from feeding.close()


def open_source(path: Path) -> BinaryIO:
    """Open a file for decoding; an UnreadableSourceError says why it cannot be."""
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise UnreadableSourceError(os.fspath(path), _why(error)) from error


class Feeding:
    """Feeds chunks to a decoder, which is chosen when the first lines tell the agent."""

    def __init__(self, source: str, name: str | None = None, cap: int = DEFAULT_CAP) -> None:
        self.agent: str | None = None
        self.source = source
        self._cap = cap
        self._head = b""
        self._looked = 0
        self._decoder: Decoder | None = None
        if name is not None:
            self._choose(agents.agent(name))

    def feed(self, chunk: bytes) -> list[Record]:
        """Decode the next bytes; until the agent is known they are only kept."""
        if self._decoder is not None:
            return self._decoder.feed(chunk)
        self._head += chunk
        end = self._head.rfind(b"\n") + 1
        found = agents.detect(self._head[self._looked : end])
        self._looked = end
        if found is None:
            if len(self._head) > _MOST_HEAD:
                raise UndetectedAgentError(self.source, agents.names())
            return []
        return self._choose(found).feed(self._head)

    def close(self) -> list[Record]:
        """End the stream; an UndetectedAgentError says that no line told the agent."""
        if self._decoder is not None:
            return self._decoder.close()
        found = agents.detect(self._head)
        if found is None:
            raise UndetectedAgentError(self.source, agents.names())
        decoder = self._choose(found)
        return decoder.feed(self._head) + decoder.close()

    def _choose(self, agent: Agent) -> Decoder:
        self.agent = agent.name
        self._decoder = agent.decoder(cap=self._cap)
        return self._decoder


def _chunks(source: Source) -> Generator[bytes, None, None]:
    if isinstance(source, (str, PathLike)):
        with open_source(source) as file:
            yield from read_chunks(file, os.fspath(source))
    elif is_file(source):
        yield from read_chunks(source, name_of(source))
    else:
        yield from source


def is_file(source: object) -> TypeGuard[BinaryIO]:
    """Tell an open file from mere pieces of bytes."""
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
    """Give a name to call a source by in an error."""
    if isinstance(source, (str, PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "the stream"


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, IsADirectoryError):
        return "is a folder, not a file"
    if isinstance(error, PermissionError):
        return "may not be read"
    return error.strerror or str(error)
