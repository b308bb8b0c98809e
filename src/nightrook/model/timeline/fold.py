"""The fold from records to the items of a timeline, each changed in place."""

from array import array
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from nightrook.model.events import (
    ContextCompacted,
    Denial,
    Error,
    FileChanged,
    LimitReported,
    ModeChanged,
    ModelChanged,
    Notice,
    PermissionDenied,
    PermissionRequested,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UsageReported,
    UserMessage,
)
from nightrook.model.records import Record
from nightrook.model.text import cut, first_line
from nightrook.model.timeline.items import Item, ItemKind, Items, PackedItem, Place, pack, unpack

LONGEST_FIRST_LINE = 200
_LONGEST_TITLE = 1000  # a path is shown whole
_LONGEST_DETAIL = 300
_LONGEST_KEY = 200
_MOST_REMEMBERED = 1024  # calls that have ended and may still be referred to
_MOST_DRAFTS = 64


class Draft(msgspec.Struct):
    """A text or thought that is still being written; it is not an item yet."""

    kind: Literal["text", "thinking"]
    parent: str | None
    begin: float | None
    size: int = 0


class Timeline:
    """Folds records into items. A record that was folded before changes nothing.

    Deltas change `drafts` only: without them, the items are the same.
    """

    def __init__(self) -> None:
        self.seq = 0
        """The number of the next record."""
        self.drafts: dict[str, Draft] = {}
        """Unfinished texts, by id."""
        self._packed: list[bytes] = []
        self.items = Items(self._packed)
        self._changes = array("I")  # the items in the order of their changes
        self._calls: dict[str, int] = {}  # open calls and subagents, by their ids
        self._ended: dict[str, int] = {}  # the latest calls that have ended
        self._tasks: dict[str, int] = {}
        self._questions: dict[str | None, int] = {}
        self._denied: set[str] = set()  # the calls that were denied
        self._limits: dict[str | None, int] = {}
        self._turns: list[int] = []  # those that have not ended, the oldest first
        self._turn: int | None = None
        self._retry: int | None = None

    @property
    def revision(self) -> int:
        """The number of changes so far."""
        return len(self._changes)

    def take(self, records: Iterable[Record]) -> None:
        """Fold the next records; a ValueError refuses one that skips others."""
        for record in records:
            if record.seq < self.seq:
                continue
            if record.seq > self.seq:
                raise ValueError(f"record {record.seq} is not the next one, {self.seq}")
            self.seq += 1
            fold = _FOLDS.get(record.event.__class__)
            if fold is not None:
                fold(self, record.event, record)

    def changes(self, after: int = 0, limit: int | None = None) -> list[Item]:
        """The items that changed after a revision, as they are now, in the order of their changes.

        With a limit, the next call continues after the revision of the last item.
        """
        changed: list[Item] = []
        for revision, number in enumerate(self._changes[max(0, after) :], max(0, after) + 1):
            if len(changed) == limit:
                break
            item = self.items[number]
            if item.revision == revision:
                changed.append(item)
        return changed

    def _add(self, kind: ItemKind, record: Record, /, **fields: Any) -> int:
        id = len(self._packed)
        self._changes.append(id)
        item = PackedItem(
            id,
            kind,
            record.seq,
            len(self._changes),
            turn=self._turn,
            begin=record.at,
            place=Place(record.offset, record.length),
            **fields,
        )
        self._packed.append(pack(item))
        return id

    def _change(self, id: int, /, **fields: Any) -> None:
        self._changes.append(id)
        item = unpack(self._packed[id])
        changed = msgspec.structs.replace(item, revision=len(self._changes), **fields)
        self._packed[id] = pack(changed)

    def _moment(self, kind: ItemKind, record: Record, **fields: Any) -> None:
        """Add an item that begins and ends at once."""
        self._add(kind, record, end=record.at, **fields)

    def _end(self, id: int, record: Record, /, **fields: Any) -> None:
        place = Place(record.offset, record.length)
        self._change(id, end=record.at, result=place, **fields)

    def _call(self, id: str | None) -> int | None:
        """The item of a call that is open or ended lately."""
        if id is None:
            return None
        number = self._calls.get(id)
        return self._ended.get(id) if number is None else number

    def _answer(self, id: str | None, record: Record, status: str = "ok") -> None:
        """End a question: what follows it shows that it was answered."""
        number = self._questions.pop(id, None)
        if number is not None:
            self._end(number, record, status=status)

    def _answer_all(self, record: Record) -> None:
        for id in list(self._questions):
            self._answer(id, record)

    def _end_retry(self, record: Record) -> None:
        if self._retry is not None:
            self._end(self._retry, record, status="ok")
            self._retry = None


def _session_started(line: Timeline, event: SessionStarted, record: Record) -> None:
    line._moment(
        "session",
        record,
        key=_key(event.session),
        title=_short(event.model),
        name=_short(event.version),
        detail=_short(event.cwd, _LONGEST_TITLE),
    )


def _turn_started(line: Timeline, event: TurnStarted, record: Record) -> None:
    line._turn = None
    line._turn = line._add("turn", record, name=_short(event.origin))
    line._turns.append(line._turn)


def _turn_finished(line: Timeline, event: TurnFinished, record: Record) -> None:
    line._answer_all(record)
    line._end_retry(record)
    for denial in event.denials or ():
        _denied(line, denial, record)
    number = line._turns.pop(0) if line._turns else line._add("turn", record)
    line._end(
        number,
        record,
        status="ok" if event.ok else "error",
        detail=None if event.ok else _short(_why(event), _LONGEST_DETAIL),
        number=event.turns,
        cost_usd=event.cost_usd,
    )


def _message(line: Timeline, event: UserMessage, record: Record) -> None:
    _said(line, "message", event.text, record, parent=line._call(event.parent))


def _text(line: Timeline, event: Text, record: Record) -> None:
    line.drafts.pop(event.id, None)
    if event.parent is None:
        line._answer_all(record)
        line._end_retry(record)
    parent = line._call(event.parent)
    _said(line, "text", event.text, record, key=_key(event.id), parent=parent)


def _thinking(line: Timeline, event: Thinking, record: Record) -> None:
    line.drafts.pop(event.id, None)
    parent = line._call(event.parent)
    _said(line, "thinking", event.text or "", record, key=_key(event.id), parent=parent)


def _said(line: Timeline, kind: ItemKind, text: str, record: Record, **fields: Any) -> None:
    line._moment(kind, record, title=first_line(text, LONGEST_FIRST_LINE), size=len(text), **fields)


def _writes(line: Timeline, event: TextDelta, record: Record) -> None:
    _draft(line, event, "text", record)


def _thinks(line: Timeline, event: ThinkingDelta, record: Record) -> None:
    _draft(line, event, "thinking", record)


def _draft(
    line: Timeline,
    event: TextDelta | ThinkingDelta,
    kind: Literal["text", "thinking"],
    record: Record,
) -> None:
    draft = line.drafts.get(event.id)
    if draft is None:
        if len(line.drafts) >= _MOST_DRAFTS:  # guards: drafts-bounded
            del line.drafts[next(iter(line.drafts))]
        draft = line.drafts[event.id] = Draft(kind, event.parent, record.at)
    draft.size += len(event.text)


def _tool_started(line: Timeline, event: ToolStarted, record: Record) -> None:
    line._end_retry(record)
    line._calls[event.id] = line._add(
        "subagent" if event.kind == "subagent" else "tool",
        record,
        key=_key(event.id),
        parent=line._call(event.parent),
        title=_short(event.title, _LONGEST_TITLE),
        name=_short(event.name),
        tool=event.kind,
        subagent=_short(event.subagent),
    )


def _tool_progress(line: Timeline, event: ToolProgress, record: Record) -> None:
    line._answer(event.id, record)  # what runs was allowed


def _tool_finished(line: Timeline, event: ToolFinished, record: Record) -> None:
    line._answer(event.id, record)
    number = line._calls.pop(event.id, None)
    if number is None:
        kind: ItemKind = "subagent" if event.kind == "subagent" else "tool"
        parent = line._call(event.parent)
        fields = {"key": _key(event.id), "parent": parent, "tool": event.kind}
        number = line._add(kind, record, name=_short(event.name), **fields)
    output = event.output if event.output is not None else event.error
    line._end(
        number,
        record,
        status="denied" if event.id in line._denied else event.status,
        detail=_short(event.error, _LONGEST_DETAIL),
        exit_code=event.exit_code,
        size=None if output is None else len(output),
    )
    line._ended[event.id] = number
    if len(line._ended) > _MOST_REMEMBERED:
        del line._ended[next(iter(line._ended))]


def _file_changed(line: Timeline, event: FileChanged, record: Record) -> None:
    line._moment(
        "file",
        record,
        parent=line._call(event.tool_id),
        title=cut(event.path, _LONGEST_TITLE),
        name=event.change,
        added=event.added,
        removed=event.removed,
    )


def _task_started(line: Timeline, event: TaskStarted, record: Record) -> None:
    line._answer(event.tool_id, record)
    line._tasks[event.id] = line._add(
        "task",
        record,
        key=_key(event.id),
        parent=line._call(event.tool_id),
        title=_short(event.title, _LONGEST_TITLE),
        name=event.kind,
    )


def _task_finished(line: Timeline, event: TaskFinished, record: Record) -> None:
    number = line._tasks.pop(event.id, None)
    if number is None:
        parent = line._call(event.tool_id)
        fields = {"key": _key(event.id), "parent": parent, "name": event.kind}
        number = line._add("task", record, title=_short(event.title, _LONGEST_TITLE), **fields)
    line._end(number, record, status=event.status, detail=_short(event.summary, _LONGEST_DETAIL))


def _permission_requested(line: Timeline, event: PermissionRequested, record: Record) -> None:
    call = line._call(event.tool_id)
    line._questions[event.tool_id or event.id] = line._add(
        "question",
        record,
        key=_key(event.id),
        parent=call,
        title=None if call is None else line.items[call].title,
        name=_short(event.name),
        detail=_short(event.reason, _LONGEST_DETAIL),
    )


def _permission_denied(line: Timeline, event: PermissionDenied, record: Record) -> None:
    line._answer(event.tool_id, record, "denied")
    _denied(line, event, record)


def _denied(line: Timeline, event: PermissionDenied | Denial, record: Record) -> None:
    """List a denial, once for each call, and mark the call."""
    if event.tool_id is not None:
        if event.tool_id in line._denied:
            return
        line._denied.add(event.tool_id)
    call = line._call(event.tool_id)
    known = None if call is None else line.items[call]
    if call is not None and known is not None and known.status not in (None, "denied"):
        line._change(call, status="denied")
    line._moment(
        "denial",
        record,
        key=_key(event.tool_id),
        parent=call,
        title=known.title if known else None,
        name=_short(event.name) or (known.name if known else None),
        tool=known.tool if known else None,
        detail=_short(event.fix, _LONGEST_DETAIL),
    )


def _retrying(line: Timeline, event: Retrying, record: Record) -> None:
    """Keep one item for all attempts at the same call."""
    reason = (event.reason or "a call failed").replace("_", " ")
    status = "" if event.status is None else f" ({event.status})"
    fields = {
        "title": cut(f"{reason}{status}", _LONGEST_DETAIL),
        "number": event.attempt,
        "of": event.max_attempts,
    }
    if line._retry is None:
        line._retry = line._add("retry", record, **fields)
    else:
        line._change(line._retry, **fields)


def _limit_reported(line: Timeline, event: LimitReported, record: Record) -> None:
    """Change the window's item; a new status is a new item."""
    number = line._limits.get(event.window)
    if number is not None and line.items[number].status == event.status:
        if line.items[number].used != event.used:
            line._change(number, used=event.used)
        return
    fields = {"name": _short(event.window), "status": event.status, "used": event.used}
    line._limits[event.window] = line._add("limit", record, **fields)


def _error(line: Timeline, event: Error, record: Record) -> None:
    line._moment("error", record, title=_short(event.message, _LONGEST_DETAIL), name=event.kind)


def _notice(line: Timeline, event: Notice, record: Record) -> None:
    line._moment("notice", record, title=_short(event.text, _LONGEST_DETAIL), name=event.level)


def _compacted(line: Timeline, event: ContextCompacted, record: Record) -> None:
    line._moment("compaction", record, number=event.before_tokens, of=event.after_tokens)


def _model_changed(line: Timeline, event: ModelChanged, record: Record) -> None:
    detail = _short(event.reason, _LONGEST_DETAIL)
    line._moment(
        "model", record, title=_short(event.after), name=_short(event.before), detail=detail
    )


def _mode_changed(line: Timeline, event: ModeChanged, record: Record) -> None:
    line._answer_all(record)
    line._moment("mode", record, title=_short(event.mode))


def _usage_reported(line: Timeline, event: UsageReported, record: Record) -> None:
    line._end_retry(record)  # the model has answered


def _unknown(line: Timeline, event: Unknown, record: Record) -> None:
    line._moment("unknown", record, title=_short(event.name))


def _unreadable(line: Timeline, event: Unreadable, record: Record) -> None:
    title = _short(event.preview, _LONGEST_DETAIL)
    line._moment("unreadable", record, title=title, name=event.reason, size=record.length)


def _stream_closed(line: Timeline, event: StreamClosed, record: Record) -> None:
    """End the turns that have no result."""
    line.drafts.clear()
    for number in line._turns:
        line._end(number, record, status="orphaned")
    line._turns.clear()


_FOLDS: dict[type, Callable[[Timeline, Any, Record], None]] = {
    SessionStarted: _session_started,
    TurnStarted: _turn_started,
    TurnFinished: _turn_finished,
    UserMessage: _message,
    Text: _text,
    TextDelta: _writes,
    Thinking: _thinking,
    ThinkingDelta: _thinks,
    ToolStarted: _tool_started,
    ToolProgress: _tool_progress,
    ToolFinished: _tool_finished,
    FileChanged: _file_changed,
    TaskStarted: _task_started,
    TaskFinished: _task_finished,
    PermissionRequested: _permission_requested,
    PermissionDenied: _permission_denied,
    Retrying: _retrying,
    LimitReported: _limit_reported,
    Error: _error,
    Notice: _notice,
    ContextCompacted: _compacted,
    ModelChanged: _model_changed,
    ModeChanged: _mode_changed,
    UsageReported: _usage_reported,
    Unknown: _unknown,
    Unreadable: _unreadable,
    StreamClosed: _stream_closed,
}


def _key(text: str | None) -> str | None:
    return _short(text, _LONGEST_KEY)


def _short(text: str | None, most: int = LONGEST_FIRST_LINE) -> str | None:
    return None if text is None else cut(text, most)


def _why(event: TurnFinished) -> str | None:
    """Return the reason why a turn failed: the agent's first error, else its reason."""
    errors = (text for text in event.errors or () if text.strip())
    reason = (event.reason or "").replace("_", " ") or None
    return reason if event.reason == "interrupted" else next(errors, reason)
