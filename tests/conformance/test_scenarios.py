"""Every agent that can be had goes through every scenario, or it is said why it does not."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from nightrook import agents
from nightrook.agents.acp.dialects import DIALECTS
from tests.conformance import test_acp
from tests.conformance.acp.speakers import SPEAKERS
from tests.conformance.scenarios import ACP_SCENARIOS, LACKING, SCENARIOS
from tests.rules import each

OWN = [agents.agent(name) for name in agents.NAMES if agents.agent(name).programs]
REAL = [agent.name for agent in OWN if agent.evidence == "recordings"]
MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
ADAPTERS = {"claude": "CLAUDE_ACP", "codex": "CODEX_ACP"}
"""The agents that speak ACP by another program than their own."""


def all_tests(module: ModuleType) -> Iterator[object]:
    """The tests of a module, and those of its classes."""
    for name, value in vars(module).items():
        if isinstance(value, type) and name.startswith("Test"):
            yield from (getattr(value, test) for test in dir(value))
        else:
            yield value


@each("name", SCENARIOS)
@each("agent", REAL)
def test_an_agent_goes_through_a_scenario_or_it_is_said_why_not(agent: str, name: str) -> None:
    module = import_module(f"tests.conformance.test_{agent}")
    marks = [mark for test in all_tests(module) for mark in getattr(test, "pytestmark", ())]
    tested = any(mark.name == "scenario" and name in mark.args for mark in marks)
    assert tested != ((agent, name) in LACKING)


@each("agent", REAL)
def test_the_newest_checked_version_is_the_one_that_is_tried(agent: str) -> None:
    newest = max(agents.agent(agent).checked_versions, key=lambda v: [*map(int, v.split("."))])
    assert f"\n{agent.upper()}_VERSION := {newest}\n" in MAKEFILE


@each("agent", [name for name, one in DIALECTS.items() if one.evidence == "recordings"])
def test_what_speaks_acp_is_tried_in_a_version_that_was_checked(agent: str) -> None:
    assert agent in SPEAKERS
    tried = f"\n{ADAPTERS.get(agent, agent.upper())}_VERSION := "
    version = MAKEFILE.partition(tried)[2].partition("\n")[0]
    assert version in DIALECTS[agent].checked


@each("name", ACP_SCENARIOS)
def test_what_speaks_acp_goes_through_every_scenario(name: str) -> None:
    marks = [mark for test in vars(test_acp).values() for mark in getattr(test, "pytestmark", ())]
    assert any(mark.name == "scenario" and name in mark.args for mark in marks)
