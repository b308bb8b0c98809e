"""Detects the agent of a stream, decodes what it wrote and folds it: nothing else decodes one."""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from typing import Literal

from nightrook import agents
from nightrook.adapter.lines import DEFAULT_CAP, Line, Oversized
from nightrook.model.errors import UnknownAgentError
from nightrook.model.events import PermissionRequested, UsageReported
from nightrook.model.fold import Beginning, Fold
from nightrook.model.price import Prices
from nightrook.model.records import Decoder, Record
from nightrook.model.state import RunState
from nightrook.prices import PriceBook
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo, beginning_of
from nightrook.story.tail import Piece, pieces

DETECTION_SIZE = DEFAULT_CAP
"""How many bytes of a stream may come before the first message that identifies the agent."""

_Search = Literal["off", "on", "given up"]


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
        """How many of the first bytes are known to be text and no agent's message."""
        self._search: _Search = "on" if detect else "off"
        self._make = make
        self._held: list[Piece] = []  # every byte so far, while the agent is looked for
        self._held_size = 0
        self._line = bytearray()  # the unfinished last line of them
        self._decoder: Decoder | None = None
        if agent is not None:
            self._choose(agent)

    @property
    def gave_up(self) -> bool:
        """Whether so much text has come that no agent is looked for any more."""
        return self._search == "given up"

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode the next bytes; return the records they complete."""
        if self._decoder is not None:
            return self._decoder.feed(data, at)
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
        return records if self._decoder is None else [*records, *self._decoder.close()]

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
        self._decoder = self._make(name)
        return self._decoder


class Source:
    """Decodes one stream and folds its records as they come.

    `beginning` is what is known before the first message. `find_model` returns the model of a
    session; it is called for tokens of a session whose model the stream has not reported.
    """

    def __init__(
        self,
        agent: str | None = None,
        *,
        detect: bool = False,
        beginning: Beginning | None = None,
        prices: Prices | None = None,
        find_model: Callable[[str], str | None] | None = None,
    ) -> None:
        self._find_model = find_model
        self._stream = StreamDecoder(agent, detect=detect)
        self._fold = Fold((), PriceBook() if prices is None else prices, beginning)

    @property
    def agent(self) -> str | None:
        """The name of the agent, once it is known."""
        return self._stream.agent

    @property
    def text_size(self) -> int:
        """How many of the first bytes are known to be text and no agent's message."""
        return self._stream.text_size

    @property
    def state(self) -> RunState:
        """The state after all records so far."""
        return self._fold.state

    def feed(self, data: bytes, at: float | None = None) -> list[Record]:
        """Decode and fold the next bytes; return the records they complete."""
        records = self._stream.feed(data, at)
        self._fold.take(self._with_model(records))
        return records

    def close(self) -> list[Record]:
        """End the stream and fold its last records."""
        records = self._stream.close()
        self._fold.take(self._with_model(records))
        return records

    def _with_model(self, records: list[Record]) -> Iterable[Record]:
        """The same records; the model is looked for when they need it, as they are folded."""
        if self._find_model is None or self.state.model is not None:
            return records
        return self._looking_for_model(records, self._find_model)

    def _looking_for_model(
        self, records: list[Record], find: Callable[[str], str | None]
    ) -> Iterator[Record]:
        for record in records:
            state = self.state
            is_unpriced = state.model is None and isinstance(record.event, UsageReported)
            if is_unpriced and state.session is not None and (model := find(state.session)):
                self._fold.assume_model(model)
            yield record

    def fold(self, record: Record) -> None:
        """Fold a record that was decoded elsewhere, unless it is folded already."""
        if record.seq == self._fold.state.records:
            self._fold.take((record,))

    def answered(self, event: PermissionRequested) -> None:
        """Note that a question was answered: the stream itself does not report that."""
        self._fold.answered(event)


def state_of(folder: RunFolder, info: RunInfo, prices: Prices) -> RunState | None:
    """The state of a run as far as its log goes; None if it is not a stream of a known agent."""
    try:
        source = Source(info.agent, detect=info.piped, beginning=beginning_of(info), prices=prices)
    except UnknownAgentError:
        return None
    for data, at in pieces(folder.path):
        source.feed(data, at)
    source.close()
    return None if source.agent is None else source.state
