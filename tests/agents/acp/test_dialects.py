"""The table of agents that speak ACP, and how they are composed with native adapters."""

import ast
import re
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.adapter.agent import Task
from nightrook.agents.acp import dialects
from nightrook.agents.acp.adapter import speaker
from nightrook.agents.acp.dialects import DIALECTS
from nightrook.events import SessionStarted
from nightrook.model.errors import UnsupportedError

PAGE = Path(__file__).parents[3] / "docs" / "acp.md"
COMPOSED = [name for name in agents.NAMES if name in DIALECTS]
USAGES = {
    "request": "of each request",
    "last_request": "of the last request",
    "turn": "of the turn",
    "process": "of the turn, from a total",
    "session": "of the turn, from a total",
    None: "no",
}


def test_at_least_eighteen_agents_can_be_run() -> None:
    runnable = [name for name in agents.names() if name != "acp"]
    assert len(runnable) == len(set(runnable)) >= 18


def test_an_agent_takes_at_most_fifteen_lines() -> None:
    tree = ast.parse(Path(dialects.__file__).read_text(encoding="utf-8"))
    entries = [
        (node.end_lineno or 0) - node.lineno + 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Dialect"
    ]
    # The braces are not what an agent takes: name, title, command and so on are.
    assert len(entries) == len(DIALECTS)
    assert max(entries) - 2 <= 15


def test_hermes_is_added_from_its_documentation() -> None:
    hermes = agents.agent("hermes")
    assert (hermes.evidence, hermes.checked_versions) == ("documentation", ())
    assert hermes.invoke(Task(prompt="Hi")).command == ("hermes", "acp")


def test_no_two_agents_introduce_themselves_alike() -> None:
    infos = [dialect.info for dialect in DIALECTS.values() if dialect.info]
    assert len(infos) == len(set(infos))


@pytest.mark.parametrize("name", DIALECTS)
def test_recordings_are_the_evidence_where_there_are_versions(name: str) -> None:
    dialect = DIALECTS[name]
    assert (dialect.evidence == "recordings") is bool(dialect.checked)
    assert dialect.checked == () or dialect.info is not None


def test_the_page_lists_every_agent_as_the_table_has_it() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)` \| ([^|]+) \| (\w+) \| (\w+) \|$", page(), re.M)
    assert [row[0] for row in rows] == list(DIALECTS)
    for name, command, tokens, cost, evidence in rows:
        dialect = DIALECTS[name]
        assert command == " ".join(dialect.command)
        assert tokens.startswith(USAGES[dialect.usage])
        assert (cost == "yes", evidence) == (dialect.cost is not None, dialect.evidence)


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMPOSED)
def test_a_native_agent_keeps_its_own_way_as_the_default(name: str) -> None:
    agent = agents.agent(name)
    task = Task(prompt="Hi")
    assert agent.ways[-1].name == "acp"
    assert agent.usual_way(task) != "acp"
    assert agent.invoke(task).command[0] in agent.programs
    via_acp = agent.invoke(Task(prompt="Hi", via="acp"))
    assert via_acp.command == DIALECTS[name].command
    assert via_acp.keep_stdin_open


@pytest.mark.parametrize("name", COMPOSED)
def test_every_native_agent_can_ask_in_one_of_its_ways(name: str) -> None:
    assert any(way.asks for way in agents.agent(name).ways)


@pytest.mark.parametrize("name", agents.speaker_names())
def test_an_agent_that_is_known_by_its_protocol_runs_its_command(name: str) -> None:
    agent = agents.agent(name)
    assert agent.invoke(Task(prompt="Hi", args=("-x",))).command == (*DIALECTS[name].command, "-x")
    assert [way.name for way in agent.ways] == ["acp"]


def test_a_composed_agent_still_reads_its_own_stream() -> None:
    message = b'{"type":"system","subtype":"init","session_id":"s","model":"m"}\n'
    records = agents.decoder("claude").feed(message)
    assert isinstance(records[0].event, SessionStarted)


def test_text_before_the_first_message_of_a_composed_agent_is_kept() -> None:
    hello = b'{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"agentInfo":{"name":"x"}}}\n'
    decoder = agents.decoder("gemini")
    assert decoder.feed(b"Loading...\n") == []
    records = [*decoder.feed(hello), *decoder.close()]
    tags = [type(record.event).__struct_config__.tag for record in records]
    assert tags[0] == "unreadable"
    assert "turn_finished" in tags


def test_what_an_agent_cannot_do_over_acp_is_refused_before_it_starts() -> None:
    for task in (Task(prompt="", via="acp", max_turns=3), Task(prompt="", via="acp", stream=False)):
        with pytest.raises(UnsupportedError):
            agents.agent("gemini").invoke(task)
    with pytest.raises(UnsupportedError):
        agents.agent("vibe").invoke(Task(prompt="", permission="plan"))


def test_any_command_makes_an_agent() -> None:
    mine = speaker("mine", ("my-agent", "--acp"))
    assert mine.invoke(Task(prompt="Hi")).command == ("my-agent", "--acp")
    assert mine.decoder().agent == "mine"
    assert mine.capabilities.usage == "no"
