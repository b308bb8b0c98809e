"""Which calls of a session count, and when they were made."""

from pathlib import Path

from nightrook.adapter.history import Call, Session
from tests.archive.ledger.samples import filled, report, totals


def call(id: str, session: str, **fields: object) -> Call:
    return Call(**{"id": id, "session": session, "at": 1000.0, "output": 1, **fields})  # type: ignore[arg-type]


def counted(path: Path, *findings: Call | Session) -> list[tuple[object, object]]:
    """The session and the output of all sums."""
    with filled(path / "ledger.db", [("file", findings)]) as ledger:
        return [(row[2], row[10]) for row in report(ledger)]


def test_a_call_counts_once_with_its_greatest_output_and_earliest_time(tmp_path: Path) -> None:
    lines = (
        call("1", "b", at=3000.0, output=5, copied=True),
        call("1", "a", at=2000.0, output=9),
        call("1", "c", at=900.0, output=1, copied=True),
    )
    with filled(tmp_path / "ledger.db", [("file", lines)]) as ledger:
        (row,) = report(ledger)
    assert (row[0], row[2], row[10]) == (1, "a", 9)


def test_equal_numbers_do_not_merge_calls(tmp_path: Path) -> None:
    assert counted(tmp_path, call("1", "a"), call("2", "a")) == [("a", 2)]


def test_an_ancestor_s_call_is_not_counted_again_in_a_fork(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        Session(id="b", forked_from="a"),
        Session(id="c", parent="b"),
        call("x", "a", lineage=True),
        call("x", "b", lineage=True),
        call("x", "c", lineage=True),
        call("y", "c", lineage=True),
        call("x", "stranger", lineage=True),
    )
    assert found == [("a", 1), ("c", 1), ("stranger", 1)]


def test_of_sessions_that_fork_each_other_one_has_the_call(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        Session(id="a", forked_from="b"),
        Session(id="b", forked_from="a"),
        call("x", "a", lineage=True),
        call("x", "b", lineage=True),
    )
    assert found == [("a", 1)]


def test_an_ancestor_that_is_imported_later_takes_its_calls_back(tmp_path: Path) -> None:
    fork = [("fork", (Session(id="b", forked_from="a"), call("x", "b", lineage=True)))]
    with filled(tmp_path / "ledger.db", fork, [("a", (call("x", "a", lineage=True),))]) as ledger:
        assert [row[2] for row in report(ledger)] == ["a"]


def test_a_fallback_counts_only_in_a_session_without_other_calls(tmp_path: Path) -> None:
    found = counted(
        tmp_path,
        call("1", "a", fallback=True, output=7),
        call("2", "a"),
        call("3", "b", fallback=True, output=7),
    )
    assert found == [("a", 1), ("b", 7)]


def test_a_call_without_a_time_has_that_of_its_session_else_of_its_file(tmp_path: Path) -> None:
    lines = (call("1", "a", at=None), Session(id="a", at=9000.0), call("2", "b", at=None))
    with filled(tmp_path / "ledger.db", [("file", lines)]) as ledger:
        assert [(row[0], row[2]) for row in report(ledger)] == [(0, "b"), (10, "a")]


def test_impossible_numbers_and_times_are_left_out(tmp_path: Path) -> None:
    lines = (
        call("1", "a", input=-5, output=1 << 70, cache_read=3),
        call("2", "a", at=1e300, output=2),
        call("3", "a", at=float("nan"), cost_usd=float("inf")),
        call("4", "\ud800", project="\ud800"),
    )
    with filled(tmp_path / "ledger.db", [("file", lines)]) as ledger:
        assert totals(ledger)[:4] == (4, 0, 4, 3)
