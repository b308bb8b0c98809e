"""The public `nightrook.loop`: every option, typed and checked before anything starts."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from msgspec.structs import replace

import nightrook
from nightrook.config.options import LoopOptions
from nightrook.loops.ceilings import Ceilings
from nightrook.loops.plan import Goal, OnLimit, plan_of
from tests.loops.playing import install

COMMAND_LINE_ONLY = {"stdin_mode", "resume", "format", "quiet", "detach"}


def test_it_has_every_option_of_the_command() -> None:
    keywords = set(get_type_hints(nightrook.LoopKeywords))
    options = set(LoopOptions.__struct_fields__) - COMMAND_LINE_ONLY
    assert keywords == options - {"agent"} | {"stdin", "env", "args", "program", "called", "home"}


def test_the_defaults_are_those_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    plan = nightrook.loop("claude", "Fix it", cwd=work, until="D", home=tmp_path).plan
    usual = plan_of(LoopOptions(until="D", cwd=str(work)), prompt="Fix it", needs_cost=False)
    assert plan == replace(usual, repository=plan.repository)


def test_a_loop_runs_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)

    async def whole() -> int | None:
        async with nightrook.loop("claude", "Fix it", cwd=work, until="DONE") as loop:
            async for event in loop:
                assert event.at > 0
        return loop.exit_code

    assert asyncio.run(whole()) == 0


def test_options_become_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    plan = nightrook.loop(
        "claude",
        "Fix it",
        cwd=work,
        checks=["true"],
        check_timeout="2m",
        max_time=timedelta(hours=1),
        max_cost=3,
        timeout="90s",
        on_limit="switch:codex",
        max_quota="80%",
        model="small",
        env={"A": "1"},
        program="/bin/claude",
        home=tmp_path / "elsewhere",
    ).plan
    assert (plan.goal, plan.check_s) == (Goal(checks=("true",)), 120.0)
    assert plan.ceilings == Ceilings(time_s=3600.0, cost_usd=3.0)
    assert (plan.iteration_s, plan.max_quota) == (90.0, 0.8)
    assert plan.on_limit == OnLimit(do="switch", agent="codex")
    assert (plan.run.model, plan.run.env, plan.run.program) == (
        "small",
        {"A": "1"},
        ("/bin/claude",),
    )
    assert len(list((tmp_path / "elsewhere" / "loops").iterdir())) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": "soon"},
        {"max_cost": "much"},
        {"max_iterations": 0},
        {"on_limit": "flee"},
        {"permission": "whatever"},
        {"feed": "sideways"},
        {"env": "A=1"},
    ],
    ids=str,
)
def test_a_wrong_value_is_refused_before_anything_starts(
    wrong: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(nightrook.OptionError, match=next(iter(wrong))):
        nightrook.loop("claude", "Fix it", home=tmp_path / "home", **wrong)
    assert not (tmp_path / "home").exists()
