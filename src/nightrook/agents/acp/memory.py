"""The memory of the reader of an ACP stream, in addition to what all agents need."""

from collections.abc import Callable, Sequence

from nightrook.adapter import memory
from nightrook.adapter.memory import forget_oldest
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.acp import calls, shapes
from nightrook.agents.acp.dialects import Dialect, dialect_of
from nightrook.model.events import (
    Event,
    FileChanged,
    PlanItem,
    Replayed,
    ReplayedKind,
    SessionStarted,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
)

_MOST_ASKED = 4096
_MOST_WAITING = 1000


def no_messages(line: bytes) -> None:
    """Read no message in a line that is not JSON."""


class Memory(memory.Memory):
    """The state of one stream: its session, turn, calls, tokens and repeated messages."""

    def __init__(self, dialect: Dialect | None = None) -> None:
        super().__init__()
        self.dialect = dialect
        self.name_of = calls.name_reader(dialect)
        self.parent_of = calls.parent_reader(dialect)
        self.version: str | None = None
        self.login: str | None = None  # how the agent says that a person logs in
        self.read_several: Callable[[bytes], Sequence[Event] | None] = no_messages
        self.is_led = False  # True if rook wrote the requests; their ids are then method names
        self.session: str | None = None
        self.is_announced = False  # whether the start of the session was reported
        self.is_resumed = False
        self.model: str | None = None
        self.mode: str | None = None
        self.plan: tuple[PlanItem, ...] | None = None
        self.replaying = False  # whether updates repeat what was said before
        self.has_replayed = False
        self.replays_late = False  # whether they still do after the session was opened
        self.echoes = False  # whether the agent repeats each prompt
        self.is_over = False  # whether our only prompt has its result
        self.asked: dict[str, bool] = {}  # calls that needed permission, and whether they ran on
        self.requests_named: dict[str, tuple[str | None, int]] = {}  # the last call, and how many
        self.waiting: dict[str, shapes.AnyCall] = {}  # calls of which little is known yet
        self.changes: dict[str, list[FileChanged]] = {}  # of open calls
        self.refused_last = False  # whether nothing was said since a call was denied
        self.has_called = False  # whether there was a tool call in this turn
        self.has_delegated = False  # whether there was one to a subagent
        self.has_worked = False  # whether there was one at all, or a word
        self.tokens: shapes.Tokens | None = None  # the agent's total at the last result
        self.cost: float | None = None  # its total now
        self.settled_cost: float | None = None  # its total at the last result
        self.requests = 0
        self.current: object = self  # the session, once its start was reported
        self.piece_of: type[shapes.AnyChunk] | None = None  # what the partial text consists of
        self._delta: type[TextDelta] | type[ThinkingDelta] = TextDelta
        self._message: str | None = None  # the one that the partial text is part of
        self._replayed: tuple[ReplayedKind, str | None] | None = None  # repeated in pieces
        self._replayed_pieces: list[str] = []
        self._replayed_calls: dict[str, None] = {}

    def meet(self, hello: shapes.Result) -> None:
        """Remember which agent it is."""
        info = hello.agent_info or shapes.AgentInfo()
        self.dialect, self.version = dialect_of(info.name) or self.dialect, info.version
        self.name_of = calls.name_reader(self.dialect)
        self.parent_of = calls.parent_reader(self.dialect)
        ways = (method.description for method in hello.auth_methods or ())
        self.login = next(filter(None, ways), None)
        # guards: replay-is-no-news
        self.replaying = True  # until there is a session

    def announce(self) -> list[Event]:
        """Report the start of the session, once it has a name."""
        if self.is_announced or self.session in self.sessions:
            return []
        self.is_announced, self.current = True, self.session
        self.sessions.add(self.session)
        return [
            SessionStarted(
                session=self.session,
                model=self.model,
                version=self.version,
                permission_mode=self.mode,
            )
        ]

    def read_text(self, line: bytes) -> Sequence[Event] | None:
        """Read a line that is not JSON: it may have messages without a newline before them."""
        return self.read_several(line)

    @property
    def has_unnamed_text(self) -> bool:
        """True if a text arrives in pieces that name no message."""
        return self.partial_id is not None and self._message is None

    def is_of_another(self, session: str | None) -> bool:
        """True if a message is about another session than ours."""
        return session is not None and self.session is not None and session != self.session

    def begin_turn(self) -> list[Event]:
        """Open a turn, unless one is open; after the only one of ours there is no other."""
        if self.in_turn or self.is_over:
            return []
        self.has_called = self.has_delegated = self.refused_last = False
        return super().begin_turn()

    def add_piece(self, chunk: shapes.AnyChunk, text: str, *, thinking: bool) -> list[Event]:
        """Start a text or thought; both may have the id of the same message."""
        self.has_worked = True
        events = [*([] if self.in_turn else self.begin_turn()), *self.end_text()]
        events += self.add_delta(self.new_id("text"), text, thinking=thinking)
        self.piece_of, self._message = type(chunk), chunk.message_id
        self._delta = ThinkingDelta if thinking else TextDelta
        return events

    def continued(self, chunk: shapes.AnyChunk) -> Event | None:
        """Add the next piece of the partial text; None if it belongs to another one."""
        content = chunk.content
        if content is None or not content.text or chunk.message_id != self._message:
            return None
        assert self.partial_id is not None
        self.pieces.append(content.text)
        return self._delta(id=self.partial_id, text=content.text)

    def end_text(self) -> list[Event]:
        """Return the complete text or thought that arrived in pieces, if there is one."""
        self.piece_of = None
        return super().end_text()

    def replay_call(self, id: str) -> bool:
        """Remember that a call was repeated; False if it was before."""
        self.has_replayed = True
        if id in self._replayed_calls:
            return False
        self._replayed_calls[id] = None
        forget_oldest(self._replayed_calls, _MOST_ASKED)
        return True

    def replay(self, kind: ReplayedKind, id: str | None, text: str) -> list[Event]:
        """Add a piece of a text that is repeated; a piece of another one completes it."""
        self.has_replayed = True
        events = [] if self._replayed == (kind, id) else self.end_replay()
        self._replayed = (kind, id)
        self._replayed_pieces.append(text)
        return events

    def end_replay(self) -> list[Event]:
        """Report the text that was repeated in pieces."""
        if self._replayed is None:
            return []
        (kind, id), text = self._replayed, "".join(self._replayed_pieces)
        self._replayed, self._replayed_pieces = None, []
        if not text:
            return []
        return [Replayed(kind=kind, id=id, text=text)]

    def wait(self, id: str, call: shapes.AnyCall, before: shapes.AnyCall | None) -> None:
        """Hold back the start of a call until a later message completes it."""
        call.name = (before and before.name) or call.name or self.name_of(call)
        if before is not None:
            call.title, call.kind = call.title or before.title, call.kind or before.kind
        call.content = call.locations = call.raw_output = NOTHING
        call.raw_input = calls.input_of(call) or NOTHING  # a copy does not keep its line
        self.waiting[id] = call

    def started(
        self, id: str, call: shapes.AnyCall, about: str | None, before: shapes.AnyCall | None
    ) -> ToolStarted:
        """The start of a call, with what earlier messages said about it."""
        name, parent, title = call.name or self.name_of(call), self.parent_of(call), call.title
        kind = calls.kind_of(call, name)
        if before is not None:
            name = before.name or name
            parent, title = parent or self.parent_of(before), title or before.title
            kind = calls.kind_of(before if call.kind is None else call, name)
        return ToolStarted(
            id=id,
            name=name or kind,
            kind=kind,
            title=calls.one_title(about or (title if title != name else None)),
            input=calls.input_of(call),
            parent=parent,
        )

    def begin(self, started: ToolStarted) -> list[Event]:
        """Record the start of a call that is new."""
        self.has_called = self.has_worked = True
        if started.kind == "subagent":
            self.has_delegated = True
        self.tools[started.id] = started
        return [started]

    def trim(self) -> list[Event]:
        """Drop the oldest state above the limits."""
        events = super().trim()
        self.changes = {id: made for id, made in self.changes.items() if id in self.tools}
        if len(self.waiting) > _MOST_WAITING:
            events += release_all(self)
        if sum(map(len, self._replayed_pieces)) > memory.LONGEST_TEXT:
            events += self.end_replay()
        return events

    def abandon(self) -> list[Event]:
        """End everything open, at the end of the stream."""
        events = [*self.end_replay(), *release_all(self)]
        self.changes.clear()
        return [*events, *super().abandon()]

    def close(self) -> tuple[Sequence[Event], int]:
        """End everything open; a call whose start was held back is open, too."""
        events = self.abandon()
        return events, sum(isinstance(event, ToolFinished) for event in events)

    def release(self, id: str) -> list[Event]:
        """Report the start of a call that was held back."""
        call = self.waiting.pop(id, None)
        return [] if call is None else self.begin(self.started(id, call, None, None))


def release_all(memory: Memory) -> list[Event]:
    """Report the starts of all calls that were held back."""
    return [event for id in [*memory.waiting] for event in memory.release(id)]


def name_request(memory: Memory, id: str, call: str | None) -> str:
    """A name for a request for permission: its id, which the agent may use for another call."""
    last, times = memory.requests_named.pop(id, (call, 1))
    times += last != call  # guards: request-id-used-again
    memory.requests_named[id] = call, times
    forget_oldest(memory.requests_named, _MOST_ASKED)
    return id if times == 1 else f"{id}#{times}"


def remember_asked(memory: Memory, id: str) -> None:
    """Remember that a call needed permission."""
    memory.asked[id] = False
    forget_oldest(memory.asked, _MOST_ASKED)
