"""What is said of a run that is running."""

import pytest

from nightrook.cli.show_story import open_calls, progress
from nightrook.model.ledger import Source
from nightrook.model.snapshot import RunningTool, Snapshot
from nightrook.store.list import Row


@pytest.mark.parametrize(
    ("spent", "source", "shown"),
    [
        (0.0123, "estimated", "running · 1m 30s · ~$0.0123 so far"),
        (0.0123, "native", "running · 1m 30s · $0.0123 so far"),
        (None, "unknown", "running · 1m 30s"),
    ],
)
def test_the_progress_of_a_run_has_its_time_and_cost_so_far(
    spent: float | None, source: Source, shown: str
) -> None:
    run = Row(
        name="k7f3", status="running", seconds=90, spent_usd=spent, cost_source=source, what=""
    )
    assert progress(run) == shown


def test_open_calls_are_named_with_the_time_they_have_taken() -> None:
    tools = (
        RunningTool(id="1", name="Bash", kind="execute", title="make test", started_at=100.0),
        RunningTool(id="2", name="Read", kind="read", title="/work/a.py"),
    )
    assert list(open_calls(Snapshot(open_tools=tools, cwd="/work"), 112.0)) == [
        "running: Bash: make test (12.0s)",
        "running: Read: a.py",
    ]
