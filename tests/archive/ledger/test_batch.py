"""Calls that are written in groups count as all others do."""

from pathlib import Path

import pytest

from nightrook.adapter.history import Call, CallRow, Calls, Session
from nightrook.archive.ledger.runs import RunFigures
from tests.archive.ledger.samples import differing_sums, filled, report, source, totals


def plain(id: str, session: str = "a", *, at: float = 1_000.0) -> Call:
    """A call that has what most calls have."""
    return Call(
        id=id, session=session, at=at, model="priced", project="/p", branch="main", output=1
    )


SUBAGENT = Call(
    id="sub", session="a", at=1_001.0, model="priced", project="/p", branch="main", subagent="x"
)


def test_a_session_is_added_up_from_all_of_its_calls(tmp_path: Path) -> None:
    calls = [plain("1"), SUBAGENT, plain("2", at=5_000.0), plain("3", "b")]
    with filled(tmp_path / "ledger.db", [("one", calls)]) as ledger:
        assert differing_sums(ledger) == []
        assert totals(ledger)[0] == 4


def test_calls_of_two_batches_are_added_up(tmp_path: Path) -> None:
    batches = [("one", [plain("1")])], [("one", [plain("1"), plain("2")])]
    with filled(tmp_path / "ledger.db", *batches) as ledger:
        assert differing_sums(ledger) == []
        assert totals(ledger)[0] == 2


def test_files_of_one_session_have_one_sum_for_a_quarter_of_an_hour(tmp_path: Path) -> None:
    files = [("one", [plain("1")]), ("two", [plain("2")])]
    with filled(tmp_path / "ledger.db", files) as ledger:
        assert len(report(ledger)) == 1


def row(id: str = "1", *, at: float = 1_000.0, output: int = 1) -> CallRow:
    """What is its own of a call."""
    return (id, at, 7, output, 5, 3, 2, 1)


@pytest.mark.parametrize(
    ("session", "rows"),
    [
        ("a", [row(), row("2"), row("3", at=5_000.0), row("4")]),
        ("a", [row(), row(at=999.0, output=9)]),
        ("a", [row(), row("2"), row(at=1_001.0)]),
        ("a", [row(at=5_000.0), row("2"), row()]),
        ("a", [row(output=1 << 41), row("2", at=1e12), row("3", at=float("nan"))]),
        ("\ud800", [row(), row("2")]),
    ],
    ids=["usual", "repeated", "repeated later", "repeated earlier", "impossible", "unstorable"],
)
def test_calls_in_the_quick_form_count_as_single_ones(
    tmp_path: Path, session: str, rows: list[CallRow]
) -> None:
    quick = Calls(session=session, model="priced", project="/p", branch="main", rows=rows)
    each = [quick.call(row) for row in rows]
    with (
        filled(tmp_path / "quick.db", [("one", [quick])]) as ledger,
        filled(tmp_path / "single.db", [("one", each)]) as other,
    ):
        assert differing_sums(ledger) == []
        assert report(ledger) == report(other)
        assert totals(ledger)[0] == len({row[0] for row in rows})


def test_a_call_that_is_repeated_elsewhere_counts_as_single_ones_do(tmp_path: Path) -> None:
    first = Calls(session="a", model="priced", project="/p", branch="main", rows=[row(), row("2")])
    again = Calls(session="b", model="other", project="/q", branch="x", rows=[row(), row("3")])
    files = [("one", first), ("two", first), ("two", again), ("one", again)]
    each = [(path, [calls.call(row) for row in calls.rows]) for path, calls in files]
    with (
        filled(tmp_path / "quick.db", [(path, [calls]) for path, calls in files]) as ledger,
        filled(tmp_path / "single.db", each) as other,
    ):
        rows = "SELECT * FROM calls ORDER BY key"
        found = ledger.connection.execute(rows).fetchall()
        assert found == other.connection.execute(rows).fetchall()
        assert differing_sums(ledger) == []
        assert totals(ledger)[0] == 3


def test_a_run_and_its_session_in_one_batch_are_one(tmp_path: Path) -> None:
    figures = RunFigures(
        name="run", agent="test", session="a", started_at=999.0, ended_at=1_002.0, native_usd=2.0
    )
    with filled(tmp_path / "ledger.db") as ledger:
        with ledger.batch() as batch:
            batch.add(source("one"), [Session(id="a"), plain("1"), plain("2", "b")])
            batch.add_run(figures)
        assert differing_sums(ledger) == []
        assert totals(ledger)[5] == 2_000_000_000
