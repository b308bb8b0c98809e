"""Agents for people: one table of all of them, and everything that is known of one."""

import re
from collections.abc import Iterator, Sequence

from nightrook.adapter.agent import Support, Way
from nightrook.cli.installed_agents import InstalledAgent, StoredAgent
from nightrook.cli.tables import columns
from nightrook.display import cells
from nightrook.display.console import Paint
from nightrook.display.table import table
from nightrook.model.safe import safe_line

LEGEND = "- not installed · docs: not tried yet · ~ reported in part · details: rook agents NAME"
REPORTED = {
    "cost": ("COST", "cost"),
    "usage": ("TOKENS", "tokens"),
    "deltas": ("TEXT", "text while it is written"),
    "thinking": ("THINK", "thinking"),
    "denials": ("DENY", "denied calls"),
    "subagents": ("SUBS", "work of subagents"),
    "exit_codes": ("EXIT", "exit codes of commands"),
    "calls": ("CALLS", "calls while they run"),
    "end_event": ("END", "end of a turn"),
    "resume": ("RESUME", "sessions to resume"),
}
"""The heading and the meaning of each capability; a narrow terminal shows only the first ones."""

NATIVE = "native"
"""What stands for the only way to run an agent: by its own stream."""

_VERSION, _CHECKED, _REPORTS = range(1, 4)
_MARKS: dict[Support, str] = {"yes": "yes", "partly": "~", "no": "no"}
_STYLES = {"~": "note", "no": "bad"}
_FEWEST = 2
_UNCUT = 10_000
_BULLET = "- "


def agent_table(known: Sequence[InstalledAgent], *, width: int | None, paint: Paint) -> list[str]:
    """Lay out one row for each agent; without a width, as wide as needed."""
    shown = len(REPORTED)
    rows = [_row(agent, shown) for agent in known]
    while width and shown > _FEWEST and _needed(rows, shown) > width:
        shown -= 1
        rows = [_row(agent, shown) for agent in known]

    def painted(row: int, column: int, text: str) -> str:
        if row < 0:
            return paint("strong", text)
        if column == _REPORTS:
            return re.sub(r"\S+", lambda mark: paint(_STYLES.get(mark[0], "text"), mark[0]), text)
        unsure = column in (_VERSION, _CHECKED) and known[row].path and not known[row].checked
        return paint("bad" if unsure else "text", text)

    return table(_head(shown), rows, width=width or _UNCUT, paint=painted)


def agent_details(agent: InstalledAgent, *, width: int | None) -> Iterator[str]:
    """Everything that is known of one agent; its notes are wrapped to the width."""
    facts = [
        ("agent", agent.name if agent.name == agent.speaks else f"{agent.name} ({agent.speaks})"),
        ("version", agent.version or "-"),
        ("checked", _checked(agent)),
        ("known from", agent.evidence),
        ("installed", _place(agent)),
        *(("runs via", _way(way)) for way in agent.ways),
        ("history", "its sessions on disk are counted" if agent.history else "not read"),
    ]
    reported = [
        (meaning, getattr(agent.capabilities, name)) for name, (_, meaning) in REPORTED.items()
    ]
    yield from columns([*facts, ("", ""), ("REPORTS", ""), *reported])
    notes = [
        *agent.capabilities.notes,
        *(f"--via {way.name}: {note}" for way in agent.ways for note in way.notes),
    ]
    if notes:
        yield ""
    yield from _list(notes, width=width)


def system_details(weaknesses: Sequence[str], *, width: int | None) -> Iterator[str]:
    """What rook cannot guarantee on this system, wrapped to the width."""
    yield "WEAKER HERE THAN ON LINUX"
    yield from _list(weaknesses, width=width)


def _list(notes: Sequence[str], *, width: int | None) -> Iterator[str]:
    for note in notes:
        first, *others = cells.wrap(safe_line(note), (width or _UNCUT) - len(_BULLET))
        yield _BULLET + first
        yield from (" " * len(_BULLET) + line for line in others)


def stored_details(agent: StoredAgent, *, width: int | None) -> Iterator[str]:
    """Everything that is known of an agent of which only the sessions on disk are read."""
    folders = " ".join(agent.folders)
    yield from columns(
        [
            ("agent", safe_line(agent.name)),
            ("runs via", "nothing: rook can't run it"),
            ("history", f"its sessions on disk are counted: {safe_line(folders)}"),
        ]
    )
    if agent.notes:
        yield ""
    yield from _list(agent.notes, width=width)


def history_lines(known: Sequence[InstalledAgent], stored: Sequence[StoredAgent]) -> Iterator[str]:
    """Yield of which agents the sessions on disk are counted, and which of them cannot be run."""
    both = ", ".join(agent.name for agent in known if agent.history)
    only = ", ".join(agent.name for agent in stored)
    yield f"sessions on disk that rook cost counts: {safe_line(both) or 'none'}"
    if only:
        yield f"history only, rook can't run these: {safe_line(only)}"


def _head(shown: int) -> list[str]:
    headings = [heading for heading, _ in REPORTED.values()]
    return ["AGENT", "VERSION", "CHECKED", " ".join(headings[:shown]), "VIA"]


def _row(agent: InstalledAgent, shown: int) -> list[str]:
    marks = [
        _MARKS[getattr(agent.capabilities, name)].ljust(len(heading))
        for name, (heading, _) in REPORTED.items()
    ]
    ways = " ".join(way.name for way in agent.ways) or NATIVE
    version = agent.version or ("-" if agent.path is None else "?")
    return [agent.name, version, _checked(agent), " ".join(marks[:shown]), ways]


def _needed(rows: Sequence[Sequence[str]], shown: int) -> int:
    """How many columns the table takes."""
    return max(map(cells.width, table(_head(shown), rows, width=_UNCUT)))


def _checked(agent: InstalledAgent) -> str:
    if agent.checked:
        return "yes"
    if not agent.command:
        return "-"
    usual = "docs" if agent.evidence == "documentation" else "none"
    newest = max(agent.checked_versions, key=_order, default=usual)
    return f"no ({newest})" if agent.version else newest


def _order(version: str) -> list[tuple[bool, int, str]]:
    """A key that puts 2.0.76 before 2.0.128."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in version.split(".")
    ]


def _place(agent: InstalledAgent) -> str:
    if not agent.command:
        return "the command after --, or an agent of your settings"
    if agent.path is None:
        return f"no: {agent.install}" if agent.install else f"no: {agent.command[0]} is missing"
    return f"{agent.path}: {agent.problem}" if agent.problem else agent.path


def _way(way: Way) -> str:
    return f"{way.name} (it can ask for approval)" if way.asks else way.name
