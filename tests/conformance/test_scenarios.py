"""Every agent that can be had goes through every scenario, or it is said why it does not."""

from importlib import import_module
from pathlib import Path

from rookery import agents
from tests.conformance.scenarios import LACKING, SCENARIOS
from tests.rules import each

REAL = [name for name in agents.NAMES if agents.agent(name).evidence == "recordings"]


@each("name", SCENARIOS)
@each("agent", REAL)
def test_an_agent_goes_through_a_scenario_or_it_is_said_why_not(agent: str, name: str) -> None:
    module = import_module(f"tests.conformance.test_{agent}")
    marks = [mark for test in vars(module).values() for mark in getattr(test, "pytestmark", ())]
    tested = any(mark.name == "scenario" and name in mark.args for mark in marks)
    assert tested != ((agent, name) in LACKING)


@each("agent", REAL)
def test_the_newest_checked_version_is_the_one_that_is_tried(agent: str) -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    newest = max(agents.agent(agent).checked_versions, key=lambda v: [*map(int, v.split("."))])
    assert f"\n{agent.upper()}_VERSION := {newest}\n" in makefile
