"""Facts in the last lines of a run: its name, and how to resume, log in or install."""

import shlex
import time
from pathlib import Path

from nightrook import agents
from nightrook.adapter.agent import Agent
from nightrook.display.ending import AboutRun
from nightrook.model.ending import Ending
from nightrook.model.errors import UnknownAgentError
from nightrook.model.safe import safe_line
from nightrook.model.state import RunState
from nightrook.model.status import Outcome
from nightrook.model.stuck_detection import WAITS_FOR_LOGIN
from nightrook.process.demo_player import is_played
from nightrook.store.names import branch_of
from nightrook.store.run_formats import RunInfo
from nightrook.story.story import Story


def about_run(story: Story, ending: Ending[Outcome]) -> AboutRun:
    """Facts in the last lines of a run next to its ending."""
    state, agent, folder = story.state, story.agent, story.folder
    info = folder.info() if folder else None
    unstarted_pipe = ending.status == "not_started" and info is not None and info.piped
    resets_at = ending.facts.stream.resets_at
    known = known_agent(agent)
    can_resume = known is not None and known.capabilities.resume != "no"
    played = info is not None and is_played(info.program)
    worktree = info.worktree if info and info.worktree and Path(info.worktree).is_dir() else None
    return AboutRun(
        run=folder.name if folder and not unstarted_pipe else None,
        resets_in_s=None if resets_at is None else resets_at - time.time(),
        resumable=state.session is not None and not played and can_resume,
        install=known.install_for(info.via if info else None) if known else None,
        login=_login(known, info, state, ending) if known else None,
        own_agent=info.called if info else story.called,
        worktree=worktree,
        branch=branch_of(worktree) if worktree else "",
        other_agent=next((name for name in agents.NAMES if name != agent), None),
    )


def _login(
    agent: Agent, info: RunInfo | None, state: RunState, ending: Ending[Outcome]
) -> str | None:
    """The command that logs in, if the run ended for want of a login or with a wrong one."""
    errors, facts = state.errors, ending.facts
    ended_so = ending.status in ("failed", "not_started")
    refused = ended_so and bool(errors) and errors[-1].kind == "auth"
    waits = facts.person.suspicion is not None and facts.person.suspicion.reason == WAITS_FOR_LOGIN
    missing = ending.status == "not_started" and facts.process.agent_exit_code in agent.login_codes
    if agent.login is None or not (refused or waits or missing):
        return None
    own = info.program if info and info.called else None
    if not own or not agent.login.startswith(agent.programs[:1]):
        return agent.login
    return safe_line(shlex.join(own) + agent.login.removeprefix(agent.programs[0]))


def known_agent(name: str | None) -> Agent | None:
    """The agent of that name; None for one that only another version knows."""
    try:
        return agents.agent(name) if name else None
    except UnknownAgentError:
        return None
