"""Claude's control protocol: what it asks, from recorded lines, and the answers we give."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nightrook
from nightrook.agents.claude.approvals import answer, read
from nightrook.model.events import PermissionRequested, Unknown
from nightrook.model.questions import Ask, Decision, Option, Question

CASES = Path(__file__).parent / "cases"


def recorded(case: str) -> list[bytes]:
    """The lines of a recorded case in which Claude asks."""
    lines = (CASES / case / "wire.jsonl").read_bytes().split(b"\n")
    return [line for line in lines if b'"can_use_tool"' in line]


def line(tool: str, input: Any, **more: Any) -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": input, **more}
    return json.dumps({"type": "control_request", "request_id": "r", "request": request}).encode()


def asked(tool: str, input: Any, **more: Any) -> Ask:
    found = read(line(tool, input, **more))
    assert found is not None
    return found


def answered(given: bytes, decision: Decision) -> dict[str, Any]:
    told = answer(given, decision)
    assert told.endswith(b"\n")
    assert told.count(b"\n") == 1
    message = json.loads(told)
    assert message["type"] == "control_response"
    assert message["response"]["subtype"] == "success"
    response: dict[str, Any] = message["response"]["response"]
    return response


def rules(*contents: tuple[str, str], destination: str) -> dict[str, Any]:
    named = [{"toolName": tool, "ruleContent": content} for tool, content in contents]
    told = {"type": "addRules", "rules": named, "behavior": "allow"}
    return {**told, "destination": destination}


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
def test_a_recorded_command_is_read_and_allowed(version: str) -> None:
    allowed, _, _ = recorded(f"s31_control_permissions-{version}")
    ask = read(allowed)
    assert ask is not None
    assert ask == Ask(
        id=json.loads(allowed)["request_id"],
        name="Bash",
        kind="execute",
        title="touch allowed.txt",
        purpose="t",
        always="Bash(touch allowed.txt)",
        remembers=True,
    )
    input = {"command": "touch allowed.txt", "description": "t"}
    once = {"behavior": "allow", "updatedInput": input}
    assert answered(allowed, Decision(allow=True)) == once
    assert json.loads(answer(allowed, Decision(allow=True)))["response"]["request_id"] == ask.id
    update = rules(("Bash", "touch allowed.txt"), destination="session")
    always = {**once, "updatedPermissions": [update]}
    assert answered(allowed, Decision(allow=True, always=True)) == always


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (Decision(allow=False), "The user denied this."),
        (Decision(allow=False, reason="use make"), "The user denied this: use make"),
        (
            Decision(allow=False, by="timeout"),
            "The user did not answer in time, so this is denied.",
        ),
        (Decision(allow=False, by="nobody"), "No user is available to approve this."),
    ],
)
def test_a_refusal_includes_the_reason_for_the_model(decision: Decision, message: str) -> None:
    _, denied, _ = recorded("s31_control_permissions-2.1.325")
    assert answered(denied, decision) == {"behavior": "deny", "message": message}


def test_recorded_questions_are_read_and_answered() -> None:
    _, _, questions = recorded("s31_control_permissions-2.1.325")
    ask = read(questions)
    assert ask is not None
    assert (ask.about, ask.always) == ("questions", None)
    assert ask.questions == (
        Question(
            text="Which?",
            options=(Option(label="A", description="a"), Option(label="B", description="b")),
        ),
    )
    told = answered(questions, Decision(allow=True, answers={"Which?": "B"}))
    input = json.loads(questions)["request"]["input"]
    assert told == {"behavior": "allow", "updatedInput": {**input, "answers": {"Which?": "B"}}}


def test_a_recorded_plan_is_read_and_approved() -> None:
    (given,) = recorded("s16b_plan_mode_stdio_prompt-2.1.197")
    ask = read(given)
    assert ask is not None
    assert (ask.about, ask.detail, ask.always) == ("plan", ("# Plan", "1. do it"), None)
    input = {"plan": "# Plan\n1. do it"}
    assert answered(given, Decision(allow=True)) == {"behavior": "allow", "updatedInput": input}
    (without,) = recorded("s16b_plan_mode_stdio_prompt-2.1.325")  # its model wrote no plan
    assert read(without) == Ask(
        id=json.loads(without)["request_id"], about="plan", name="ExitPlanMode"
    )


@pytest.mark.parametrize(
    ("tool", "input", "lines"),
    [
        ("Write", {"file_path": "/a", "content": "one\ntwo\n"}, ("+one", "+two")),
        ("Write", {"file_path": "/a", "content": ""}, ()),
        (
            "Edit",
            {"file_path": "/a", "old_string": "a\nb\nc", "new_string": "a\nB\nb2\nc"},
            ("-b", "+B", "+b2"),
        ),
        ("Edit", {"file_path": "/a", "old_string": "a\na", "new_string": "a"}, ("-a",)),
        (
            "MultiEdit",
            {"file_path": "/a", "edits": [{"old_string": "a"}, {"new_string": "b"}]},
            ("-a", "+b"),
        ),
        ("NotebookEdit", {"notebook_path": "/a", "new_source": "x = 1"}, ("+x = 1",)),
    ],
)
def test_a_change_is_shown_as_removed_and_added_lines(
    tool: str, input: dict[str, Any], lines: tuple[str, ...]
) -> None:
    ask = asked(tool, input)
    assert (ask.kind, ask.title, ask.detail) == ("edit", "/a", lines)


@pytest.mark.parametrize(
    ("tool", "input", "notes"),
    [
        (
            "Bash",
            {"command": "ls", "dangerouslyDisableSandbox": True, "run_in_background": True},
            ("outside its sandbox", "in the background"),
        ),
        (
            "Bash",
            {"command": "ls", "dangerouslyDisableSandbox": False, "timeout": None},
            (),
        ),
        (
            "Bash",
            {"command": "ls", "timeout": 9, "run_in_background": True, "description": 1},
            ("in the background", "with timeout: 9", "with description: 1"),
        ),
        (
            "Edit",
            {"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": True},
            ("everywhere in the file",),
        ),
        # A tool takes only its own inputs: another one must not stand for what it writes.
        (
            "Write",
            {"file_path": "/a", "content": "evil", "new_string": "harmless"},
            ('with new_string: "harmless"',),
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/a", "new_source": "x", "edit_mode": "delete"},
            ('with edit_mode: "delete"',),
        ),
        ("Read", {"file_path": "/a", "limit": 5}, ("with limit: 5",)),
        ("WebFetch", {"url": "https://a/", "prompt": "p"}, ('with prompt: "p"',)),
        ("ExitPlanMode", {"plan": "x", "allowedPrompts": [1]}, ("with allowedPrompts: [1]",)),
        ("mcp__x__y", {"a": 1}, ()),  # its title is the whole input
    ],
)
def test_every_input_that_is_not_shown_elsewhere_is_a_note(
    tool: str, input: dict[str, Any], notes: tuple[str, ...]
) -> None:
    assert asked(tool, input).notes == notes


def test_only_the_text_that_a_tool_writes_is_shown_as_its_change() -> None:
    ask = asked("Write", {"file_path": "/a", "content": "evil", "new_string": "harmless"})
    assert ask.detail == ("+evil",)


def test_each_of_several_edits_says_if_it_is_for_the_whole_file() -> None:
    edits = [{"old_string": "a", "new_string": "b", "replace_all": True}, {"new_string": "c"}]
    ask = asked("MultiEdit", {"file_path": "/a", "edits": edits})
    assert ask.detail == (" everywhere in the file:", "-a", "+b", "+c")


@pytest.mark.parametrize(
    ("tool", "input", "always", "scope"),
    [
        ("Bash", {"command": "ls"}, "Bash(ls)", None),
        ("Bash", {}, "Bash", "any call of Bash"),
        ("Write", {"file_path": "/a", "content": "x"}, "Edit(//a)", "any change to this file"),
        ("Read", {"file_path": "/a"}, "Read(//a)", "reading this file"),
        ("WebFetch", {"url": "https://a.org/x"}, "WebFetch(domain:a.org)", None),
        ("mcp__x__y", {"a": 1}, "mcp__x__y", "any call of mcp__x__y"),
    ],
)
def test_what_is_always_allowed_is_named(
    tool: str, input: dict[str, Any], always: str, scope: str | None
) -> None:
    ask = asked(tool, input)
    assert (ask.always, ask.scope) == (always, scope)


def test_all_edits_are_always_allowed_only_if_that_is_the_one_offer() -> None:
    edits = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    folder = {"type": "addDirectories", "directories": ["/b"], "destination": "session"}
    input = {"file_path": "/b/a", "content": "x"}
    one = line("Write", input, permission_suggestions=[edits])
    ask = read(one)
    assert ask is not None
    assert (ask.always, ask.remembers) == (
        "all file changes in this folder, rm and mv too",
        True,
    )
    told = answered(one, Decision(allow=True, always=True))
    assert told["updatedPermissions"] == [edits]
    # A file elsewhere would be asked for again: we remember it, by its own rule.
    other = line("Write", input, permission_suggestions=[edits, folder])
    ask = read(other)
    assert ask is not None
    assert (ask.always, ask.remembers) == ("Edit(//b/a)", False)
    assert "updatedPermissions" not in answered(other, Decision(allow=True, always=True))


def test_what_is_always_allowed_is_kept_to_the_session_whatever_is_offered() -> None:
    offer = rules(("Read", "//etc/**"), ("Read", "//usr/**"), destination="userSettings")
    given = line("Read", {"file_path": "/etc/hosts"}, permission_suggestions=[offer])
    ask = read(given)
    assert ask is not None
    assert ask.always == "Read(//etc/**), Read(//usr/**)"
    (update,) = answered(given, Decision(allow=True, always=True))["updatedPermissions"]
    assert update["destination"] == "session"


def test_a_rule_that_would_forbid_is_not_offered_as_one_that_allows() -> None:
    offer = {**rules(("Bash", "rm *"), destination="session"), "behavior": "deny"}
    ask = asked("Bash", {"command": "rm a"}, permission_suggestions=[offer])
    assert (ask.always, ask.remembers) == ("Bash(rm a)", False)


@pytest.mark.parametrize(
    ("tool", "input", "title"),
    [
        ("Bash", {"command": "one\ntwo"}, "one\ntwo"),
        ("WebFetch", {"url": "https://example.org/", "prompt": "p"}, "https://example.org/"),
        ("mcp__db__drop", {"table": "users"}, '{"table": "users"}'),
        ("Bash", "no object", '"no object"'),
    ],
)
def test_the_title_leaves_nothing_out(tool: str, input: Any, title: str) -> None:
    assert asked(tool, input).title == title


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"not json",
        b'{"type":"assistant"}',
        b'{"type":"control_request"}',
        b'{"type":"control_request","request":{"subtype":"can_use_tool"}}',
    ],
)
def test_other_lines_are_not_requests(other: bytes) -> None:
    assert read(other) is None


def test_what_we_cannot_give_is_refused() -> None:
    request = {"subtype": "elicitation", "message": "Your name?"}
    given = json.dumps({"type": "control_request", "request_id": "r", "request": request}).encode()
    assert read(given) == Ask(id="r", about="other", name="elicitation", title="Your name?")
    told = json.loads(answer(given, Decision(allow=False, by="nobody")))
    error = {"subtype": "error", "request_id": "r", "error": "No user is available to answer this."}
    assert told == {"type": "control_response", "response": error}


@pytest.mark.parametrize(("subtype", "unknown"), [("elicitation", 0), ("telepathy", 1)])
def test_other_requests_are_asks_too(subtype: str, unknown: int) -> None:
    request = {"subtype": subtype, "message": "Your name?"}
    given = json.dumps({"type": "control_request", "request_id": "r", "request": request}).encode()
    events = [record.event for record in nightrook.decoder("claude").feed(given + b"\n")]
    asked = PermissionRequested(id="r", name=subtype, reason="Your name?")
    assert events[unknown:] == [asked]
    assert [type(event) for event in events[:unknown]] == [Unknown] * unknown


def test_broken_text_is_mended_not_sent_back_broken() -> None:
    given = line("Bash", {"command": "@"}).replace(b"@", b"\\ud83d \xff")
    ask = read(given)
    assert ask is not None
    assert ask.title == "\ufffd \ufffd"
    told = answered(given, Decision(allow=True))
    assert told["updatedInput"] == {"command": "\ufffd \ufffd"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
tools = st.sampled_from(["Bash", "Edit", "Write", "ExitPlanMode", "AskUserQuestion", "x", ""])
parts = st.dictionaries(
    st.sampled_from(["command", "edits", "questions", "plan", "file_path", "old_string", "z"]),
    json_values,
)


@given(tools, parts | json_values, json_values)
def test_whatever_is_asked_can_be_answered(tool: str, input: Any, offers: Any) -> None:
    given = line(tool, input, permission_suggestions=offers)
    assert read(given) is not None
    for decision in (Decision(allow=True, always=True), Decision(allow=False, reason="no")):
        answered(given, decision)
