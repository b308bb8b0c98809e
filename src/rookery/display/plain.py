"""The plain form: one line per thing that happened, readable in a log, a pipe or CI."""

from collections.abc import Iterator, Mapping
from threading import Lock
from typing import NamedTuple, TextIO

from rookery.core.events import (
    ContextCompacted,
    Error,
    LimitReported,
    ModelChanged,
    Notice,
    PermissionDenied,
    Retrying,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    Unknown,
    Unreadable,
)
from rookery.core.ledger import Money
from rookery.core.records import Record
from rookery.core.safe import safe_line
from rookery.core.state import RunState
from rookery.core.text import cut, one_line, relative

_LONGEST: Mapping[str, int] = {"execute": 60, "subagent": 40, "search": 40, "fetch": 50}
_LONGEST_OTHER = 60
_LONGEST_TEXT = 80
_LONGEST_OUTPUT = 100
_LONGEST_REASON = 300
_LONGEST_RULE = 200
_SHORTEST_S = 0.1  # what took less is not worth telling
_PATHS = frozenset({"read", "edit", "list", "delete", "move"})
_FAILED = frozenset({"error", "timed_out"})


class _Call(NamedTuple):
    """A tool call that was shown."""

    words: str
    at: float | None


class PlainDisplay:
    """Tells the records of one stream in lines of text, each safe to print.

    `state` is the fold that has already taken in what is told; without it, a cost that the agent
    does not tell is unknown. Threads may share a display.
    """

    def __init__(
        self,
        out: TextIO,
        agent: str,
        *,
        state: RunState | None = None,
        verbose: bool = False,
        text: bool = True,
    ) -> None:
        self._out = out
        self._prefix = f"[{safe_line(agent)}] "
        self._state = state
        self._verbose = verbose
        self._text = text
        self._cwd: str | None = None
        self._open: dict[str, _Call] = {}
        self._failed: dict[str, _Call] = {}  # their turn's result may say that they were denied
        self._latest: str | None = None  # the call that was shown last
        self._lock = Lock()

    def show(self, record: Record) -> None:
        """Write the lines that tell of a record; whole lines, whoever else writes."""
        lines = "".join(f"{line}\n" for line in self.lines(record))
        if lines:
            with self._lock:
                self._out.write(lines)

    def lines(self, record: Record) -> Iterator[str]:
        """Give the lines, without newline, that tell of a record; often there are none."""
        if warning := _warning(record):
            yield f"[rook] WARNING: {warning}"
            return
        for words in self._usual(record):
            yield self._prefix + safe_line(words)
        if self._verbose:
            for words in _details(record):
                yield self._prefix + safe_line(words)

    def _usual(self, record: Record) -> Iterator[str]:
        match record.event:
            case SessionStarted(cwd=cwd):
                self._cwd = cwd
            case ToolStarted() as started:
                call = self._open[started.id] = _Call(self._call(started), record.at)
                self._latest = started.id
                yield call.words
            case ToolFinished() as finished:
                yield from self._finished(finished, record.at)
            case Text(text=text) if self._text and text.strip():
                yield f'"{_quoted(text)}"'
            case PermissionDenied() as denied:
                yield f"DENIED: {self._denied(denied)}"
            case Error() as error:
                yield f"ERROR: {one_line(error.message or error.kind, _LONGEST_OUTPUT)}"
            case TurnFinished() as ended:
                self._failed.clear()
                yield self._ending(ended)

    def _call(self, started: ToolStarted) -> str:
        title = started.title
        if not title:
            return started.name
        if started.kind in _PATHS:
            return f"{started.name}: {relative(title, self._cwd)}"
        return f"{started.name}: {cut(title, _LONGEST.get(started.kind, _LONGEST_OTHER))}"

    def _finished(self, finished: ToolFinished, at: float | None) -> Iterator[str]:
        call = self._open.pop(finished.id, None)
        about = self._about(finished.id, call, at)
        if finished.status in _FAILED:
            if call:
                self._failed[finished.id] = call
            yield f"ERROR: {_failure(finished)}{about}"
        elif finished.status == "cancelled":
            yield f"CANCELLED: {call.words if call else finished.name or 'a tool'}"
        elif self._verbose and finished.status == "ok" and (finished.output or "").strip():
            yield f"  -> {one_line(finished.output or '', _LONGEST_OUTPUT)}{about}"

    def _about(self, id: str, call: _Call | None, at: float | None) -> str:
        """Which call ended, if another was shown since, and how long it took."""
        if call is None:
            return ""
        parts = [] if id == self._latest else [call.words]
        took = 0 if call.at is None or at is None else at - call.at
        if self._verbose and took >= _SHORTEST_S:
            parts.append(f"{took:.1f}s")
        return f" ({', '.join(parts)})" if parts else ""

    def _denied(self, denied: PermissionDenied) -> str:
        id = denied.tool_id or ""
        call = self._open.get(id) or self._failed.get(id)
        words = call.words if call else denied.name or "a tool"
        rule = denied.fix or ""
        short = len(rule) <= _LONGEST_RULE and "\n" not in rule  # else nobody could type it
        return f"{words} (allow it: '{rule}')" if rule and short else words

    def _ending(self, ended: TurnFinished) -> str:
        if not ended.ok:
            return f"FAILED: {cut(_reason(ended), _LONGEST_REASON)}"
        if ended.cost_usd is not None:
            return f"Complete (cost: {price(Money(ended.cost_usd, 'native'))})"
        cost = self._state.ledger.cost if self._state else Money(None, "unknown")
        return f"Complete (cost: {price(cost)})"


def price(cost: Money) -> str:
    """An amount as it is shown: the agent's own, our estimate with ~, or that nobody knows."""
    if cost.usd is None:
        return "$?"
    return f"{'' if cost.source == 'native' else '~'}${cost.usd:.4f}"


def _warning(record: Record) -> str | None:
    match record.event:
        case Unreadable(reason="oversized"):
            return f"skipped a line of {record.length / 1e6:.1f} MB"
        case Unreadable(reason="truncated"):
            return "the last line was cut off"
    return None


def _details(record: Record) -> Iterator[str]:
    match record.event:
        case Thinking(text=text) if text and text.strip():
            yield f"(thinks) {_first_line(text)}"
        case Retrying() as retry:
            yield f"RETRY: {_retry(retry)}"
        case LimitReported() as limit if limit.status != "allowed" or limit.used is not None:
            used = "" if limit.used is None else f", {limit.used:.0%} used"
            window = (limit.window or "the limit").replace("_", " ")
            yield f"LIMIT: {window}: {limit.status or 'told'}{used}"
        case ContextCompacted() as compacted:
            yield f"COMPACTED: {_compaction(compacted)}"
        case ModelChanged() as changed:
            why = f" ({changed.reason})" if changed.reason else ""
            yield f"MODEL: {changed.before or '?'} to {changed.after or '?'}{why}"
        case Notice() as notice:
            yield f"NOTE: {one_line(notice.text, _LONGEST_OUTPUT)}"
        case Unknown(name=name):
            yield f"unknown message type: {one_line(name or 'none', _LONGEST_OUTPUT)}"
        case Unreadable(preview=preview) if preview and preview.strip():
            yield f"NOISE: {one_line(preview, _LONGEST_OUTPUT)}"


def _retry(retry: Retrying) -> str:
    words = (retry.reason or "a call failed").replace("_", " ")
    status = "" if retry.status is None else f" ({retry.status})"
    attempt = "" if retry.attempt is None else f", attempt {retry.attempt}"
    most = "" if retry.max_attempts is None else f" of {retry.max_attempts}"
    delay = "" if retry.delay_s is None else f" in {retry.delay_s:.0f}s"
    return words + status + attempt + most + delay


def _failure(finished: ToolFinished) -> str:
    message = (finished.error or "").removeprefix("Error: ")
    if finished.exit_code is not None:
        said = message.removeprefix(f"Exit code {finished.exit_code}").strip()
        message = f"exit {finished.exit_code}" + (f": {said}" if said else "")
    return one_line(message or finished.status.replace("_", " "), _LONGEST_OUTPUT)


def _reason(ended: TurnFinished) -> str:
    """The first line of why a turn failed; of an interruption agents give no reason of worth."""
    said = next((text for text in ended.errors or () if text.strip()), None)
    if said is None or ended.reason == "interrupted":
        return (ended.reason or "it did not say why").replace("_", " ")
    return said.strip().partition("\n")[0]


def _quoted(text: str) -> str:
    return _first_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _first_line(text: str) -> str:
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return cut(first, _LONGEST_TEXT)


def _compaction(compacted: ContextCompacted) -> str:
    before, after = compacted.before_tokens, compacted.after_tokens
    return f"{'?' if before is None else before} to {'?' if after is None else after} tokens"
