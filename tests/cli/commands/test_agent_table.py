"""The table of agents, and the page of one."""

import msgspec
import pytest

from nightrook import agents
from nightrook.adapter.agent import Capabilities
from nightrook.cli.commands.agents import (
    REPORTED,
    InstalledAgent,
    StoredAgent,
    agent_details,
    agent_table,
    history_lines,
    stored_details,
    system_details,
)
from nightrook.display.console import Paint

PLAIN = Paint()


def described(name: str, version: str | None = None) -> InstalledAgent:
    agent = agents.agent(name)
    return InstalledAgent(
        name=name,
        speaks=name,
        command=agent.programs[:1],
        path=f"/bin/{name}" if version else None,
        version=version,
        problem=None,
        checked=version in agent.checked_versions if version else None,
        checked_versions=agent.checked_versions,
        evidence=agent.evidence,
        install=agent.install,
        capabilities=agent.capabilities,
        ways=agent.ways,
        history=name in agents.HISTORIES,
    )


ALL = [described(name, agents.agent(name).checked_versions[-1:][0]) for name in agents.NAMES[:5]]


def test_every_capability_has_its_column_and_its_row() -> None:
    names = set(Capabilities.__struct_fields__) - {"notes"}
    assert set(REPORTED) == names
    (heading, *_) = agent_table(ALL, width=None, paint=PLAIN)
    details = "\n".join(agent_details(ALL[0], width=None))
    for column, meaning in REPORTED.values():
        assert column in heading.split()
        assert f"\n{meaning}  " in details


def test_what_is_reported_in_part_or_not_at_all_is_marked() -> None:
    heading, row = agent_table([described("codex", "0.166.0")], width=None, paint=PLAIN)
    marks = {column: row[heading.index(column) :].split()[0] for column, _ in REPORTED.values()}
    support = agents.agent("codex").capabilities
    words = {"yes": "yes", "partly": "~", "no": "no"}
    assert marks == {
        column: words[getattr(support, name)] for name, (column, _) in REPORTED.items()
    }
    assert row.endswith("  app-server exec acp")


def test_marks_have_a_colour_of_their_own() -> None:
    _, row = agent_table([described("codex", "0.166.0")], width=80, paint=Paint(colour=True))
    assert "\x1b[1;31mno\x1b[0m" in row
    assert "\x1b[35m~\x1b[0m" in row


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_terminal_shows_fewer_columns_rather_than_broken_lines(width: int) -> None:
    lines = agent_table([*ALL, described("amp")], width=width, paint=PLAIN)
    assert max(map(len, lines)) <= width
    assert "TOKENS" in lines[0]
    assert lines[2].endswith("app-server exec acp")


@pytest.mark.parametrize(
    ("version", "start"),
    [
        ("2.1.325", "claude  2.1.325  yes "),
        ("99.0.1", "claude  99.0.1   no (2.1.325) "),
        (None, "claude  -        2.1.325 "),
    ],
)
def test_the_installed_version_is_beside_the_checked_one(version: str | None, start: str) -> None:
    _, row = agent_table([described("claude", version)], width=None, paint=PLAIN)
    assert row.startswith(start)


def test_a_version_that_is_not_known_is_a_question_mark() -> None:
    silent = msgspec.structs.replace(described("claude"), path="/bin/claude", problem="hangs")
    _, row = agent_table([silent], width=None, paint=PLAIN)
    assert row.startswith("claude  ?        2.1.325 ")
    assert "/bin/claude: hangs" in "\n".join(agent_details(silent, width=None))


def test_the_details_name_every_way_to_run_an_agent_and_its_notes() -> None:
    details = "\n".join(agent_details(described("codex"), width=None))
    assert "  exec\n" in details
    assert "  app-server (it can ask for approval)\n" in details
    assert "\n- --via app-server: Text, thinking and" in details


def test_notes_are_wrapped_between_words() -> None:
    *_, first, second = agent_details(described("amp"), width=80)
    assert first.startswith("- Without a login it waits for one")
    assert second.startswith("  or set")


def test_what_is_weaker_on_this_system_is_a_list_that_is_wrapped() -> None:
    shown = system_details(["one two three", "four"], width=10)
    assert [*shown] == ["WEAKER HERE THAN ON LINUX", "- one two", "  three", "- four"]


def test_agents_of_which_only_the_history_is_read_are_listed_below() -> None:
    stored = StoredAgent(name="droid", folders=("~/.factory",), notes=("It reports one sum.",))
    assert list(history_lines([described("claude"), described("amp")], [stored])) == [
        "sessions on disk that rook cost counts: claude",
        "history only, rook can't run these: droid",
    ]
    assert list(stored_details(stored, width=80)) == [
        "agent     droid",
        "runs via  nothing: rook can't run it",
        "history   its sessions on disk are counted: ~/.factory",
        "",
        "- It reports one sum.",
    ]
