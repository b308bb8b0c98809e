"""Makes loops: new ones from a plan, and old ones from where they stopped."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rookery import agents
from rookery.loops import git, store
from rookery.loops.driver import Loop
from rookery.loops.effects import RealHands
from rookery.loops.plan import Ceilings, Goal, LoopPlan
from rookery.loops.rules import reached
from rookery.loops.state import LoopState
from rookery.loops.store import LoopFolder
from rookery.model.errors import RookeryError
from rookery.runs.home import home_folder


class BadPlanError(RookeryError):
    """A loop that could not end, or not begin."""


def loop(
    agent: str,
    prompt: str,
    *,
    cwd: str | os.PathLike[str] = ".",
    until: str | None = None,
    signals: Sequence[str] = (),
    ask_done: bool = False,
    checks: Sequence[str] = (),
    home: Path | None = None,
    **options: Any,
) -> Loop:
    """Make a loop of an agent; `async with` begins it. `options` are further fields of a LoopPlan.

    Without any sign of completion the agent is asked for one, as if by `ask_done`.
    """
    goal = Goal(until=until, signals=tuple(signals), ask_done=ask_done, checks=tuple(checks))
    plan = LoopPlan(agent=agent, prompt=prompt, cwd=os.fspath(cwd), goal=goal, **options)
    return new_loop(plan, home=home)


def new_loop(plan: LoopPlan, *, home: Path | None = None) -> Loop:
    """Make a loop and its folder; `async with` begins it."""
    where = home or home_folder()
    return _loop(store.create(where, checked(plan)), where)


def resumed_loop(
    name: str, *, ceilings: Mapping[str, float] | None = None, home: Path | None = None
) -> Loop:
    """Go on with a loop after an interrupt, a crash, a kill or a reboot.

    `ceilings` are fields of `Ceilings` that are other from now on: a loop that has reached one goes
    on only with a higher one.
    """
    where = home or home_folder()
    folder = store.find(where, name)
    with folder.locked():
        plan, state = folder.plan(), folder.state()
        raised = msgspec.structs.replace(plan.ceilings, **(ceilings or {}))
        if state is not None:
            _refuse_over(folder.name, state, raised)
            if state.is_over:
                folder.save(state.reopened(time.time()))
        if raised != plan.ceilings:
            folder.replan(msgspec.structs.replace(plan, ceilings=raised))
    return _loop(folder, where)


def _refuse_over(name: str, state: LoopState, most: Ceilings) -> None:
    """Say how to go on with a loop that has reached a ceiling, or that one cannot."""
    if state.can_go_on:
        return
    flags = [flag for _, flag in reached(most, state, state.ended_at or time.time())]
    if state.end in ("ceiling", "unverified") and not flags:
        return
    way = f"go on with  rook loop --resume {name} {' '.join(flags)}"
    raise BadPlanError(
        f"loop {name} is over: {state.reason}; {way if flags else f'see  rook show {name}'}"
    )


def checked(plan: LoopPlan) -> LoopPlan:
    """Give the plan whole: with a goal, absolute paths, and nothing that cannot be done."""
    agents.agent(plan.agent)
    if plan.on_limit.agent is not None:
        agents.agent(plan.on_limit.agent)
    if not plan.goal.asks_for_words and not plan.goal.checks:
        plan = msgspec.structs.replace(plan, goal=Goal(ask_done=True))
    cwd = os.path.abspath(plan.cwd)
    if (plan.commit or plan.worktree) and git.root(cwd) is None:
        raise BadPlanError(f"{cwd} is in no git repository: leave out --commit and --worktree")
    if plan.commit and not plan.worktree and not git.is_clean(cwd):
        raise BadPlanError(
            "there are changes that are not committed, and --commit would mix them with the "
            "agent's: commit or stash them, or use --worktree"
        )
    file = plan.prompt_file
    return msgspec.structs.replace(
        plan, cwd=cwd, prompt_file=None if file is None else os.path.abspath(file)
    )


def _loop(folder: LoopFolder, home: Path) -> Loop:
    plan = folder.plan()
    cwd = plan.cwd
    if plan.worktree:
        git.add_worktree(cwd, folder.worktree, folder.branch)
        cwd = str(folder.worktree)
    return Loop(
        folder, RealHands(plan, loop=folder.name, home=home, keep=folder.path / "git", cwd=cwd)
    )
