"""A run that is running: how long it has run, what it has cost, and which calls are open."""

from collections.abc import Iterator

from nightrook.display import event_lines
from nightrook.display.numbers import price
from nightrook.model.durations import duration
from nightrook.model.snapshot import Snapshot
from nightrook.model.text import suggested
from nightrook.runs.listing import ListedRun


def progress(run: ListedRun) -> str:
    """How long a run has run and what it has cost: `running · 1m 30s · ~$0.01 so far`."""
    parts = ["running", duration(run.seconds)]
    if run.spent.usd is not None:
        parts.append(f"{price(run.spent)} so far")
    return " · ".join(parts)


def open_calls(snapshot: Snapshot, now: float) -> Iterator[str]:
    """Yield a line for each call that has not ended: `running: Bash: make test (12.0s)`."""
    for tool in snapshot.open_tools:
        call = event_lines.call(tool, tool.started_at, snapshot.cwd)
        took = event_lines.took(call, now)
        yield f"running: {call.words}" + (f" ({took})" if took else "")


def how_to_follow(run: ListedRun) -> str:
    """The command that shows what comes next."""
    return f"follow it: {suggested('attach', run.name)}"
