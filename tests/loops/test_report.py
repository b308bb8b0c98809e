"""What the rules get to know of a run."""

from datetime import UTC

from rookery.loops.plan import Goal
from rookery.loops.report import report
from rookery.loops.state import Report
from rookery.model.fold import fold
from rookery.model.verdict import Facts, Verdict

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
    assert limited(Facts(limited=True, quota_message=WORDS)).resets_at


def test_the_end_of_a_limit_is_not_read_from_the_verdicts_sentence() -> None:
    known = limited(Facts(limited=True, window=WORDS))
    assert "resets 8:17pm" in known.sentence
    assert known.resets_at is None
