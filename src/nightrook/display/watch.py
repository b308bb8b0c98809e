"""The table of `rook watch`, with all active sessions and runs, and lines about each."""

from collections.abc import Sequence

from nightrook.archive.watch.watch_rows import Row
from nightrook.display import numbers
from nightrook.display.cells import fit
from nightrook.display.console import Paint
from nightrook.display.status import activity
from nightrook.display.table import table
from nightrook.model.durations import duration, elapsed_s
from nightrook.model.ledger import Money, least_certain
from nightrook.model.safe import safe_line
from nightrook.model.text import count, from_home, one_line

_HEAD = ("AGENT", "NAME", "PROJECT", "TIME", "TOKENS", "COST", "NOW")
_LESS_NEEDED = ("TOKENS", "PROJECT", "TIME")
"""The columns that a narrow terminal does without, the least needed first."""

_LEAST_NOW = 24  # columns for what it does now, else there are fewer others
_WIDEST_PROJECT = 24
_ID = 8  # characters of a session's id
_DECIMALS = 3  # of an amount that grows
_LONGEST_PROMPT = 200
_CLOCK = 3
_WAITING = "waiting for you"


def watch_table(
    rows: Sequence[Row],
    *,
    now: float,
    width: int,
    height: int,
    home: str | None = None,
    paint: Paint | None = None,
) -> list[str]:
    """All active sessions and runs, the one active last first, and their total cost.

    The lines fit so many columns and rows.
    """
    paint = paint or Paint()
    newest = sorted(rows, key=lambda row: (-row.changed_at, row.name))
    shown = newest[: max(0, height - 2)]
    cells = [_cells(row, now, home) for row in shown]
    chosen = _columns(cells, width)
    lines = table(
        [_HEAD[column] for column in chosen],
        [[row[column] for column in chosen] for row in cells],
        width=width,
        paint=paint,
        cell=lambda row, column, text: paint(_style(shown, row, column, len(chosen), now), text),
    )
    return [*(lines if shown else ()), paint("aside", _total(newest, len(shown), now))]


def first_line(row: Row, home: str | None = None) -> str:
    """Introduce a session or a run when it is first seen."""
    shot = row.snapshot
    parts = (
        f"{row.kind} {row.label}",
        shot.version,
        shot.model,
        from_home(row.project, home) if row.project else None,
    )
    return f"[rook] {safe_line(' · '.join(part for part in parts if part))}"


def prompt_line(row: Row, prompt: str, *, width: int | None, paint: Paint) -> str:
    """The user's prompt on one line, cut to a width if there is one."""
    prefix = f"[{safe_line(row.label)}]"
    text = safe_line(f"> {one_line(prompt, _LONGEST_PROMPT)}")  # guards: watched-prompt-safe
    shown = text if width is None else fit(text, width - len(prefix) - 1)
    return f"{paint('prefix', prefix)} {paint('strong', shown)}"


def waiting_line(row: Row) -> str:
    """Return the line for a session or a run that waits for a person."""
    return f"[rook] {safe_line(row.label)} is waiting for you"


def last_line(row: Row) -> str:
    """Return the line for the end of a run."""
    began = row.turn_began
    parts = [row.status.replace("_", " ") if row.status else "its verdict is lost"]
    parts += [duration(elapsed_s(began, row.changed_at))] if began is not None else []
    return f"[rook] run {safe_line(row.label)}: {' · '.join([*parts, numbers.price(row.cost)])}"


def what_it_does(row: Row, now: float) -> str:
    """Describe the current activity of a session or a run, and how long it has lasted."""
    shot = row.snapshot
    words = activity(shot, row.project)
    since = shot.since
    if row.is_waiting(now):
        words = f"{_WAITING}: {words}" if shot.activity in ("asking", "tool") else _WAITING
        since = row.changed_at
    return words if since is None else f"{numbers.clock(elapsed_s(since, now)):>{_CLOCK}}  {words}"


def _cells(row: Row, now: float, home: str | None) -> tuple[str, ...]:
    began = row.turn_began
    until = row.changed_at if row.is_waiting(now) else now
    return (
        row.label.rpartition(" ")[0] or "?",
        row.name[:_ID] if row.kind == "session" else row.name,
        _project(row.project, home),
        numbers.clock(elapsed_s(began, until)),
        numbers.tokens(row.tokens.total) if row.tokens.input is not None else "",
        numbers.price(row.cost, _DECIMALS),
        what_it_does(row, now),
    )


def _project(path: str | None, home: str | None) -> str:
    """The end of a path, which says most."""
    short = from_home(path, home) if path else ""
    return short if len(short) <= _WIDEST_PROJECT else "…" + short[1 - _WIDEST_PROJECT :]


def _columns(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns that leave room for what is done now."""
    chosen = list(range(len(_HEAD)))
    for name in _LESS_NEEDED:
        widths = [max(len(row[c]) for row in [_HEAD, *rows]) for c in chosen[:-1]]
        if sum(widths) + 2 * len(widths) + _LEAST_NOW <= width:
            break
        chosen.remove(_HEAD.index(name))
    return chosen


def _style(rows: Sequence[Row], row: int, column: int, columns: int, now: float) -> str:
    if column == columns - 1 and rows[row].is_waiting(now):
        return "note"
    return "prefix" if column == 1 else "text"


def _total(rows: Sequence[Row], shown: int, now: float) -> str:
    """The number of active rows, and their cost together."""
    waiting = sum(row.is_waiting(now) for row in rows)
    parts = [f"{len(rows)} active" if rows else "nothing is active"]
    parts += [f"{waiting} waiting for you"] if waiting else []
    parts += [f"{count(len(rows) - shown, 'more row')} below"] if shown < len(rows) else []
    known = [row.cost for row in rows if row.cost.usd is not None]
    if known:
        source = least_certain(cost.source for cost in known)
        total = Money(sum(cost.usd or 0.0 for cost in known), source)
        parts.append(numbers.price(total, _DECIMALS))
    return f"[rook] {' · '.join(parts)}"
