"""The page of `rook` alone on a terminal: first steps."""

import shutil

from nightrook import agents
from nightrook.adapter.agent import Agent
from nightrook.display.table import in_columns
from nightrook.model.text import suggested

_PROMPT = '"Fix the failing tests"'


def first_steps() -> str:
    """The first steps for a user who typed only `rook`."""
    here = [agent for agent in map(agents.agent, agents.NAMES) if _is_installed(agent)]
    steps = [
        ("rook demo", "see rook work: no key, no network"),
        (_run(here), "run an agent and watch what it does"),
        ("rook show", "see what it did and how it ended"),
        ("rook --help", "everything else"),
    ]
    lines = ["Nightrook runs coding agents and shows, records and accounts for everything they do."]
    lines += ["", *(f"  {line}" for line in in_columns(steps)), ""]
    if here:
        lines.append(f"Installed here: {', '.join(agent.name for agent in here)}. See: rook agents")
    else:
        known = agents.agent(agents.NAMES[0])
        lines.append("No agent is installed here yet. `rook agents` lists them; for example:")
        lines.append(f"  {known.install}")
    return "\n".join(lines)


def _is_installed(agent: Agent) -> bool:
    return any(shutil.which(program) for program in agent.programs)


def _run(here: list[Agent]) -> str:
    """The first run to try, with an agent that is installed."""
    if not here or here[0].name == agents.NAMES[0]:
        return f"rook run {_PROMPT}"
    return f"{suggested('run', '--agent', here[0].name)} {_PROMPT}"
