"""What the rules get to know of a run."""

from datetime import UTC, datetime

from nightrook.loops.plan import Goal
from nightrook.loops.report import report
from nightrook.loops.state import Report
from nightrook.model.facts import Facts, PassedLimit
from nightrook.model.fold import fold
from nightrook.model.verdict import Verdict, judge
from tests.flat_facts import flat_facts
from tests.recorded import ALL, folded, name_of
from tests.rules import each

WORDS = "You've hit your limit · resets 8:17pm (UTC)"


def limited(facts: Facts) -> Report:
    verdict = Verdict.of("limited", facts)
    return report(
        fold([]),
        verdict,
        goal=Goal(),
        nonce="word",
        run=None,
        started_at=0.0,
        ended_at=1_763_280_000.0,
        local=UTC,
    )


def test_the_end_of_a_limit_is_read_from_the_providers_words() -> None:
    assert limited(flat_facts(limited=True, quota_message=WORDS)).resets_at


def test_the_end_of_a_limit_is_not_read_from_the_verdicts_sentence() -> None:
    known = limited(flat_facts(limited=True, window=WORDS))
    assert "resets 8:17pm" in known.sentence
    assert known.resets_at is None


@each("name", [path for path in map(name_of, ALL) if "s50" in path])
def test_only_missing_credit_needs_payment(name: str) -> None:
    (path,) = (path for path in ALL if name_of(path) == name)
    state = folded(path)
    known = report(
        state,
        judge(state),
        goal=Goal(),
        nonce="word",
        run=None,
        started_at=0.0,
        ended_at=1_763_280_000.0,
        local=UTC,
    )
    assert bool(known.needs_payment) is ("credit" in name)


@each(("used", "expected"), [(None, True), (2.0, False)])
def test_a_run_that_was_stopped_for_an_unknown_cost_is_known_as_such(
    used: float | None, expected: bool
) -> None:
    facts = flat_facts(passed_limit=PassedLimit(kind="cost", used=used, allowed=1.0))
    known = report(
        fold([]),
        Verdict.of("over_budget", facts),
        goal=Goal(),
        nonce="word",
        run=None,
        started_at=0.0,
        ended_at=1_763_280_000.0,
        local=UTC,
    )
    assert bool(known.cost_unknown) is expected


RECORDED = {
    "s50_limit-1.0.60": "2026-11-16 19:12:42",
    "s50_limit-1.0.128": "2026-11-16 19:12:00",
    "s50_limit-2.0.76": "2026-11-16 19:12:00",
}


@each("name", RECORDED)
def test_the_end_of_a_recorded_limit_is_known(name: str) -> None:
    (path,) = (path for path in ALL if name_of(path) == name)
    state = folded(path)
    found = report(
        state,
        judge(state),
        goal=Goal(),
        nonce="word",
        run=None,
        started_at=0.0,
        ended_at=datetime(2026, 11, 16, 17, tzinfo=UTC).timestamp(),
        local=UTC,
    )
    assert found.status == "limited"
    assert (
        f"{datetime.fromtimestamp(found.resets_at or 0, UTC):%Y-%m-%d %H:%M:%S}" == RECORDED[name]
    )
