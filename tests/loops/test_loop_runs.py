"""The runs of a loop: reported live, and after a crash of rook."""

import random
import subprocess
import sys
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest

import nightrook
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.loop_runs import report
from nightrook.loops.plan import Goal
from nightrook.loops.start import new_loop
from nightrook.loops.state import Report
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.facts import Facts, PassedLimit
from nightrook.model.fold import fold
from nightrook.model.verdict import Verdict, judge
from nightrook.prices import PriceBook
from nightrook.process import trees
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder
from tests.flat_facts import flat_facts
from tests.loops.playing import CHILD, install, plan
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


def killed_and_resumed(folder: Path, kills: list[int], monkeypatch: pytest.MonkeyPatch) -> int:
    """Kill a loop after each of so many events, resume it each time, and check what it kept.

    Returns how often it was killed: it may be done before the last.
    """
    killed = 0
    plays = ["say=1 delay=0.02", "say=2 delay=0.02", "say=3 delay=0.02", "say=DONE delay=0.02"]
    work = install(folder, plays, monkeypatch)
    name = new_loop(plan(work, ceilings=Ceilings(iterations=len(kills) + 6))).name
    for events in [*kills, None]:
        command = [sys.executable, "-c", CHILD, name]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            seen = sum(1 for _ in islice(child.stdout, events))
            if events is not None and seen == events:
                child.kill()
                killed += 1
            else:
                assert child.wait() == 0
        state = LOOP_FOLDERS.find(folder / "home", name).state()
        if state is not None and state.end is not None:  # it may be killed right after its end
            break
    state = LOOP_FOLDERS.find(folder / "home", name).state()
    assert state is not None
    assert state.end == "done"
    ids = [attempt.id for attempt in state.attempts]
    assert ids == list(range(1, len(ids) + 1))
    named = [attempt.report.run for attempt in state.attempts]
    assert len(set(named)) == len(named)
    found = list(newest_first(folder / "home"))
    assert {run.name for run in found} == set(named)  # each run is counted, and counted once
    assert all(run.verdict() for run in found)
    paid = sum(_spent(run) or 0.0 for run in found)
    assert state.spent_usd == pytest.approx(paid)
    assert not any(trees.marked(str(run.path)) for run in found)  # no orphan
    return killed


def _spent(run: RunFolder) -> float | None:
    """What the raw log of a run says that it cost."""
    return fold(nightrook.decode(run.path, "claude"), PriceBook()).ledger.spent_usd


def test_a_killed_loop_is_resumed_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_and_resumed(tmp_path, [1, 2, 4, 7, 9], monkeypatch)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(25))
def test_two_hundred_kills_lose_and_repeat_nothing(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, killed = random.Random(seed), 0
    while killed < 8:
        folder = tmp_path / str(killed)
        folder.mkdir()
        events = [chance.randint(1, 12) for _ in range(8 - killed)]
        killed += killed_and_resumed(folder, events, monkeypatch)
