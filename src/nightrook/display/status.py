"""The status line: the current activity and its start, usage and cost so far."""

from nightrook.display import cells, event_lines, numbers
from nightrook.display.console import Paint
from nightrook.model.durations import elapsed_s
from nightrook.model.safe import safe_line
from nightrook.model.snapshot import Phase, Quota, RunningTask, Snapshot

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_PER_S = 10
_SHORTEST_WORDS = 16  # what runs now is not cut below this to make room for figures
_GAP = "   "
_DECIMALS = 3  # of an amount that grows
_PHASES: dict[Phase, str] = {
    "starting": "starting",
    "waiting": "waiting for the model",
    "thinking": "thinking",
    "writing": "writing",
    "idle": "waiting",
    "ended": "ended",
}


def status_line(
    shot: Snapshot,
    *,
    now: float,
    began: float,
    cwd: str | None,
    reports_starts: bool = True,
    width: int,
    paint: Paint,
) -> str:
    """The current activity, cut to a width, and as many figures as there is room for.

    An agent that only reports calls that have ended (not `reports_starts`) may be inside one.
    """
    spinner = _SPINNER[int(now * _FRAMES_PER_S) % len(_SPINNER)]
    since = _since(shot)
    clock = "" if since is None else f" {numbers.clock(elapsed_s(since, now))}"
    figures = [numbers.clock(elapsed_s(began, now)), *_figures(shot)]
    doing = safe_line(activity(shot, cwd, reports_starts=reports_starts))
    fixed = cells.width(f"{spinner} {clock}")
    room = width - fixed
    wanted = min(cells.width(doing), _SHORTEST_WORDS)
    while figures and wanted + cells.width(_GAP + " · ".join(figures)) > room:
        figures.pop()
    right = _GAP + " · ".join(figures) if figures else ""
    shown = cells.fit(doing, max(0, room - cells.width(right)))
    line = f"{paint('tool', spinner)} {shown}{clock}{paint('aside', right)}"
    return line if width >= fixed else cells.fit(f"{spinner}{clock}", width)


def _since(shot: Snapshot) -> float | None:
    """Return the start of the current activity; a retry itself reports how long it waits."""
    return None if shot.activity == "retrying" else shot.since


def activity(shot: Snapshot, cwd: str | None, *, reports_starts: bool = True) -> str:
    """The current activity in words."""
    match shot.activity:
        case "asking":
            return f"waiting for an answer: {_asked(shot, cwd)}"
        case "retrying" if shot.retry is not None:
            line = event_lines.retry(shot.retry)
            return line.head + line.rest
        case "tool":
            return _tool(shot, cwd)
        case "task":
            return _task(shot.open_tasks[-1])
        case "waiting" if not reports_starts:
            return "working"
        case "starting" | "waiting" | "thinking" | "writing" | "idle" | "ended" as phase:
            return _PHASES[phase]
    return ""


def _asked(shot: Snapshot, cwd: str | None) -> str:
    question = shot.questions[-1]
    tools = (tool for tool in shot.open_tools if tool.id == question.tool_id)
    call = next((event_lines.call(tool, None, cwd) for tool in tools), None)
    return call.words if call else question.name or "a tool"


def _tool(shot: Snapshot, cwd: str | None) -> str:
    """The latest call, and the number of other running calls."""
    latest = shot.open_tools[-1]
    inside = any(tool.id == latest.parent for tool in shot.open_tools)
    more = shot.tools_open - 1 - inside
    shown = event_lines.call(latest, None, cwd).words
    return f"{shown} (+{more})" if more > 0 else shown


def _task(task: RunningTask) -> str:
    return task.doing or task.title or "a task"


def _figures(shot: Snapshot) -> list[str]:
    """The figures, the most important first."""
    figures = []
    if shot.has_usage:
        spent = numbers.price(shot.cost, _DECIMALS)
        figures += [f"{numbers.tokens(shot.tokens.total)} tokens", spent]
    if shot.context_tokens is not None:
        window = shot.context_window
        share = numbers.percent(shot.context_tokens / window) if window else None
        figures.append(f"context {share or numbers.tokens(shot.context_tokens)}")
    if (quota := _tightest(shot)) is not None and quota.used is not None:
        figures.append(f"{safe_line(quota.name or 'limit')} {numbers.percent(quota.used)}")
    return figures


def _tightest(shot: Snapshot) -> Quota | None:
    """The limit that is used most, if any is reported."""
    used = [quota for quota in shot.quotas if quota.used is not None]
    return max(used, key=lambda quota: quota.used or 0.0, default=None)
