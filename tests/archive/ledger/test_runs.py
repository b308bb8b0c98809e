"""A run of rook and its calls are one: the run's own figures count."""

from pathlib import Path

from nightrook.adapter.history import Call, Session
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.ledger.runs import RunFigures
from tests.archive.ledger.samples import filled, report, totals


def call(id: str, at: float = 1500.0, session: str = "a", model: str = "priced") -> Call:
    """Twenty microdollars: ten of input, two of output."""
    return Call(id=id, session=session, at=at, model=model, input=10, output=2)


def run(**fields: object) -> RunFigures:
    known = {"name": "r", "agent": "test", "session": "a", "started_at": 1000.0, "ended_at": 2000.0}
    return RunFigures(**{**known, **fields})  # type: ignore[arg-type]


def ledger_of(path: Path, figures: RunFigures, *lines: Call | Session) -> Ledger:
    return filled(path / "ledger.db", [("file", lines)], runs=[figures])


def test_what_a_run_reports_beyond_its_calls_is_a_row_of_its_own(tmp_path: Path) -> None:
    figures = run(native_usd=0.0001, input=25, output=6, cache_read=0, cache_write=3)
    with ledger_of(tmp_path, figures, call("1"), call("2")) as ledger:
        assert totals(ledger) == (2, 25, 6, 0, 3, 100_000, 0, 0)
        shares = ledger.connection.execute("SELECT share_nano FROM calls ORDER BY extra")
        assert [share for (share,) in shares] == [20_000, 20_000, 60_000]
        assert {row[7] for row in report(ledger)} == {"r"}


def test_shares_are_scaled_down_to_what_the_run_cost(tmp_path: Path) -> None:
    figures = run(native_usd=0.00001, input=20, output=4)
    with ledger_of(tmp_path, figures, call("1"), call("2")) as ledger:
        assert totals(ledger) == (2, 20, 4, 0, 0, 10_000, 0, 0)


def test_calls_before_and_after_a_run_are_not_its_own(tmp_path: Path) -> None:
    figures = run(native_usd=0.00002, input=10, output=2)
    lines = (call("1", at=999.0), call("2"), call("3", at=2001.0))
    with ledger_of(tmp_path, figures, *lines) as ledger:
        assert totals(ledger) == (3, 30, 6, 0, 0, 20_000, 40_000, 0)


def test_a_call_whose_time_is_a_whole_second_belongs_to_the_run(tmp_path: Path) -> None:
    figures = run(native_usd=0.00002, input=10, output=2, started_at=1000.7)
    with ledger_of(tmp_path, figures, call("1", at=1000.0)) as ledger:
        assert totals(ledger) == (1, 10, 2, 0, 0, 20_000, 0, 0)


def test_subagents_sessions_belong_to_the_run(tmp_path: Path) -> None:
    figures = run(native_usd=0.00004, input=20, output=4)
    lines = (call("1"), call("2", session="b"), Session(id="b", parent="a"))
    with ledger_of(tmp_path, figures, *lines) as ledger:
        assert totals(ledger) == (2, 20, 4, 0, 0, 40_000, 0, 0)


def test_a_run_without_calls_counts_by_itself(tmp_path: Path) -> None:
    figures = run(session=None, estimated_usd=0.5, input=7, output=1, model="other")
    with ledger_of(tmp_path, figures) as ledger:
        assert totals(ledger) == (1, 7, 1, 0, 0, 0, 500_000_000, 0)


def test_without_settled_figures_the_calls_count(tmp_path: Path) -> None:
    with ledger_of(tmp_path, run(estimated_usd=9.0), call("1")) as ledger:
        assert totals(ledger) == (1, 10, 2, 0, 0, 0, 20_000, 0)


def test_a_run_without_a_native_cost_has_its_tokens_at_list_prices(tmp_path: Path) -> None:
    figures = run(input=110, output=2, cache_read=0, cache_write=0, model="priced")
    with ledger_of(tmp_path, figures, call("1")) as ledger:
        assert totals(ledger) == (1, 110, 2, 0, 0, 0, 120_000, 0)


def test_a_run_that_reports_less_than_its_calls_takes_away(tmp_path: Path) -> None:
    figures = run(native_usd=0.00002, input=5, output=2, model="priced")
    with ledger_of(tmp_path, figures, call("1")) as ledger:
        assert totals(ledger) == (1, 5, 2, 0, 0, 20_000, 0, 0)


def test_what_subagents_used_that_a_run_does_not_report_counts_as_well(tmp_path: Path) -> None:
    figures = run(native_usd=0.00002, input=10, output=3, at_least=True)
    lines = (call("1"), call("2", session="b"), Session(id="b", parent="a"))
    with ledger_of(tmp_path, figures, *lines) as ledger:
        assert totals(ledger) == (2, 20, 4, 0, 0, 40_000, 0, 0)


def test_a_run_that_reports_a_part_has_at_least_that(tmp_path: Path) -> None:
    figures = run(native_usd=0.00003, input=15, output=2, at_least=True)
    with ledger_of(tmp_path, figures, call("1")) as ledger:
        assert totals(ledger) == (1, 15, 2, 0, 0, 30_000, 0, 0)


def test_a_run_that_is_read_again_replaces_its_figures(tmp_path: Path) -> None:
    with ledger_of(tmp_path, run(native_usd=1.0), call("1")) as ledger:
        with ledger.batch() as batch:
            batch.add_run(run(native_usd=2.0, session="a"))
        assert totals(ledger)[5] == 2_000_000_000
