"""The words for each event, shared by all displays, and the state needed to choose them.

Functions turn an event into a `Line`. `Calls` matches the ends of tool calls with their starts,
`ShownTexts` knows which of the agent's texts were shown whole, and `RunContext` is what a display
knows of a run beside its records.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from nightrook.display import numbers
from nightrook.display.numbers import price
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    LimitReported,
    ModelChanged,
    Notice,
    PermissionDenied,
    Replayed,
    Retrying,
    SessionStarted,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)
from nightrook.model.ledger import Money
from nightrook.model.permissions import PERMIT_ALL, PERMIT_EDITS
from nightrook.model.records import Record
from nightrook.model.snapshot import Retry, RunningTool, Snapshot
from nightrook.model.text import cut, first_line, from_home, one_line, relative

Role = Literal["tool", "text", "error", "cost", "note", "output"]
"""The subject of a line; it decides the colour of the line's head."""

_LONGEST: Mapping[str, int] = {"execute": 60, "subagent": 40, "search": 40, "fetch": 50}
_LONGEST_OTHER = 60
_LONGEST_TEXT = 80
_LONGEST_OUTPUT = 100
_LONGEST_REASON = 300
_LONGEST_RULE = 200
_INDENT = "    "
PATHS = frozenset({"read", "edit", "list", "delete", "move"})
"""The kinds of tools whose title is a path."""

FAILED = frozenset({"error", "timed_out"})
"""The statuses of a tool call whose error is shown."""


_ALWAYS_SHOWN = (Retrying, ContextCompacted, ModelChanged)

DETAILS: frozenset[type] = frozenset(
    {
        ContextCompacted,
        LimitReported,
        ModelChanged,
        Notice,
        Replayed,
        Retrying,
        Thinking,
        Unknown,
        Unreadable,
    }
)
"""The events that can have a warning or details; the many others are skipped."""


class Line(NamedTuple):
    """A line without its prefix: a head that may have a colour, the rest, and the right side.

    None of it is safe to print: `safe_line` is for the one who prints.
    """

    role: Role
    head: str
    rest: str = ""
    aside: tuple[str, ...] = ()


class Call(NamedTuple):
    """A tool call that is shown."""

    name: str
    about: str
    path: str | None
    """The whole path, if the call is about a file."""

    kind: str
    at: float | None
    parent: str | None

    @property
    def words(self) -> str:
        """The call in one line."""
        return f"{self.name}: {self.about}" if self.about else self.name

    def line(self, *aside: str) -> Line:
        """The line that shows the call."""
        return Line("tool", self.name, f": {self.about}" if self.about else "", aside)


def call(started: ToolStarted | RunningTool, at: float | None, cwd: str | None) -> Call:
    """Describe a tool call by its path in the working folder, its command or its pattern."""
    title, kind, path = started.title, started.kind or "other", None
    if not title:
        about = ""
    elif kind in PATHS:
        about, path = relative(title, cwd), title
    else:
        about = cut(title, _LONGEST.get(kind, _LONGEST_OTHER))
    return Call(started.name or "a tool", about, path, kind, at, started.parent)


def text(said: str) -> Line:
    """The first line of an agent's text, in quotes."""
    return _quoted(first_line(said, _LONGEST_TEXT))


def whole_text(said: str) -> Iterator[Line]:
    """The agent's whole text in quotes.

    Lines after the first are indented further than anything else, so that none can pass for
    something that a display wrote.
    """
    first, *more = said.strip().expandtabs().split("\n")
    if not more:
        yield _quoted(first)
        return
    yield Line("text", f'"{first.rstrip()}')
    for number, line in enumerate(more, start=1):
        end = '"' if number == len(more) else ""
        yield Line("text", f"{_INDENT}{line.rstrip()}{end}" if line.strip() else "")


def is_shown_whole(said: str) -> bool:
    """True if the line of a text shows all of it."""
    return len(said.strip()) <= _LONGEST_TEXT and "\n" not in said.strip()


def _quoted(line: str) -> Line:
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return Line("text", f'"{escaped}"')


def failed(finished: ToolFinished, *aside: str) -> Line:
    """Return the error of a failed tool call: its exit code and its message."""
    message = (finished.error or finished.status.replace("_", " ")).removeprefix("Error: ")
    if finished.exit_code is not None:
        first, _, rest = (finished.error or "").partition("\n")
        # Some agents put the code before what the command wrote.
        coded = first == f"Exit code {finished.exit_code}"
        said = (rest if coded else finished.error or "").strip()
        message = f"exit {finished.exit_code}" + (f": {said}" if said else "")
    return Line("error", f"ERROR: {one_line(message, _LONGEST_OUTPUT)}", aside=aside)


def cancelled(finished: ToolFinished, known: Call | None) -> Line:
    """The words for a cancelled tool call."""
    return Line("error", f"CANCELLED: {known.words if known else finished.name or 'a tool'}")


def output(finished: ToolFinished, *aside: str) -> Line | None:
    """The output of a tool; None if it was only white space."""
    if not (finished.output or "").strip():
        return None
    return Line("output", f"  -> {one_line(finished.output or '', _LONGEST_OUTPUT)}", aside=aside)


def changed(counted: str) -> Line:
    """The number of lines that an edit changed."""
    return Line("output", f"  {counted}")


def only_took(duration: str) -> Line:
    """The duration of a call that returned nothing."""
    return Line("output", f"  took {duration}")


def cut_off(known: Call) -> Line:
    """The words for a tool call that the stream did not see end."""
    return Line("error", f"CUT OFF: {known.words}")


def took(known: Call | None, at: float | None, *, shortest: float = 0.1) -> str | None:
    """The duration of a call; None if it is unknown or too short to show."""
    seconds = None if known is None else elapsed_s(known.at, at)
    if seconds is None or seconds < shortest:
        return None
    return f"{seconds:.1f}s" if seconds < 60 else duration(seconds)


def denied(event: PermissionDenied, known: Call | None, *, by_person: bool = False) -> Line:
    """The words for a denied tool call, and the rule or permission that would allow it.

    A person who said no needs no advice on how to allow it.
    """
    fix = "" if by_person else event.fix or ""
    short = len(fix) <= _LONGEST_RULE and "\n" not in fix  # otherwise it is too long to type
    words = known.words if known else event.name or "a tool"
    quoted = shlex.quote(fix)  # guards: denied-rule-quoted
    shown = fix if is_permission(fix) else f"'{fix}'" if quoted == fix else quoted
    return Line("error", "DENIED", f": {words}", (f"allow it: {shown}",) if fix and short else ())


def is_permission(fix: str) -> bool:
    """True for a denied call that a permission would allow, not a rule."""
    return fix in (PERMIT_EDITS, PERMIT_ALL)


def allowing_option(fix: str) -> str:
    """The option of a command that would allow a denied call, by its rule or its permission."""
    return fix if is_permission(fix) else f"--allow {shlex.quote(fix)}"


def error(event: Error) -> Line:
    """A failure that is not a tool's."""
    return Line("error", f"ERROR: {one_line(event.message or event.kind, _LONGEST_OUTPUT)}")


def ending(ended: TurnFinished, cost: Callable[[], Money]) -> Line:
    """The end and the cost of a turn; `cost` returns the cost that is known without its event."""
    if not ended.ok:
        return Line("error", f"FAILED: {cut(_reason(ended), _LONGEST_REASON)}")
    known = cost()
    if ended.cost_usd is not None:
        known = Money(ended.cost_usd, "native", known.at_least)
    return Line("cost", f"Complete (cost: {price(known)})")


def warning(record: Record) -> str | None:
    """Warn about a line that could not be read."""
    match record.event:
        case Unreadable(reason="oversized"):
            size = f"{record.length / 1e6:.1f} MB"
            return (
                f"cannot show all of a line of {size}: it is at byte {record.offset} of the output"
            )
        case Unreadable(reason="truncated"):
            return "the last line was cut off"
    return None


def details(record: Record, *, verbose: bool) -> Iterator[Line]:
    """Lines about retries and limits; with `verbose` also thinking, earlier turns, notices."""
    if not verbose and not _matters(record.event):
        return
    match record.event:
        case Thinking(text=said) if said and said.strip():
            yield Line("note", f"(thinks) {first_line(said, _LONGEST_TEXT)}")
        case Replayed(name=name, text=said):
            words = ": ".join(filter(None, (name, first_line(said or "", _LONGEST_TEXT))))
            yield Line("note", f"(earlier) {words or 'a call'}")
        case Retrying() as event:
            yield retry(event)
        case LimitReported() as event if event.status != "allowed" or event.used is not None:
            yield limit(event)
        case ContextCompacted() as event:
            before, after = event.before_tokens, event.after_tokens
            yield Line("note", "COMPACTED", f": {_known(before)} to {_known(after)} tokens")
        case ModelChanged() as event:
            why = f" ({event.reason})" if event.reason else ""
            yield Line("note", "MODEL", f": {event.before or '?'} to {event.after or '?'}{why}")
        case Notice() as event:
            yield Line("note", "NOTE", f": {one_line(event.text, _LONGEST_OUTPUT)}")
        case Unknown(name=name):
            yield Line("note", f"unknown message type: {one_line(name or 'none', _LONGEST_OUTPUT)}")
        case Unreadable(preview=preview) if preview and preview.strip():
            yield Line("note", "NOISE", f": {one_line(preview, _LONGEST_OUTPUT)}")


def _matters(event: Event) -> bool:
    """True for a detail that is shown without --verbose, too: the run would seem to hang."""
    if isinstance(event, LimitReported):
        return event.status not in ("allowed", None)
    return isinstance(event, _ALWAYS_SHOWN)


def retry(event: Retrying | Retry) -> Line:
    """The words for a call to the model that failed and is tried again."""
    words = (event.reason or "a call failed").replace("_", " ")
    status = "" if event.status is None else f" ({event.status})"
    attempt = "" if event.attempt is None else f", attempt {event.attempt}"
    most = "" if event.max_attempts is None else f" of {event.max_attempts}"
    delay = "" if event.delay_s is None else f" in {event.delay_s:.0f}s"
    return Line("note", "RETRY", f": {words}{status}{attempt}{most}{delay}")


def limit(event: LimitReported) -> Line:
    """The used part of a provider's limit."""
    used = "" if event.used is None else f", {event.used:.0%} used"
    window = (event.window or "the limit").replace("_", " ")
    return Line("note", "LIMIT", f": {window}: {event.status or 'reported'}{used}")


def _reason(ended: TurnFinished) -> str:
    """The first line of why a turn failed; for interruptions agents report no useful reason."""
    said = next((text for text in ended.errors or () if text.strip()), None)
    if said is None or ended.reason == "interrupted":
        return (ended.reason or "it did not say why").replace("_", " ")
    return said.strip().partition("\n")[0]


def _known(number: int | None) -> str:
    return "?" if number is None else str(number)


class EndedCall(NamedTuple):
    """A call that has ended; `call` is None if its start was never seen."""

    finished: ToolFinished
    call: Call | None
    at: float | None
    changes: list[FileChanged]

    def counted(self) -> str:
        """The lines that it added and removed, in all files; empty if some were not counted."""
        return numbers.changed_in_all([(each.added, each.removed) for each in self.changes])

    def took(self, shortest: float) -> str:
        """Return the duration; empty if that is unknown or shorter than so many seconds."""
        return took(self.call, self.at, shortest=shortest) or ""


class Calls:
    """Matches the ends of calls with their starts.

    An edit that has ended is held back until `release`, since the lines that it changed are
    reported after its end.
    """

    def __init__(self) -> None:
        self._open: dict[str, Call] = {}
        self._failed: dict[str, Call] = {}  # their turn's result may say that they were denied
        self._changes: dict[str, list[FileChanged]] = {}  # by call, until it ends
        self._held: EndedCall | None = None

    @property
    def is_holding(self) -> bool:
        """True while an edit is held back."""
        return self._held is not None

    def start(self, event: ToolStarted, at: float | None, cwd: str | None) -> Call:
        """Record the start of a call."""
        started = self._open[event.id] = call(event, at, cwd)
        return started

    def finish(self, event: ToolFinished, at: float | None) -> EndedCall | None:
        """Record the end of a call; None if it is held back."""
        call = self._open.pop(event.id, None)
        ended = EndedCall(event, call, at, self._changes.pop(event.id, []))
        if call and event.status in FAILED:
            self._failed[event.id] = call
        if call and call.kind == "edit" and event.status == "ok":
            self._held = ended
            return None
        return ended

    def count(self, change: FileChanged) -> None:
        """Record the lines that a call changed in one file."""
        id = change.tool_id
        if self._held is not None and id == self._held.finished.id:
            self._held.changes.append(change)
        elif id in self._open:
            self._changes.setdefault(id, []).append(change)

    def release(self) -> EndedCall | None:
        """The edit that is held back, if any; then none is."""
        held, self._held = self._held, None
        return held

    def find(self, id: str | None) -> Call | None:
        """A call that runs, or that failed in this turn."""
        return self._open.get(id or "") or self._failed.get(id or "")

    def end_turn(self) -> None:
        """Drop the calls that failed."""
        self._failed.clear()


class ShownTexts:
    """Turns texts into lines: the first line of each, or all of it with `verbose`."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._last: str | None = None  # the last text, if it was shown whole
        self._all_whole = True

    def lines(self, said: str, redact: Callable[[str], str]) -> Iterator[Line]:
        """The lines of the next text; `redact` gets all of it where a secret could be split."""
        is_whole = self._verbose or is_shown_whole(said)
        self._last = said.strip() if is_whole else None
        self._all_whole = self._all_whole and is_whole
        if self._verbose:
            # guards: several-lines-redacted
            yield from whole_text(redact(said) if "\n" in said else said)
        else:
            yield text(said)

    def include(self, answer: str, texts: Sequence[str]) -> bool:
        """True for an answer that was shown whole; without its own it is all texts together."""
        return answer.strip() == self._last or (self._all_whole and answer == "".join(texts))


def _unchanged(text: str) -> str:
    return text


class RunContext(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is shown; `snapshot` returns its current state.

    Who folds the run's records calls the display's methods, so a snapshot is made in the thread
    that owns the state. Only finished lines are passed to other threads.
    """

    run: str | None = None
    """The run's name."""

    cwd: str | None = None
    """The folder that it was started in."""

    began: float | None = None
    """Start of the run; without it, the first record counts."""

    reports_starts: bool = True
    """True if the agent reports calls when they begin, not only when they have ended."""

    snapshot: Callable[[], Snapshot] = Snapshot
    redact: Callable[[str], str] = _unchanged
    """Redacts text that is divided into several lines."""

    denied_by_person: Callable[[], frozenset[str]] = frozenset
    """Returns the ids of the calls to which a person said no."""

    @property
    def model(self) -> str | None:
        """The requested model, or the one that the agent named."""
        return self.snapshot().model

    def cost(self) -> Money:
        """The cost of the run so far."""
        return self.snapshot().cost

    def is_by_person(self, denial: PermissionDenied) -> bool:
        """True for a call that a person denied."""
        # guards: denied-by-person-live
        return denial.tool_id is not None and denial.tool_id in self.denied_by_person()

    def heading(
        self, session: SessionStarted, agent: str, *, cwd: str | None, home: str | None
    ) -> str:
        """The head of a run: agent, version, model, folder and the run's name, as far as known."""
        parts = (
            f"{agent} {session.version}" if session.version else agent,
            session.model or self.model,
            from_home(cwd, home) if cwd else None,
            f"run {self.run}" if self.run else None,
        )
        return " · ".join(part for part in parts if part)
