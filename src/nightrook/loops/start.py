"""Makes loops: new ones from a plan, and existing ones that are resumed."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nightrook import agents
from nightrook.loops.ceilings import Ceilings, reached_ceilings
from nightrook.loops.effects import RealEffects
from nightrook.loops.loop import Loop
from nightrook.loops.plan import Goal, LoopPlan
from nightrook.loops.state import LoopState
from nightrook.loops.storage import LOOP_FOLDERS, LoopFolder
from nightrook.model.errors import NightrookError
from nightrook.model.text import suggested
from nightrook.runs.git.repository import add_worktree, find_repository
from nightrook.runs.git.worktrees import folder_in
from nightrook.runs.start import refuse_unheld_run
from nightrook.store.home import home_folder


class BadPlanError(NightrookError):
    """A loop that cannot start, or cannot be resumed."""


def new_loop(plan: LoopPlan, *, home: Path | None = None) -> Loop:
    """Make a loop and its folder; `async with` starts it."""
    where = home or home_folder()
    return _loop(LOOP_FOLDERS.create(where, checked(plan)), where)


def resumed_loop(
    name: str, *, ceilings: Mapping[str, float] | None = None, home: Path | None = None
) -> Loop:
    """Resume a loop after an interrupt, a crash, a kill or a reboot.

    `ceilings` are fields of `Ceilings` to change from now on: a loop that has reached one can be
    resumed only with a higher one.
    """
    where = home or home_folder()
    folder = LOOP_FOLDERS.find(where, name)
    with folder.locked():
        plan, state = folder.plan(), folder.state()
        changed = msgspec.structs.replace(plan.ceilings, **(ceilings or {}))
        if state is not None:
            _refuse_ended(folder.name, state, changed)
            if state.is_over:
                folder.save_state(state.reopened(time.time()))
        if changed != plan.ceilings:
            folder.save_plan(msgspec.structs.replace(plan, ceilings=changed))
    return _loop(folder, where)


def _refuse_ended(name: str, state: LoopState, ceilings: Ceilings) -> None:
    """Refuse a loop that has ended, and name the options with which it can be resumed, if any."""
    if state.can_resume:
        return
    reached = reached_ceilings(
        ceilings, iterations=state.iterations, used=state.used(state.elapsed_s(time.time()))
    )
    if state.end in ("ceiling", "unverified") and not reached:
        return
    options = " ".join(ceiling.higher for ceiling in reached)
    resume = suggested("loop", "--resume", name)
    hint = f"resume it with  {resume} {options}" if reached else None
    details = f"details: {suggested('show', name)}"
    raise BadPlanError(f"loop {name} has ended: {state.reason}; {hint or details}")


def checked(plan: LoopPlan) -> LoopPlan:
    """Complete a plan: with a goal and absolute paths; a BadPlanError if it cannot work."""
    agents.agent(plan.run.agent)
    if plan.on_limit.agent is not None:
        agents.agent(plan.on_limit.agent)
    for agent in filter(None, (plan.run.agent, plan.on_limit.agent)):
        options = plan.options_for(agent)
        refuse_unheld_run(msgspec.structs.replace(options, max_cost=plan.ceilings.cost_usd))
    if not plan.goal.needs_answer and not plan.goal.checks:
        plan = msgspec.structs.replace(plan, goal=Goal(ask_done=True))
    cwd = os.path.abspath(plan.run.cwd)
    repository = find_repository(cwd)
    if (plan.commit or plan.worktree) and repository is None:
        raise BadPlanError(f"{cwd} isn't in a git repository: leave out --commit and --worktree")
    if repository and plan.commit and not plan.worktree and repository.uncommitted() != []:
        raise BadPlanError(
            "there are changes that are not committed, and --commit would mix them with the "
            "agent's: commit or stash them, or use --worktree"
        )
    file = plan.prompt_file
    permission = plan.run.permission or "agent"
    return msgspec.structs.replace(
        plan,
        run=msgspec.structs.replace(plan.run, cwd=cwd, permission=permission),
        prompt_file=None if file is None else os.path.abspath(file),
    )


def _loop(folder: LoopFolder, home: Path) -> Loop:
    plan = folder.plan()
    cwd = _cwd_in_worktree(folder, plan.run.cwd) if plan.worktree else plan.run.cwd
    if plan.repository is None:  # fixed before the agent runs, which may lead git elsewhere
        plan = msgspec.structs.replace(plan, repository=find_repository(cwd))
        folder.save_plan(plan)
    effects = RealEffects(plan, loop=folder.name, home=home, snapshots=folder.snapshots, cwd=cwd)
    return Loop(folder, effects)


def _cwd_in_worktree(folder: LoopFolder, cwd: str) -> str:
    """The folder to work in: the one in the loop's worktree that matches the user's folder."""
    add_worktree(cwd, folder.worktree, folder.branch)
    # The user may have removed the folder, or the whole repository, since the loop started.
    existing = next(path for path in (Path(cwd), *Path(cwd).parents) if path.is_dir())
    source = find_repository(str(existing))
    if source is None:
        return str(folder.worktree)
    matching = Path(folder_in(folder.worktree, cwd, source.top))
    matching.mkdir(parents=True, exist_ok=True)  # it may not be in the last commit
    return str(matching)  # guards: matching-subfolder
