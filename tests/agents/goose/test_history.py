"""What Goose keeps on disk, and what of it counts."""

from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nightrook.adapter.history import Call, Session
from nightrook.agents.goose.history import HISTORY
from nightrook.agents.goose.reader import read_ledger, read_totals
from tests.agents.histories import check, counted, tokens
from tests.agents.stores import findings, made, unpacked

SESSIONS = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, parent_session_id TEXT,
  session_type TEXT, updated_at TIMESTAMP, model_config_json TEXT, input_tokens INTEGER,
  accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER);
"""
LEDGER = """
CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT,
  created_timestamp INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER,
  cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL, is_compaction INTEGER);
"""
AT = 1_790_000_000


def session(id: str = "20260921_1", **columns: Any) -> dict[str, Any]:
    return {
        "id": id,
        "name": "Work",
        "working_dir": "/app",
        "parent_session_id": None,
        "session_type": "user",
        "updated_at": "2026-09-21 14:13:20",
        "model_config_json": '{"model_name": "gpt-5"}',
        "accumulated_input_tokens": 1200,
        "accumulated_output_tokens": 34,
    } | columns


def use(session: str = "20260921_1", **columns: Any) -> dict[str, Any]:
    return {
        "session_id": session,
        "created_timestamp": AT,
        "model": "gpt-5",
        "input_tokens": 1200,
        "output_tokens": 34,
        "cache_read_tokens": 1000,
        "cache_write_tokens": 50,
        "cost": None,
    } | columns


def store_of(path: Path, schema: str, **tables: list[dict[str, Any]]) -> Path:
    with closing(made(path, schema)) as store:
        for table, rows in tables.items():
            for row in rows:
                values = ", ".join(f":{name}" for name in row)
                store.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({values})", row)
    return path


def calls_of(path: Path) -> list[Call]:
    return counted(findings(HISTORY, path))


def test_a_store_has_what_the_model_reported(tmp_path: Path) -> None:
    found = findings(HISTORY, unpacked("goose", "shell_ok", tmp_path))
    assert tokens(found) == {"calls": 2, "input": 400, "output": 68, "cache_read": 2000}
    assert found[0] == Session(
        id="20261116_1",
        at=1794816390.0,
        project="/home/dev/cap/w/others/work/goose/shell_ok",
        title="Side answer",
    )


def test_a_row_of_the_ledger_is_a_call_with_its_cost_and_its_time_in_seconds(
    tmp_path: Path,
) -> None:
    store = store_of(
        tmp_path / "sessions.db",
        SESSIONS + LEDGER,
        sessions=[session()],
        usage_ledger=[use(cost=0.5), use(cost=0, created_timestamp=AT + 1)],
    )
    first, second = calls_of(store)
    assert first == Call(
        id=f"20260921_1 1 {AT}",
        session="20260921_1",
        at=float(AT),
        model="gpt-5",
        input=150,
        output=34,
        cache_read=1000,
        cache_write_5m=50,
        cost_usd=0.5,
        project="/app",
    )
    assert (second.at, second.cost_usd) == (AT + 1, None)


def test_sums_of_a_session_do_not_repeat_its_ledger(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    store_of(path, SESSIONS + LEDGER, sessions=[session()], usage_ledger=[use()])
    assert [call.input for call in calls_of(path)] == [150]


def test_the_sum_of_a_session_counts_in_a_store_without_a_ledger(tmp_path: Path) -> None:
    store = store_of(tmp_path / "sessions.db", SESSIONS, sessions=[session(), session("empty") | {
        "accumulated_input_tokens": None, "accumulated_output_tokens": None}])  # fmt: skip
    assert calls_of(store) == [
        Call(
            id="20260921_1 total",
            session="20260921_1",
            at=float(AT),
            model="gpt-5",
            input=1200,
            output=34,
            summed=True,
            project="/app",
            fallback=True,
        )
    ]


def test_sessions_of_two_machines_with_the_same_number_are_not_one(tmp_path: Path) -> None:
    ids = set()
    for number, at in enumerate([AT, AT + 60]):
        path = tmp_path / f"{number}.db"
        store_of(path, SESSIONS + LEDGER, usage_ledger=[use(created_timestamp=at)])
        ids |= {call.id for call in calls_of(path)}
    assert len(ids) == 2


def test_a_session_of_a_subagent_has_its_parent(tmp_path: Path) -> None:
    child = session("20260921_2", parent_session_id="20260921_1", session_type="sub_agent")
    path = tmp_path / "sessions.db"
    store_of(path, SESSIONS + LEDGER, sessions=[child], usage_ledger=[use("20260921_2")])
    found = findings(HISTORY, path)
    assert isinstance(found[0], Session)
    assert found[0].parent == "20260921_1"
    assert [call.subagent for call in calls_of(path)] == ["subagent"]


VALUES = st.one_of(
    st.none(), st.integers(), st.floats(), st.text(), st.binary(), st.sampled_from(["a", "{}", "5"])
)


@given(
    ledger=st.lists(st.tuples(*[VALUES] * 14), max_size=3),
    totals=st.lists(st.tuples(*[VALUES] * 6), max_size=3),
)
def test_any_rows_are_read_without_an_error(
    ledger: list[tuple[Any, ...]], totals: list[tuple[Any, ...]]
) -> None:
    assert read_ledger([]) == []
    for found in (*read_ledger(ledger), *read_totals(totals)):
        check(found)
