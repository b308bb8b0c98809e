"""How loops are made and resumed."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import nightrook
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.events import (
    ToolStarted,
    Waiting,
)
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, OnLimit
from nightrook.loops.start import BadPlanError, new_loop, resumed_loop
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.runs.limits import UnheldBudgetError
from nightrook.store.list import find_run
from nightrook.store.loop_folder import LoopBusyError
from tests.loops.playing import calls, install, plan, play, repository, to_the_end


def test_an_interrupted_loop_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE"], monkeypatch)

    async def whole(loop: Loop, *, stop: bool) -> Loop:
        async with loop:
            async for event in loop:
                if stop and isinstance(event, ToolStarted):
                    loop.stop()
        return loop

    first = asyncio.run(whole(new_loop(plan(work)), stop=True))
    assert first.end == "interrupted"
    second = asyncio.run(whole(resumed_loop(first.name), stop=False))
    assert (second.end, calls(tmp_path)) == ("done", 2)
    assert [attempt.id for attempt in second.state.attempts] == [1, 2]
    with pytest.raises(BadPlanError, match="has ended"):
        resumed_loop(first.name)


def test_an_interrupted_wait_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["limit=3600", "say=DONE"], monkeypatch)

    async def until_it_waits(loop: Loop) -> float:
        async with loop:
            async for event in loop:
                if isinstance(event, Waiting):
                    loop.stop()
                    until = event.until
        return until

    loop = new_loop(plan(work))
    until = asyncio.run(until_it_waits(loop))
    assert asyncio.run(until_it_waits(resumed_loop(loop.name))) == until
    assert calls(tmp_path) == 1


def test_only_one_process_can_run_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["hang-in-tool"], monkeypatch)

    async def whole() -> None:
        async with new_loop(plan(work)) as loop:
            assert LOOP_FOLDERS.find(tmp_path / "home", loop.name).is_running
            with pytest.raises(LoopBusyError):
                async with resumed_loop(loop.name):
                    pass

    asyncio.run(whole())


def test_a_loop_that_has_ended_cannot_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    loop, _ = play(plan(work))
    with pytest.raises(BadPlanError, match="has ended"):
        resumed_loop(loop.name)


def test_without_a_sign_of_completion_the_agent_is_asked_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=x"], monkeypatch)
    loop, _ = play(plan(work, goal=Goal(), ceilings=Ceilings(iterations=2)))
    assert loop.plan.goal.ask_done
    prompts = []
    for attempt in loop.state.attempts:
        info = find_run(tmp_path / "home", attempt.report.run or "").info()
        assert info is not None
        prompts.append((info.prompt or "").split("\n")[-1])
    assert len(set(prompts)) == 2  # the word is new each time
    assert all(word.startswith("DONE-") for word in prompts)


def test_an_unknown_way_to_run_the_agent_ends_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    loop, _ = play(plan(work, via="telepathy"))
    assert (loop.end, calls(tmp_path)) == ("not_started", 0)
    assert "use one of native, acp" in loop.state.reason


def test_a_loop_works_in_the_folder_of_its_worktree_that_matches_yours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no write-file=new.txt", "say=DONE"], monkeypatch)
    repository(work)
    below = work / "sub" / "deep"
    below.mkdir(parents=True)
    goal = Goal(until="DONE", checks=("test -e new.txt",))
    loop, _ = play(plan(below, goal=goal, worktree=True, ceilings=Ceilings(iterations=1)))
    matching = loop.folder.worktree / "sub" / "deep"
    assert (matching / "new.txt").exists()
    assert [check.ok for check in loop.state.attempts[0].checks] == [True]
    assert list(below.iterdir()) == []
    below.rmdir()
    resumed = resumed_loop(loop.name, ceilings={"iterations": 2})
    asyncio.run(to_the_end(resumed))
    assert resumed.end == "done"


@pytest.mark.parametrize(
    "options",
    [
        {"agent": "amp"},
        {"agent": "gemini"},
        {"agent": "codex", "via": "exec"},
        {"on_limit": OnLimit(do="switch", agent="gemini")},
    ],
)
def test_a_budget_that_cannot_hold_is_refused_before_the_loop_starts(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    asked = replace(plan(tmp_path), needs_cost=True)
    changes = {name: options[name] for name in options if name != "on_limit"}
    limit = options.get("on_limit", asked.on_limit)
    asked = replace(asked, run=replace(asked.run, **changes), on_limit=limit)
    with pytest.raises(UnheldBudgetError, match="--max-cost cannot hold"):
        new_loop(asked, home=tmp_path)
    assert list(tmp_path.iterdir()) == []
    new_loop(replace(asked, needs_cost=False), home=tmp_path)


@pytest.mark.parametrize(
    ("options", "needed"),
    [({}, False), ({"max_cost": 5}, True), ({"max_cost": 5, "max_cost_unchecked": True}, False)],
)
def test_only_a_limit_that_is_given_needs_a_known_cost(
    tmp_path: Path, options: dict[str, Any], needed: bool
) -> None:
    loop = nightrook.loop("claude", "Fix it", cwd=tmp_path, home=tmp_path, **options)
    assert loop.plan.needs_cost is needed
    assert loop.plan.options_for("claude").max_cost_unchecked is not needed
    assert loop.plan.ceilings.cost_usd == options.get("max_cost", 10)
