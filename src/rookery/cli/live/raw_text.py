"""Text that is not an agent's message, made safe to print."""

from collections.abc import Iterable, Iterator
from functools import cache

from rookery import agents
from rookery.display.console.paint import Paint
from rookery.feed.tail import last_bytes, log_size
from rookery.model.errors import RookeryError
from rookery.model.safe import safe, safe_line, uncoloured
from rookery.model.state import RunState
from rookery.store.arrivals import Stream
from rookery.store.run_folder import RunFolder

_LAST = 64 * 1024  # bytes, in which the last lines are looked for
_MOST = 20  # lines


def shown_text(line: str) -> str:
    """A line of plain text, safe to print."""
    return safe(uncoloured(line))


def without_chatter(agent: str | None, lines: Iterable[str]) -> list[str]:
    """What an agent writes to stderr, without lines that it always writes, safe to print."""
    chatter = _chatter(agent)
    return [safe_line(uncoloured(line)) for line in lines if not line.startswith(chatter)]


def last_words(
    folder: RunFolder, state: RunState, paint: Paint, *, full: bool = False
) -> Iterator[str]:
    """The last lines of text, if only they can explain why a run ended; all with `full`.

    That is so for a command that no adapter knows, and for an agent that did not start or ended
    without a result.
    """
    info, verdict = folder.info(), folder.verdict()
    raw = info is None or info.agent is None
    if not raw and (verdict is None or verdict.status == "success" or state.results):
        return
    streams: tuple[Stream, ...] = ("stderr",) if raw or state.heard else ("stdout", "stderr")
    for stream in streams:
        size = log_size(folder.path, stream)
        data = last_bytes(folder.path, stream, size if full else _LAST)
        lines = [shown_text(line.decode("utf-8", "replace")) for line in data.split(b"\n")]
        if lines[-1] == "":
            lines.pop()
        shown = lines if full else lines[-_MOST:]
        if not any(line.strip() for line in shown):
            continue
        cut = size > len(data) or len(shown) < len(lines)
        more = f", its last lines (all: rook show {folder.name} --full)" if cut else ""
        yield f"{paint('prefix', '[rook]')} it wrote to {stream}{more}:"
        yield from shown


@cache
def _chatter(agent: str | None) -> tuple[str, ...]:
    try:
        return agents.agent(agent).chatter if agent else ()
    except RookeryError:
        return ()  # its package is gone
