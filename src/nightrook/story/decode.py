"""Decodes the output of an agent: bytes in, records out, of a stream, a file or a run.

`StreamDecoder` decodes one stream whose agent is named or detected; nothing else makes a decoder of
an agent's stream. `StrictDecoder` refuses a stream whose agent stays unknown, and also reads stored
sessions. `decode` is `nightrook.decode`.
"""

import os
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from functools import partial
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeGuard, cast

from nightrook import agents
from nightrook.adapter.history import Transcript
from nightrook.adapter.lines import DEFAULT_CAP, Line, Oversized
from nightrook.model.errors import NightrookError, UndetectedAgentError, UnreadableSourceError
from nightrook.model.records import Decoder, Record
from nightrook.store.file_names import INFO
from nightrook.store.home import home_folder
from nightrook.store.logs import LogStream, open_packed
from nightrook.store.run_folder import RunFolder
from nightrook.story.integrity import find_tampering
from nightrook.story.tail import Piece, pieces

CHUNK = 64 * 1024
"""Bytes to read at once."""

DETECTION_SIZE = DEFAULT_CAP
"""Most bytes of a stream before the first message that identifies the agent."""

ByteSource = str | PathLike[str] | BinaryIO | Iterable[bytes]

_Search = Literal["off", "on", "given up"]


def decode(
    source: ByteSource, agent: str | None = None, *, cap: int = DEFAULT_CAP
) -> Iterator[Record]:
    """Decode the output of an agent; the agent is detected when it is not named.

    Args:
        source: A file by its path, an open file, or bytes in chunks; or a run, by its folder or by
            its name. The records of a run have the times at which their lines arrived.
        agent: The name of the agent that wrote it.
        cap: The length in bytes above which a line is reported as too long, not decoded.

    A file opened by its path is closed at the end; an open file stays open. Raises
    UnreadableSourceError, UnknownAgentError or UndetectedAgentError, but never because of what a
    line contains. Warns if the logs of a run are not what its recorder wrote.
    """
    folder = named_run(source)
    if folder is None:
        return _decode_stream(source, agent, cap)
    info = folder.info()
    if how := find_tampering(folder.path):
        warnings.warn(f"the output of run {folder.name} was changed: {how}", stacklevel=2)
    named = agent or (info.agent if info else None)
    return decode_pieces(pieces(folder.path), named, folder.name, cap=cap)


def named_run(source: ByteSource) -> RunFolder | None:
    """The run that a source names, by its folder or its name; None if it is something else."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = Path(source).absolute()
    try:
        if (path / INFO).is_file():
            return RunFolder(path)
        if isinstance(source, str) and not path.exists():
            from nightrook.store.list import find_run  # few sources are names

            return find_run(home_folder(), source)
    except NightrookError:
        return None
    return None


def _decode_stream(source: ByteSource, agent: str | None, cap: int) -> Iterator[Record]:
    """Decode a stored stream; a file opened by its path is closed, an open file stays open."""
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
        """Name of the stream in errors."""
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
        """True if it is a session as its agent keeps it, rather than what the agent wrote."""
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


def text_of(line: Line) -> str:
    """A line as text, without its end; a line that is too long is replaced by a warning."""
    if isinstance(line, Oversized):
        return f"[rook] WARNING: skipped a line of {line.size / 1e6:.1f} MB"
    return line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


class StreamDecoder:
    """Decodes one stream. Without an agent's name it can look for the first known message.

    Records count from the first byte, so text before that message is `Unreadable` in them.
    """

    def __init__(
        self,
        agent: str | None = None,
        *,
        detect: bool = False,
        make: Callable[[str], Decoder] = agents.decoder,
    ) -> None:
        self.agent: str | None = None
        self.text_size = 0
        """Number of first bytes that are known to be text and no agent's message."""
        self._search: _Search = "on" if detect else "off"
        self._make = make
        self._held: list[Piece] = []  # every byte so far, while the agent is looked for
        self._held_size = 0
        self._line = bytearray()  # the unfinished last line of them
        self.decoder: Decoder | None = None
        """Decodes the rest, once the agent is known."""
        if agent is not None:
            self._choose(agent)

    @property
    def gave_up(self) -> bool:
        """True if so much text has come that no agent is looked for any more."""
        return self._search == "given up"

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the next bytes; return the records they complete."""
        if self.decoder is not None:
            return self.decoder.feed(data, at)
        if self._search != "on":
            self.text_size += len(data)
            return []
        self._held.append((data, at))
        self._held_size += len(data)
        end = data.rfind(b"\n") + 1
        lines = bytes(self._line) + data[:end] if end else b""
        if end:
            self._line.clear()
        self._line += data[end:]
        return self._look_at(lines)

    def close(self) -> list[Record]:
        """End the stream; its last line may lack a newline."""
        records = self._look_at(bytes(self._line)) if self._search == "on" else []
        return records if self.decoder is None else [*records, *self.decoder.close()]

    def _look_at(self, lines: bytes) -> list[Record]:
        """Look for a message in whole lines; if there is one, decode everything held so far."""
        found = agents.detect(lines) if lines else None
        if found is None:
            self.text_size += len(lines)
            if self._held_size > DETECTION_SIZE:
                self._search = "given up"
                self.text_size = self._held_size
                self._held, self._line = [], bytearray()
            return []
        for line in BytesIO(lines):
            if agents.detect(line) is not None:
                break
            self.text_size += len(line)
        decoder, held = self._choose(found.name), self._held
        self._held, self._line = [], bytearray()
        return [record for data, at in held for record in decoder.feed(data, at)]

    def _choose(self, name: str) -> Decoder:
        self.agent = name
        self._search = "off"
        self.decoder = self._make(name)
        return self.decoder


def open_source(path: str | PathLike[str]) -> BinaryIO:
    """Open a file for decoding; an UnreadableSourceError says why that failed.

    A log that was packed since is found by the path that it had before, too.
    """
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        packed = open_packed(Path(path)) if isinstance(error, FileNotFoundError) else None
        if packed is None:
            raise UnreadableSourceError(os.fspath(path), _why(error)) from error
        return cast(BinaryIO, LogStream(packed))


def is_file(source: object) -> TypeGuard[BinaryIO]:
    """True if a source is an open file."""
    return hasattr(source, "read")


def read_chunks(file: BinaryIO, name: str) -> Iterator[bytes]:
    """Read a file to its end as its bytes come; raise an UnreadableSourceError on a failure."""
    read: Any = getattr(file, "read1", file.read)  # what is there now, not what will be
    try:
        while chunk := read(CHUNK):
            yield chunk
    except OSError as error:
        raise UnreadableSourceError(name, _why(error)) from error


def name_of(source: object) -> str:
    """Return the name of a source in errors."""
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
