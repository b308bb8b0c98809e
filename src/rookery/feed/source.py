"""Turns a stream into what there is to tell of it, also while nobody knows who writes it."""

from typing import Literal, NamedTuple

from rookery import agents
from rookery.adapter.lines import DEFAULT_CAP, Line, LineBuffer, Oversized
from rookery.model.fold import Beginning, FoldingDecoder
from rookery.model.records import Record
from rookery.model.state import RunState
from rookery.prices import PriceBook


class Said(NamedTuple):
    """A line that is no message of an agent we know."""

    stream: Literal["stdout", "stderr"]
    text: str


Told = Record | Said


def text_of(line: Line) -> str:
    """A line as text, without its end; of one that is too long, only that it is."""
    if isinstance(line, Oversized):
        return f"[rook] WARNING: skipped a line of {line.size / 1e6:.1f} MB"
    return line.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


class Reading:
    """Reads one stream: an agent's messages as records, folded, and all else as lines of text.

    With `detect`, the first message that an agent recognises as its own tells who writes. The
    `beginning` is what is known before the first of them.
    """

    def __init__(
        self, agent: str | None, *, detect: bool = False, beginning: Beginning | None = None
    ) -> None:
        self._detect = detect
        self._beginning = beginning
        self._lines = LineBuffer()
        self._read = 0  # bytes of the lines that were told as text
        self._head = bytearray()  # all bytes so far, while a decoder may yet have to read them
        self._decoder: FoldingDecoder | None = None
        self._nothing = RunState()
        self.agent: str | None = None
        if agent is not None:
            self._choose(agent)

    @property
    def state(self) -> RunState:
        """What the messages tell so far."""
        return self._nothing if self._decoder is None else self._decoder.state

    @property
    def only_text(self) -> bool:
        """Whether lines came, and none of them was a message."""
        return self._decoder is None and self._read > 0

    def feed(self, data: bytes, at: float | None = None) -> list[Told]:
        """Take the next bytes and give what they complete."""
        if self._decoder is not None:
            return [*self._decoder.feed(data, at)]
        if self._detect:
            self._head += data
        return self._tell(self._lines.feed(data), at)

    def close(self) -> list[Told]:
        """End the stream; a last line may lack its newline."""
        told: list[Told] = []
        if self._decoder is None and (last := self._lines.close()) is not None:
            told = self._tell([last], None)
        return told if self._decoder is None else [*told, *self._decoder.close()]

    def _tell(self, lines: list[Line], at: float | None) -> list[Told]:
        """Give lines as text, up to the one that tells the agent."""
        told: list[Told] = []
        for line in lines:
            if self._detect and isinstance(line, bytes) and (found := agents.detect(line)):
                return told + self._read_again(found.name, at)
            self._read += line.size if isinstance(line, Oversized) else len(line)
            told.append(Said("stdout", text_of(line)))
        if self._read > DEFAULT_CAP:  # so much text is no agent's
            self._detect = False
            self._head.clear()
        return told

    def _read_again(self, agent: str, at: float | None) -> list[Told]:
        """Decode everything from the first byte, and tell what was not told as text."""
        records = self._choose(agent).feed(bytes(self._head), at)
        self._head.clear()
        return [record for record in records if record.offset >= self._read]

    def _choose(self, name: str) -> FoldingDecoder:
        self.agent = name
        self._decoder = FoldingDecoder(agents.decoder(name), PriceBook(), self._beginning)
        return self._decoder
