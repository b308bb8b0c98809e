"""Loops that were killed: each run counts once, and is never paid for again."""

import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

import nightrook
from nightrook.loops.plan import Ceilings
from nightrook.loops.start import new_loop
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.fold import fold
from nightrook.prices import PriceBook
from nightrook.process import trees
from nightrook.store.list import newest_first
from nightrook.store.run_folder import RunFolder
from tests.loops.playing import CHILD, install, plan


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
