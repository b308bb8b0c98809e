"""What `rook` alone says on a terminal: what to do first."""

import shutil

from rookery import agents
from rookery.adapter.agent import Agent
from rookery.cli.tables import columns

_PROMPT = '"Fix the failing tests"'


def first_words() -> str:
    """What someone should try who has typed `rook` and nothing else."""
    here = [agent for agent in map(agents.agent, agents.NAMES) if _is_installed(agent)]
    steps = [
        ("rook demo", "see it work: no key, no network"),
        (_run(here), "run an agent and watch what it does"),
        ("rook show", "see what it did and how it ended"),
        ("rook --help", "everything else"),
    ]
    said = ["Rookery runs coding agents and shows, records and accounts for all they do."]
    said += ["", *(f"  {line}" for line in columns(steps)), ""]
    if here:
        said.append(f"Installed here: {', '.join(agent.name for agent in here)}. See: rook agents")
    else:
        known = agents.agent(agents.NAMES[0])
        said.append("No agent is installed here yet. `rook agents` lists those there are; one is:")
        said.append(f"  {known.install}")
    return "\n".join(said)


def _is_installed(agent: Agent) -> bool:
    return any(shutil.which(program) for program in agent.programs)


def _run(here: list[Agent]) -> str:
    """The first run to try: with an agent that is there."""
    if not here or here[0].name == agents.NAMES[0]:
        return f"rook run {_PROMPT}"
    return f"rook run --agent {here[0].name} {_PROMPT}"
