"""The table of `rook watch`."""

import msgspec

from nightrook.archive.watch.watch_rows import Row
from nightrook.display.console import Paint
from nightrook.display.watch import first_line, last_line, prompt_line, watch_table
from nightrook.model.ledger import Money
from nightrook.model.snapshot import RunningTool, Snapshot, TokenCounts

NOW = 1000.0
WORKING = Row(
    kind="session",
    agent="claude",
    name="aaaaaaaa-1111",
    label="claude aaaaaaaa",
    project="/home/me/shop",
    snapshot=Snapshot(
        activity="tool",
        since=NOW - 12,
        version="2.1.325",
        model="opus",
        open_tools=(RunningTool(id="t", name="Bash", kind="execute", title="make test"),),
        tools_open=1,
    ),
    tokens=TokenCounts(input=21_000, output=100),
    cost=Money(0.0163, "estimated"),
    turn_began=NOW - 90,
    changed_at=NOW - 12,
)
WAITING = Row(
    kind="session",
    agent="codex",
    name="bbbbbbbb-2222",
    label="codex bbbbbbbb",
    project="/home/me/a/very/long/path/to/a/project",
    snapshot=Snapshot(activity="idle"),
    tokens=TokenCounts(),
    cost=Money(None, "unknown"),
    turn_began=NOW - 60,
    changed_at=NOW - 30,
)
ASKING = Row(
    kind="run",
    agent="claude",
    name="k7f3",
    label="work k7f3",
    project=None,
    snapshot=Snapshot(activity="asking", questions=(), since=NOW - 5),
    tokens=TokenCounts(input=10),
    cost=Money(0.5, "native"),
    turn_began=None,
    changed_at=NOW - 5,
    status="success",
)


def table(*rows: Row, width: int = 100, height: int = 10) -> list[str]:
    return watch_table(rows, now=NOW, width=width, height=height, home="/home/me")


def test_the_newest_activity_comes_first_with_what_it_does_and_what_it_cost() -> None:
    assert table(WAITING, WORKING) == [
        "AGENT   NAME      PROJECT                   TIME    TOKENS  COST     NOW",
        "claude  aaaaaaaa  ~/shop                    1m 30s  21.1k   ~$0.016  12s  Bash: make test",
        "codex   bbbbbbbb  …/long/path/to/a/project  30s             $?       30s  waiting for you",
        "[rook] 2 active · 1 waiting for you · ~$0.016",
    ]


def test_a_narrow_terminal_has_fewer_columns_and_a_low_one_fewer_rows() -> None:
    assert table(WAITING, WORKING, width=50, height=3) == [
        "AGENT   NAME      COST     NOW",
        "claude  aaaaaaaa  ~$0.016  12s  Bash: make test",
        "[rook] 2 active · 1 waiting for you · 1 more row below · ~$0.016",
    ]


def test_nothing_is_said_plainly() -> None:
    assert table() == ["[rook] nothing is active"]


def test_what_agents_wrote_cannot_draw() -> None:
    bad = msgspec.structs.replace(WORKING, project="/x\x1b[2J", label="cl\x1b]0;x\x07aude a")
    lines = [*table(bad), first_line(bad), last_line(bad)]
    lines.append(prompt_line(bad, "a\x1b[31m\nb", width=None, paint=Paint()))
    assert not any("\x1b" in line or "\n" in line for line in lines)


def test_a_session_is_introduced_and_a_run_is_ended_by_a_line() -> None:
    assert first_line(WORKING, "/home/me") == (
        "[rook] session claude aaaaaaaa · 2.1.325 · opus · ~/shop"
    )
    assert last_line(ASKING) == "[rook] run work k7f3: success · $0.5000"
    prompt = prompt_line(WORKING, "Fix it\nplease", width=30, paint=Paint())
    assert prompt == "[claude aaaaaaaa] > Fix it pl…"
