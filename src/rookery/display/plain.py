"""The plain form: one line per thing that happened, readable in a log, a pipe or CI."""

import os.path
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TextIO

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
    Unreadable,
)
from rookery.core.ledger import Money
from rookery.core.records import Record
from rookery.core.safe import safe_line
from rookery.core.state import RunState
from rookery.core.text import cut, one_line

_LONGEST: Mapping[str, int] = {"execute": 60, "subagent": 40, "search": 40, "fetch": 50}
_LONGEST_OTHER = 60
_LONGEST_TEXT = 80
_LONGEST_OUTPUT = 100
_PATHS = frozenset({"read", "edit", "list", "delete", "move"})
_FAILED = frozenset({"error", "timed_out", "cancelled"})


class PlainDisplay:
    """Tells the records of one stream in lines of text, each safe to print.

    `state` is the fold that has already taken in what is told; without it, what only the whole
    knows (a price, a folder, what a denied call was about) is left out. Threads may share it.
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
        self._titles: dict[str, str] = {}  # of the calls that are open
        self._lock = Lock()

    def show(self, record: Record) -> None:
        """Write the lines that tell of a record; whole lines, whoever else writes."""
        lines = "".join(f"{line}\n" for line in self.lines(record))
        if lines:
            with self._lock:
                self._out.write(lines)

    def lines(self, record: Record) -> Iterator[str]:
        """Give the lines, without newline, that tell of a record; often there are none."""
        event = record.event
        if isinstance(event, Unreadable) and event.reason == "oversized":
            yield f"[rook] WARNING: skipped a line of {record.length / 1e6:.1f} MB"
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
                self._titles[started.id] = self._call(started)
                yield self._titles[started.id]
            case ToolFinished() as finished:
                self._titles.pop(finished.id, None)
                yield from self._finished(finished)
            case Text(text=text) if self._text and text.strip():
                yield f'"{_quoted(text)}"'
            case PermissionDenied() as denied:
                call = self._titles.get(denied.tool_id or "", denied.name or "a tool")
                yield f"DENIED: {call}" + (f" (allow it: '{denied.fix}')" if denied.fix else "")
            case Error() as error:
                yield f"ERROR: {one_line(error.message or error.kind, _LONGEST_OUTPUT)}"
            case TurnFinished() as ended:
                yield self._ending(ended)

    def _call(self, started: ToolStarted) -> str:
        title = started.title
        if not title:
            return started.name
        if started.kind in _PATHS:
            return f"{started.name}: {self._relative(title)}"
        return f"{started.name}: {cut(title, _LONGEST.get(started.kind, _LONGEST_OTHER))}"

    def _relative(self, path: str) -> str:
        if self._cwd and path.startswith(self._cwd.rstrip("/") + "/"):
            return os.path.relpath(path, self._cwd)
        return path

    def _finished(self, finished: ToolFinished) -> Iterator[str]:
        if finished.status in _FAILED:
            yield f"ERROR: {_failure(finished)}"
        elif self._verbose and finished.status == "ok" and (finished.output or "").strip():
            yield f"  -> {one_line(finished.output or '', _LONGEST_OUTPUT)}"

    def _ending(self, ended: TurnFinished) -> str:
        if not ended.ok:
            why = next((e for e in ended.errors or () if e.strip()), None) or ended.reason
            return f"FAILED: {(why or 'it did not say why').strip().partition(chr(10))[0]}"
        if ended.cost_usd is not None:
            return f"Complete (cost: {price(Money(ended.cost_usd, 'native'))})"
        cost = self._state.ledger.cost if self._state else Money(None, "unknown")
        return f"Complete (cost: {price(cost)})"


def price(cost: Money) -> str:
    """An amount as it is shown: the agent's own, our estimate with ~, or that nobody knows."""
    if cost.usd is None:
        return "$?"
    return f"{'' if cost.source == 'native' else '~'}${cost.usd:.4f}"


def _details(record: Record) -> Iterator[str]:
    match record.event:
        case Thinking(text=text) if text and text.strip():
            yield f"(thinks) {_first_line(text)}"
        case Retrying() as retry:
            yield f"RETRY: {_retry(retry)}"
        case LimitReported() as limit if limit.status != "allowed" or limit.used is not None:
            used = "" if limit.used is None else f", {limit.used:.0%} used"
            yield f"LIMIT: {limit.window or 'the limit'}: {limit.status or 'told'}{used}"
        case ContextCompacted() as compacted:
            before, after = _tokens(compacted.before_tokens), _tokens(compacted.after_tokens)
            yield f"COMPACTED: {before} to {after}"
        case ModelChanged() as changed:
            why = f" ({changed.reason})" if changed.reason else ""
            yield f"MODEL: {changed.before} to {changed.after}{why}"
        case Notice() as notice:
            yield f"NOTE: {one_line(notice.text, _LONGEST_OUTPUT)}"


def _retry(retry: Retrying) -> str:
    words = (retry.reason or "a call failed").replace("_", " ")
    status = "" if retry.status is None else f" ({retry.status})"
    attempt = "" if retry.attempt is None else f", attempt {retry.attempt}"
    most = "" if retry.max_attempts is None else f" of {retry.max_attempts}"
    delay = "" if retry.delay_s is None else f" in {retry.delay_s:.0f}s"
    return words + status + attempt + most + delay


def _failure(finished: ToolFinished) -> str:
    message = finished.error or finished.status.replace("_", " ")
    if finished.exit_code is not None:
        said = message.partition("\n")[2].strip()
        message = f"exit {finished.exit_code}" + (f": {said}" if said else "")
    return one_line(message, _LONGEST_OUTPUT)


def _quoted(text: str) -> str:
    return _first_line(text).replace("\\", "\\\\").replace('"', '\\"')


def _first_line(text: str) -> str:
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return cut(first, _LONGEST_TEXT)


def _tokens(count: int | None) -> str:
    return "?" if count is None else f"{count} tokens"
