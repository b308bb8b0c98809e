"""What is known of an agent's tools: kinds, titles, and whose they are."""

import msgspec
import pytest

from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.tools import Tools, first_of, informing_string, split_mcp, title_of
from nightrook.model.events import ToolStarted

TOOLS = Tools(
    kinds={"sh": "execute", "todo": "plan"},
    titles={"execute": ("command", "task"), "plan": ()},
)


def test_a_call_includes_everything_known_from_its_name_and_input() -> None:
    input = msgspec.Raw(b'{"note":"x","command":"make\\n test"}')
    assert TOOLS.started("c", "sh", input, parent="p") == ToolStarted(
        id="c", name="sh", kind="execute", title="make test", input=input, parent="p"
    )
    assert TOOLS.started("c", "mcp__tiny__echo", NOTHING) == ToolStarted(
        id="c", name="mcp__tiny__echo", kind="other", server="tiny", tool="echo"
    )


def test_a_title_that_is_given_is_kept() -> None:
    started = TOOLS.started("c", "sh", msgspec.Raw(b'{"command":"ls"}'), title="Look")
    assert started.title == "Look"


@pytest.mark.parametrize(
    ("name", "input", "title"),
    [
        ("sh", b'{"task":"7","command":""}', "7"),
        ("sh", b'{"other":"seven"}', None),
        ("sh", b'{"name":"seven"}', "seven"),
        ("todo", b'{"text":"seven"}', None),
        ("new", b'{"text":"seven"}', "seven"),
        ("new", b'{"count":7}', None),
        ("sh", b'{"command":7}', None),
    ],
)
def test_titles(name: str, input: bytes, title: str | None) -> None:
    assert TOOLS.title(TOOLS.kind(name), msgspec.Raw(input)) == title


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("mcp__my_server__a__b", ("my_server", "a__b")),
        ("mcp__tool", (None, None)),
        ("mcp____tool", (None, None)),
        ("shell", (None, None)),
    ],
)
def test_names_of_servers_tools(name: str, found: tuple[str | None, str | None]) -> None:
    assert split_mcp(name) == found


def test_each_agent_may_part_server_and_tool_in_its_own_way() -> None:
    assert split_mcp("mcp_tiny_echo_all", prefix="mcp_", separator="_") == ("tiny", "echo_all")
    assert split_mcp("tiny__echo", prefix="") == ("tiny", "echo")
    assert split_mcp("shell", prefix="") == (None, None)


@pytest.mark.parametrize(
    ("input", "title"),
    [
        (b'{"n": 1, "text": " hi\\n there "}', "hi there"),
        (b'{"path": "", "query": "  ", "name": "x"}', "x"),
        (b'{"foo": "bar", "name": "first", "path": "second"}', "first"),
        (b'{"prompt": "%b", "name": "s"}' % (b"x" * 201), "s"),
        (b'{"foo": "bar"}', None),
        (b'{"path": 5}', None),
        (b'{"inner": {"text": "x"}}', None),
        (b'["x"]', None),
        (b"{torn", None),
    ],
)
def test_the_first_field_that_informs_is_the_title(input: bytes, title: str | None) -> None:
    assert informing_string(msgspec.Raw(input)) == title


@pytest.mark.parametrize(
    ("input", "words"),
    [
        (b'{"b": "two", "a": "one"}', "one"),
        (b'{"b": "two", "a": ""}', "two"),
        (b'{"b": "two", "a": 5}', "two"),
        (b'{"c": "three"}', None),
        (b'["a"]', None),
        (b"{torn", None),
        (b"", None),
    ],
)
def test_the_first_field_with_a_value_is_used(input: bytes, words: str | None) -> None:
    assert first_of(msgspec.Raw(input), "a", "b") == words


def test_a_title_is_one_line_of_bounded_length() -> None:
    input = msgspec.Raw(b'{"a": "one\\n two %b"}' % (b"x" * 2000))
    title = title_of(input, "a")
    assert title is not None
    assert title.startswith("one two xxx")
    assert len(title) == 1000
    assert title_of(NOTHING, "a") is None
