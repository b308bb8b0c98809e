"""Reports of a ledger: groups in local time, filters, edges of a period, order, notes."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from nightrook import agents
from nightrook.adapter.history import Call, History, Session
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.ledger.sources import Source
from nightrook.archive.report.figures import CostReport, CostRow, Dollars, Figures, Tokens
from nightrook.archive.report.report import build
from tests.archive.report.ledgers import MILLION, ledger, query

Rows = list[tuple[Any, ...]]


def rows(report: CostReport) -> Rows:
    """Each row's keys, and how much input it has."""
    return [(*row.keys.values(), row.tokens.input) for row in report.rows]


def test_a_call_is_reported_with_all_its_figures(tmp_path: Path) -> None:
    call = {
        "at": "2026-11-02T10:00Z",
        "model": "m",
        "input": 1,
        "output": 20,
        "cache_read": 300,
        "cache_write_5m": 4000,
        "cache_write_1h": 50_000,
        "reasoning": 7,
        "estimated_nano": 1_500_000_000,
        "saved_nano": 250_000_000,
    }
    with ledger(tmp_path, call) as connection:
        report = build(connection, query("day,model"))
    figures = Figures(
        tokens=Tokens(input=1, output=20, cache_read=300, cache_write=54_000),
        cost_usd=Dollars(native=0.0, estimated=1.5),
        unpriced_tokens=0,
        calls=1,
    )
    keys: dict[str, str | None] = {"day": "2026-11-02", "model": "m"}
    row = CostRow(
        keys=keys, tokens=figures.tokens, cost_usd=figures.cost_usd, unpriced_tokens=0, calls=1
    )
    assert report == CostReport(
        timezone="UTC", by=("day", "model"), total=figures, rows=(row,), saved_usd=0.25
    )


def test_native_estimated_and_unpriced_are_never_mixed(tmp_path: Path) -> None:
    at = "2026-11-02T10:00Z"
    calls: list[dict[str, Any]] = [
        {"at": at, "input": 1, "native_nano": 10**9, "estimated_nano": 2 * 10**9},
        {"at": at, "input": 2, "share_nano": 3 * 10**9, "estimated_nano": 2 * 10**9},
        {"at": at, "input": 4, "estimated_nano": 5 * 10**9},
        {"at": at, "input": 8, "output": 100},
        {"at": at, "input": 999, "native_nano": 10**9, "counted": 0},
    ]
    with ledger(tmp_path, *calls) as connection:
        report = build(connection, query())
    assert report.total.cost_usd == Dollars(native=4.0, estimated=5.0)
    assert (report.total.unpriced_tokens, report.total.calls) == (108, 4)
    assert report.total.tokens.input == 15


LOS_ANGELES, BERLIN, KOLKATA = "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata"


@pytest.mark.parametrize(
    ("zone", "by", "expected"),
    [
        ("UTC", "day", [("2026-10-31", 1), ("2026-11-01", 30), ("2026-11-02", 32)]),
        (LOS_ANGELES, "day", [("2026-10-31", 3), ("2026-11-01", 60)]),
        (KOLKATA, "day", [("2026-11-01", 15), ("2026-11-02", 48)]),
        (
            LOS_ANGELES,
            "hour",
            [
                ("2026-10-31T16:00-07:00", 1),
                ("2026-10-31T23:00-07:00", 2),
                ("2026-11-01T01:00-07:00", 4),
                ("2026-11-01T01:00-08:00", 8),
                ("2026-11-01T15:00-08:00", 16),
                ("2026-11-01T23:00-08:00", 32),
            ],
        ),
        (LOS_ANGELES, "week", [("2026-10-26", 63)]),
        ("UTC", "week", [("2026-10-26", 31), ("2026-11-02", 32)]),
        (LOS_ANGELES, "month", [("2026-10", 3), ("2026-11", 60)]),
        ("UTC", "month", [("2026-10", 1), ("2026-11", 62)]),
    ],
)
def test_the_end_of_summer_time_in_los_angeles(
    tmp_path: Path, zone: str, by: str, expected: Rows
) -> None:
    calls: list[dict[str, Any]] = [
        {"at": "2026-10-31T23:59:59.999Z", "input": 1},
        {"at": "2026-11-01T06:59:59Z", "input": 2},
        {"at": "2026-11-01T08:30Z", "input": 4},  # 01:30, the first time
        {"at": "2026-11-01T09:30Z", "input": 8},  # 01:30, the second time
        {"at": "2026-11-01T23:59Z", "input": 16},
        {"at": "2026-11-02T07:59Z", "input": 32},  # 23:59 of a day of 25 hours
    ]
    with ledger(tmp_path, *calls) as connection:
        assert rows(build(connection, query(by, timezone=zone))) == expected


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("day", [("2026-03-28", 1), ("2026-03-29", 14), ("2026-03-30", 16)]),
        (
            "hour",
            [
                ("2026-03-28T23:00+01:00", 1),
                ("2026-03-29T01:00+01:00", 2),
                ("2026-03-29T03:00+02:00", 4),
                ("2026-03-29T23:00+02:00", 8),
                ("2026-03-30T00:00+02:00", 16),
            ],
        ),
        ("month,week", [("2026-03", "2026-03-23", 15), ("2026-03", "2026-03-30", 16)]),
    ],
)
def test_the_begin_of_summer_time_in_berlin(tmp_path: Path, by: str, expected: Rows) -> None:
    calls: list[dict[str, Any]] = [
        {"at": "2026-03-28T22:59Z", "input": 1},
        {"at": "2026-03-29T00:59Z", "input": 2},
        {"at": "2026-03-29T01:00Z", "input": 4},  # 03:00: there is no 02:00
        {"at": "2026-03-29T21:59Z", "input": 8},
        {"at": "2026-03-29T22:00Z", "input": 16},
    ]
    with ledger(tmp_path, *calls) as connection:
        assert rows(build(connection, query(by, timezone=BERLIN))) == expected


def test_hours_in_which_clocks_change_by_half_an_hour_have_their_names(tmp_path: Path) -> None:
    calls = [
        {"at": "2026-04-04T14:59Z", "input": 1},  # 01:59, then clocks are put back to 01:30
        {"at": "2026-04-04T15:01Z", "input": 2},
        {"at": "2026-10-03T15:29Z", "input": 4},  # 01:59, then clocks are put forward to 02:30
        {"at": "2026-10-03T15:31Z", "input": 8},
    ]
    with ledger(tmp_path, *calls) as connection:
        report = build(connection, query("day,hour", timezone="Australia/Lord_Howe"))
    assert {(row.keys["hour"], row.tokens.input) for row in report.rows} == {
        ("2026-04-05T01:00+11:00", 1),
        ("2026-04-05T01:00+10:30", 2),
        ("2026-10-04T01:00+10:30", 4),
        ("2026-10-04T02:00+11:00", 8),
    }


def test_hours_of_kolkata_begin_at_half_past(tmp_path: Path) -> None:
    calls = [
        {"at": "2026-11-01T18:29:59Z", "input": 1},
        {"at": "2026-11-01T18:30Z", "input": 2},
        {"at": "2026-11-01T19:29Z", "input": 4},
        {"at": "2026-11-01T19:30Z", "input": 8},
    ]
    with ledger(tmp_path, *calls) as connection:
        report = build(connection, query("day,hour", timezone=KOLKATA))
    assert rows(report) == [
        ("2026-11-01", "2026-11-01T23:00+05:30", 1),
        ("2026-11-02", "2026-11-02T00:00+05:30", 6),
        ("2026-11-02", "2026-11-02T01:00+05:30", 8),
    ]


def test_a_time_of_no_calendar_is_reported_on_its_last_day(tmp_path: Path) -> None:
    with ledger(tmp_path, {"at": "2026-11-01T18:30Z", "input": 1}) as connection:
        connection.execute("UPDATE sums SET quarter = 1 << 40")
        assert rows(build(connection, query("day"))) == [("9999-12-31", 1)]
        assert rows(build(connection, query("month"))) == [("9999-12", 1)]
        (row,) = rows(build(connection, query("hour", timezone=BERLIN)))
        assert row[1] == 1


EVERYTHING: list[dict[str, Any]] = [
    {
        "at": "2026-11-02T10:00Z",
        "agent": "claude",
        "session": "s1",
        "input": 1,
        "run": "k7f3",
        "model": "opus",
        "project": "/home/me/app",
        "branch": "main",
        "loop": "loop-1",
        "title": "Fix the tests",
    },
    {
        "at": "2026-11-02T10:01Z",
        "agent": "claude",
        "session": "s1",
        "input": 2,
        "run": "k7f4",
        "model": "haiku",
        "project": "/home/me/app",
        "branch": "main",
        "subagent": "a1",
    },
    {
        "at": "2026-11-03T10:00Z",
        "agent": "codex",
        "session": "s2",
        "input": 4,
        "project": "/home/me/other",
        "branch": "fix",
    },
]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("agent", [("codex", 4), ("claude", 3)]),
        ("model", [(None, 4), ("haiku", 2), ("opus", 1)]),
        ("project", [("/home/me/other", 4), ("/home/me/app", 3)]),
        ("branch", [("fix", 4), ("main", 3)]),
        ("session", [("s2", 4), ("s1", 3)]),
        ("subagent", [(None, 5), ("a1", 2)]),
        ("run", [(None, 4), ("k7f4", 2), ("k7f3", 1)]),
        ("loop", [(None, 6), ("loop-1", 1)]),
        ("model,day", [(None, "2026-11-03", 4), ("haiku", "2026-11-02", 2)]),
        ("day,model", [("2026-11-02", "haiku", 2), ("2026-11-02", "opus", 1)]),
    ],
)
def test_calls_are_grouped_by_what_they_have_in_common(
    tmp_path: Path, by: str, expected: Rows
) -> None:
    with ledger(tmp_path, *EVERYTHING) as connection:
        assert rows(build(connection, query(by)))[: len(expected)] == expected


def test_a_session_has_its_title_beside_it(tmp_path: Path) -> None:
    with ledger(tmp_path, *EVERYTHING) as connection:
        titles = [row.title for row in build(connection, query("day,session")).rows]
        assert titles == ["Fix the tests", None]
        assert [row.title for row in build(connection, query("day")).rows] == [None, None]


def test_sessions_of_two_agents_with_one_id_are_two(tmp_path: Path) -> None:
    calls = [{"at": "2026-11-02T10:00Z", "agent": name, "input": 1} for name in ("a", "b")]
    with ledger(tmp_path, *calls) as connection:
        assert rows(build(connection, query("session"))) == [("s1", 1), ("s1", 1)]


@pytest.mark.parametrize(
    ("wanted", "total"),
    [
        ({"agent": "codex"}, 4),
        ({"project": "app"}, 3),
        ({"project": "/home/me/other"}, 4),
        ({"model": "opus"}, 1),
        ({"model": "*u*"}, 3),
        ({"agent": "claude", "model": "haiku"}, 2),
        ({"agent": "codex", "model": "haiku"}, 0),
        ({"project": "nowhere"}, 0),
    ],
)
def test_filters_choose_the_calls(tmp_path: Path, wanted: dict[str, str], total: int) -> None:
    with ledger(tmp_path, *EVERYTHING) as connection:
        report = build(connection, query(**wanted))
    assert report.total.tokens.input == total == sum(row.tokens.input for row in report.rows)


@pytest.mark.parametrize(
    ("ends", "total"),
    [
        ({"since": "2026-11-02T10:00Z"}, 126),
        ({"since": "2026-11-02T10:00:00.001Z"}, 124),
        ({"since": "2026-11-02T10:14:59.999Z"}, 120),
        ({"until": "2026-11-02T10:15Z"}, 7),
        ({"until": "2026-11-02T10:14:59.999Z"}, 7),
        ({"until": "2026-11-02T10:16Z"}, 15),
        ({"until": "2026-11-02T10:20:00.001Z"}, 31),
        ({"since": "2026-11-02T10:00:00.001Z", "until": "2026-11-02T10:14:59Z"}, 4),
        ({"since": "2026-11-02T10:00Z", "until": "2026-11-02T10:15Z"}, 6),
        ({"since": "2026-11-02T10:05Z", "until": "2026-11-02T10:20Z"}, 12),
        ({"since": "2026-11-02T10:05:01Z", "until": "2026-11-02T11:00:00.001Z"}, 120 - 64),
    ],
)
def test_a_period_begins_and_ends_at_the_millisecond(
    tmp_path: Path, ends: dict[str, str], total: int
) -> None:
    calls: list[dict[str, Any]] = [
        {"at": "2026-11-02T09:59:59.999Z", "input": 1},
        {"at": "2026-11-02T10:00Z", "input": 2},
        {"at": "2026-11-02T10:05Z", "input": 4},
        {"at": "2026-11-02T10:15Z", "input": 8},
        {"at": "2026-11-02T10:20Z", "input": 16},
        {"at": "2026-11-02T11:00Z", "input": 32},
        {"at": "2026-11-02T11:07Z", "input": 64},
        {"at": "2026-11-02T10:05Z", "input": 999, "counted": 0},
    ]
    with ledger(tmp_path, *calls) as connection:
        assert build(connection, query(**ends)).total.tokens.input == total


def test_groups_come_by_cost_within_what_they_are_in(tmp_path: Path) -> None:
    def call(day: int, agent: str, model: str, usd: int) -> dict[str, Any]:
        when = f"2026-11-0{day}T10:00Z"
        return {"at": when, "agent": agent, "model": model, "estimated_nano": usd, "input": usd}

    calls = [call(1, "a", "x", 5), call(2, "a", "y", 6), call(1, "b", "x", 8), call(2, "b", "z", 1)]
    with ledger(tmp_path, *calls) as connection:
        by_agent = rows(build(connection, query("agent,model")))
        by_day = rows(build(connection, query("day,agent")))
    assert by_agent == [("a", "y", 6), ("a", "x", 5), ("b", "x", 8), ("b", "z", 1)]
    assert [(day[-2:], agent) for day, agent, _ in by_day] == [
        ("01", "b"),
        ("01", "a"),
        ("02", "a"),
        ("02", "b"),
    ]


def test_an_empty_ledger_is_an_empty_report(tmp_path: Path) -> None:
    with ledger(tmp_path) as connection:
        assert build(connection, query("hour,agent,loop")) == CostReport(
            timezone="UTC", by=("hour", "agent", "loop"), total=Figures(), rows=()
        )


def test_findings_that_were_written_in_batches_are_reported(tmp_path: Path) -> None:
    def call(number: int, at: float, **given: Any) -> Call:
        return Call(id=f"c{number}", session="s1", at=at, model="m", output=number, **given)

    first, second = (Source(agent="someone", path=f"/srv/{name}.jsonl") for name in "ab")
    with Ledger.open(tmp_path / "ledger.db") as opened:
        with opened.batch() as batch:
            batch.add(first, [Session(id="s1", project="/srv/app", title="Work"), call(1, 4500.0)])
            batch.add(first, [call(2, 900.0, cost_usd=0.25, subagent="a1")])
        with opened.batch() as batch:
            batch.add(second, [call(2, 900.0, cost_usd=0.25, subagent="a1"), call(3, 86_400.0)])
        report = build(opened.connection, query("day,project,subagent"))
    assert [(*row.keys.values(), row.tokens.output, row.calls) for row in report.rows] == [
        ("1970-01-01", "/srv/app", "a1", 2, 1),
        ("1970-01-01", "/srv/app", None, 1, 1),
        ("1970-01-02", "/srv/app", None, 3, 1),
    ]
    assert report.total.cost_usd == Dollars(native=0.25)
    assert report.total.unpriced_tokens == 4


def test_a_million_tokens_at_nano_dollars_lose_nothing(tmp_path: Path) -> None:
    at = "2026-11-02T10:00Z"
    calls = [{"at": at, "input": MILLION, "estimated_nano": 1} for _ in range(10)]
    with ledger(tmp_path, *calls) as connection:
        assert build(connection, query()).total.cost_usd == Dollars(estimated=1e-8)


AT = "2026-11-02T10:00Z"


def notes(connection: sqlite3.Connection, **wanted: str) -> tuple[str, ...]:
    return build(connection, query(**wanted)).notes


def test_models_without_a_price_are_named_with_the_way_to_set_one(tmp_path: Path) -> None:
    calls = [
        {"at": AT, "model": "mine", "input": 1000},
        {"at": AT, "model": "yours", "input": 200, "output": 34_000},
        {"at": AT, "model": "known", "input": 5, "estimated_nano": 0},
    ]
    with ledger(tmp_path, *calls) as connection:
        assert notes(connection) == (
            "no price is known for yours (34,200 tokens), mine (1,000 tokens); set one in "
            "prices.toml beside your rook.toml, or in the file that [prices] file names there",
        )
        assert notes(connection, model="known") == ()


def test_tokens_of_a_model_that_is_not_reported_are_noted(tmp_path: Path) -> None:
    with ledger(tmp_path, {"at": AT, "input": 1000}) as connection:
        assert notes(connection) == (
            "1,000 tokens are without a price because their model is not reported",
        )


def test_files_that_could_not_be_read_are_named(tmp_path: Path) -> None:
    with ledger(tmp_path) as connection:
        for number in range(7):
            connection.execute(
                "INSERT INTO sources (agent, path, kind, state, problem)"
                " VALUES ('a', ?, 'lines', 'unreadable', 'Permission denied')",
                (f"/x/{number}\x1b[2J",),
            )
        (note,) = notes(connection)
    assert note.startswith("7 files could not be read, and may be missing here: /x/0␛[2J (Perm")
    assert note.endswith(", 2 more")


def test_a_filter_that_matches_nothing_names_what_there_is(tmp_path: Path) -> None:
    call = {"at": AT, "model": "m1", "project": "/work/app", "estimated_nano": 0}
    with ledger(tmp_path, call) as connection:
        assert notes(connection, project="nowhere") == (
            "no project is or ends in 'nowhere'; projects: /work/app",
        )
        assert notes(connection, model="m") == ("no model is named 'm'; models: m1",)
        assert notes(connection, project="app", model="m1") == ()


def test_what_an_agent_does_not_report_is_noted_where_it_has_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def history(name: str) -> History:
        note = f"the cost of {name} is never written down"
        return History(agent=name, places=(), recognises=lambda _: False, notes=(note,))

    monkeypatch.setattr(agents, "history", history)
    calls = [{"at": AT, "agent": name, "estimated_nano": 0} for name in ("kimi", "droid")]
    with ledger(tmp_path, *calls) as connection:
        assert notes(connection, agent="kimi") == ("kimi: the cost of kimi is never written down",)
        assert len(notes(connection)) == 2


def test_an_agent_without_a_history_has_no_notes(tmp_path: Path) -> None:
    call = {"at": AT, "agent": "unheard of", "estimated_nano": 0}
    with ledger(tmp_path, call) as connection:
        assert notes(connection) == ()
