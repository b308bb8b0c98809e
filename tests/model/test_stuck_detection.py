"""Whether a run is stuck: what explains silence, and what does not."""

from typing import Any

from nightrook.model.events import (
    Event,
    LimitReported,
    PermissionRequested,
    Retrying,
    TaskStarted,
    ToolStarted,
    TurnStarted,
)
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.stuck_detection import Evidence, OpenTool, Process, evidence_of, suspect
from tests.rules import each

IDLE = 100.0
SLEEPING = (Process(1, "S", 5.0), Process(2, "S", 1.0))
BASH = (OpenTool("Bash", "npm test", 500.0),)

ROWS: list[tuple[dict[str, Any], str | None]] = [
    # what is known after a silence, and why it is stuck; None if something explains it
    ({"silent_s": 100}, None),
    ({"silent_s": 101}, "no sign of life"),
    ({"silent_s": 101, "tools": BASH}, None),
    ({"silent_s": 600, "tools": BASH}, None),
    (
        {"silent_s": 601, "tools": BASH},
        "Bash: npm test for 8m 20s has not finished, and there is no activity",
    ),
    ({"silent_s": 601, "tools": BASH, "cpu_s": 60.0}, None),
    ({"silent_s": 1201, "tools": BASH, "cpu_s": 60.0}, "Bash: npm test"),
    ({"silent_s": 101, "tasks": 1}, None),
    ({"silent_s": 601, "tasks": 1}, "no sign of life"),
    ({"silent_s": 101, "cpu_s": 50.0}, None),
    ({"silent_s": 301, "cpu_s": 50.0}, "no sign of life"),
    ({"silent_s": 101, "cpu_s": 0.5}, "no sign of life"),
    ({"silent_s": 1e6, "limited": True}, None),
    ({"silent_s": 150, "retry_s": 200.0}, None),
    ({"silent_s": 400, "retry_s": 20.0}, "no sign of life"),
    ({"silent_s": 101, "asked": "Bash"}, "no answer to the question whether it may use Bash"),
    ({"silent_s": 101, "asked": "Bash", "tools": BASH}, "no answer"),
    ({"silent_s": 101, "processes": ()}, "none of its processes is left"),
    ({"silent_s": 101, "processes": (Process(1, "T", 0.0),)}, "its processes are stopped"),
    ({"silent_s": 101, "processes": (Process(1, "T", 0.0), *SLEEPING)}, "no sign of life"),
    ({"silent_s": 101, "processes": SLEEPING, "tools": BASH}, None),
]


@each(("known", "reason"), ROWS)
def test_silence_alone_is_not_evidence(known: dict[str, Any], reason: str | None) -> None:
    why = suspect(Evidence(**known), idle_s=IDLE)
    if reason is None:
        assert why is None
    else:
        assert why is not None
        assert why.reason.startswith(reason)


def test_it_says_why_it_thinks_so() -> None:
    known = Evidence(
        silent_s=7300, tools=BASH, tasks=2, retry_s=4.0, processes=SLEEPING, cpu_s=0.25
    )
    why = suspect(known, idle_s=IDLE)
    assert why is not None
    assert why.evidence == (
        "no output for 2h 01m",
        "open tool: Bash: npm test for 8m 20s",
        "background tasks: 2",
        "the agent announced a retry in 4.0s",
        "processes: 2 (S)",
        "CPU time since then: 0.2s",
    )


def evidence(*events: Event) -> Evidence:
    records = (Record(n, 10.0, 0, 0, event) for n, event in enumerate(events))
    return evidence_of(
        fold(records).snapshot(), now=30.0, silent_s=20.0, processes=None, cpu_s=None
    )


def test_the_evidence_comes_from_the_state() -> None:
    started = ToolStarted(id="1", name="Bash", kind="execute", title="make")
    assert evidence(TurnStarted(), started).tools == (OpenTool("Bash", "make", 20.0),)
    assert evidence(TaskStarted(id="1")).tasks == 1
    assert evidence(Retrying(attempt=1, delay_s=4.0)).retry_s == 4.0
    assert evidence(Retrying(attempt=1)).retry_s == 0.0
    assert evidence(LimitReported(status="rejected")).limited
    assert not evidence(LimitReported(status="allowed")).limited
    assert evidence(PermissionRequested(tool_id="1", name="Write")).asked == "Write"
    assert evidence(TurnStarted()) == Evidence(silent_s=20.0)
