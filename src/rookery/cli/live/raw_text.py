"""What a run wrote that no record tells: plain text, shown as it is and safe to print."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal

from rookery import agents
from rookery.display.console.paint import Paint
from rookery.model.errors import RookeryError
from rookery.model.safe import safe, safe_line, uncoloured
from rookery.model.state import RunState
from rookery.store.run_folder import RunFolder

_LAST = 64 * 1024  # bytes, in which the last lines are looked for
_MOST = 20  # lines

Stream = Literal["stdout", "stderr"]


def beside(agent: str | None, lines: Iterable[str]) -> list[str]:
    """What an agent writes to stderr while it works, without its chatter, safe to print."""
    chatter = _chatter(agent)
    return [safe_line(uncoloured(line)) for line in lines if not line.startswith(chatter)]


def raw_lines(folder: RunFolder) -> Iterator[str]:
    """What a command wrote to stdout that no adapter knows."""
    info = folder.info()
    if info is None or info.agent is None:
        yield from _lines(folder, "stdout")


def last_words(
    folder: RunFolder, state: RunState, paint: Paint, *, full: bool = False
) -> Iterator[str]:
    """The last lines of what no record tells, if that is all there is to tell why a run ended.

    So it is of a command that no adapter knows, and of an agent that did not start or ended
    without a result. With `full`, all lines.
    """
    info, verdict = folder.info(), folder.verdict()
    raw = info is None or info.agent is None
    if not raw and (verdict is None or verdict.status == "success" or state.results):
        return
    told: tuple[Stream, ...] = ("stderr",) if raw or state.heard else ("stdout", "stderr")
    for stream in told:
        begin = 0 if full else max(0, folder.size(stream) - _LAST)
        lines = list(_lines(folder, stream, begin))
        shown = lines if full else lines[-_MOST:]
        if not any(line.strip() for line in shown):
            continue
        cut = begin > 0 or len(shown) < len(lines)
        more = f", its last lines (all: rook show {folder.name} --full)" if cut else ""
        yield f"{paint('prefix', '[rook]')} it wrote to {stream}{more}:"
        yield from shown


@cache
def _chatter(agent: str | None) -> tuple[str, ...]:
    try:
        return agents.agent(agent).chatter if agent else ()
    except RookeryError:
        return ()  # its package is gone


def _lines(folder: RunFolder, stream: Stream, begin: int = 0) -> Iterator[str]:
    rest = b""
    for data in folder.chunks(stream, begin):
        *lines, rest = (rest + data).split(b"\n")
        yield from map(_shown, lines)
    if rest:
        yield _shown(rest)


def _shown(line: bytes) -> str:
    return safe(uncoloured(line.decode("utf-8", "replace")))
