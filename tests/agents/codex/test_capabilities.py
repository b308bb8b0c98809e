"""What the adapter says that Codex reports, compared with what was recorded of both ways."""

from pathlib import Path

import nightrook
from nightrook.agents.codex.adapter import AGENT
from nightrook.model.events import (
    Event,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    UsageReported,
)
from tests.recorded import cases, is_real, recordings


def _is_of_app_server(path: Path) -> bool:
    return "app_server" in (path.parent.name + path.stem)


def recorded(way: str) -> list[Event]:
    paths = [path for path in (*cases("codex"), *recordings("codex")) if is_real(path)]
    chosen = [path for path in paths if _is_of_app_server(path) is (way == "app-server")]
    return [record.event for path in chosen for record in nightrook.decode(path, agent="codex")]


def test_the_capabilities_are_those_of_the_app_server() -> None:
    events, known = recorded(AGENT.ways[0].name), AGENT.capabilities
    deltas = [event for event in events if isinstance(event, TextDelta | ThinkingDelta)]
    usage = [event for event in events if isinstance(event, UsageReported)]
    finished = [event for event in events if isinstance(event, ToolFinished)]
    of_subagents = [
        event for event in events if isinstance(event, Text | ToolStarted) and event.parent
    ]
    assert (bool(deltas), known.deltas) == (True, "yes")
    assert ({event.scope for event in usage}, known.usage) == ({"message"}, "yes")
    assert (any(event.exit_code is not None for event in finished), known.exit_codes) == (
        True,
        "yes",
    )
    assert (of_subagents, known.subagents) == ([], "no")
    assert any(isinstance(event, Thinking) for event in events)
    assert all(event.model for event in events if isinstance(event, SessionStarted))
    ends = [event for event in events if isinstance(event, TurnFinished)]
    assert ({event.cost_usd for event in ends}, known.cost) == ({None}, "no")


def test_the_notes_of_exec_say_what_it_reports_less() -> None:
    events, way = recorded("exec"), AGENT.way("exec")
    assert way is not None
    assert not any(isinstance(e, TextDelta | ThinkingDelta | ToolProgress) for e in events)
    assert {e.scope for e in events if isinstance(e, UsageReported)} == {"session"}
    assert not any(e.model for e in events if isinstance(e, SessionStarted))
    notes = " ".join(way.notes)
    assert "when they are complete" in notes
    assert "the total of the whole thread" in notes
    assert "neither its model nor its version" in notes
    assert way.usage == "partly"
