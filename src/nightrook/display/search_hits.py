"""Search hits as lines for a terminal or a pipe."""

import shlex
from collections.abc import Iterator, Sequence

from nightrook.archive.search.search import Hit
from nightrook.display.cells import fit
from nightrook.display.console import Paint
from nightrook.display.numbers import moment
from nightrook.model.safe import safe_line

_ID = 8  # characters of a session's id
_INDENT = "  "


def session_lines(
    hits: Sequence[Hit],
    *,
    others: int,
    resume: str | None,
    paint: Paint,
    now: float,
    width: int,
    home: str,
) -> Iterator[str]:
    """The lines of a session: its hits, how many others it has, and how to resume it."""
    best = hits[0]
    more = f"  +{others}" if others > 0 else ""
    words = f"{best.agent}  {moment(best.at, now)}  {_short(best.project, home)}{more}"
    yield f"{paint('prefix', best.session[:_ID])}  {safe_line(words)}"
    for hit in hits:
        label = f"{hit.kind}: " if hit.tool is None else f"{hit.kind} of {safe_line(hit.tool)}: "
        room = max(width - len(_INDENT) - len(label), 20)
        yield _INDENT + label + _marked(hit, paint, room)
    if resume is not None:
        yield _INDENT + paint("aside", resume)


def resume_line(project: str | None, command: Sequence[str]) -> str:
    """The command that resumes a session, to be typed in any folder."""
    folder = f"cd {shlex.quote(project)} && " if project else ""
    return safe_line(folder + shlex.join(command))


def _marked(hit: Hit, paint: Paint, room: int) -> str:
    """An excerpt with its words in colour, as far as it fits."""
    parts: list[str] = []
    at = used = 0
    for begin, end in (*hit.marks, (len(hit.excerpt), len(hit.excerpt))):
        for text, style in ((hit.excerpt[at:begin], "text"), (hit.excerpt[begin:end], "tool")):
            cut = fit(safe_line(text), room - used) if room > used and text else ""
            used += len(cut)
            parts.append(paint(style, cut) if cut else "")
        at = end
    return "".join(parts)


def _short(path: str | None, home: str) -> str:
    if path is None:
        return ""
    return "~" + path[len(home) :] if path == home or path.startswith(home + "/") else path
