"""What Kimi Code's messages mean, beyond the recorded cases."""

import json
from typing import Any

import msgspec

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent
from nightrook.agents.kimi.tools import replacements
from nightrook.model.events import Event, FileChanged, SessionStarted, ToolFinished, ToolStarted
from nightrook.model.fold import fold
from nightrook.model.ledger import Money
from nightrook.model.verdict import judge
from tests.recorded import cases, folded, messages, name_of
from tests.rules import each

Json = dict[str, Any]
VERSION = {"role": "meta", "type": "system.version", "version": "2.1.0"}
HINT = {"role": "meta", "type": "session.resume_hint", "session_id": "s"}


def call(name: str, id: str = "c1", **input: Any) -> Json:
    function = {"name": name, "arguments": json.dumps(input)}
    return {"role": "assistant", "tool_calls": [{"id": id, "function": function}]}


def done(content: str, id: str = "c1") -> Json:
    return {"role": "tool", "tool_call_id": id, "content": content}


def said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def records(*stream: Json) -> list[nightrook.Record]:
    decoder = nightrook.decoder("kimi")
    wire = "".join(json.dumps(one) + "\n" for one in stream).encode()
    return decoder.feed(wire) + decoder.close()


def events(*stream: Json, of: type[Event]) -> list[Any]:
    return [record.event for record in records(*stream) if isinstance(record.event, of)]


def status(*stream: Json) -> str:
    return judge(fold(records(*stream))).status


@each("path", cases("kimi"), ids=name_of)
def test_tokens_and_cost_are_unknown(path: Any) -> None:
    ledger = folded(path).ledger
    assert ledger.cost == Money(None, "unknown")
    assert not ledger.has_usage


@each("path", cases("kimi"), ids=name_of)
def test_a_session_is_known_if_the_stream_names_it(path: Any) -> None:
    named = [m["session_id"] for m in messages(path) if "session_id" in m]
    assert folded(path).session == (named[-1] if named else None)


@each(
    ("name", "text", "status", "code"),
    [
        ("Bash", "no output\nCommand failed with exit code: 7.", "error", 7),
        ("Bash", "Command failed with exit code: 7.\nbut not at the end", "ok", None),
        ("Bash", "Command executed successfully.", "ok", None),
        ("Bash", "x\nCommand killed by timeout (60s)", "timed_out", None),
        ("Bash", "x\nInterrupted by user", "cancelled", None),
        ("Bash", "Session closed", "cancelled", None),
        ("Read", '"/a b.txt" does not exist.', "error", None),
        ("Read", '1\t"/a b.txt" does not exist.', "ok", None),
        ("Write", "Failed to write /a: parent directory does not exist.", "error", None),
        ("Write", "Wrote 2 bytes to /a", "ok", None),
        ("mcp__tiny__boom", "boom: it failed", "ok", None),
    ],
)
def test_a_result_is_read_by_the_words_of_its_tool(
    name: str, text: str, status: str, code: int | None
) -> None:
    (finished,) = events(VERSION, call(name), done(text), of=ToolFinished)
    assert (finished.status, finished.exit_code) == (status, code)


def test_only_a_successful_edit_changes_a_file() -> None:
    edit = call("Edit", path="/a", old_string="x", new_string="y")
    (changed,) = events(edit, done("Replaced 1 occurrence in /a"), of=FileChanged)
    assert changed == FileChanged(path="/a", tool_id="c1")
    assert events(edit, done("old_string not found in /a"), of=FileChanged) == []


def test_the_text_of_edits_is_known() -> None:
    edit = {"path": "/a", "old_string": "x", "new_string": "y"}
    started = ToolStarted(
        id="c", name="Edit", kind="edit", input=msgspec.Raw(msgspec.json.encode(edit))
    )
    assert replacements(started) == (Replacement("x", "y"),)


def test_an_input_that_is_cut_off_is_unknown() -> None:
    cut = {"id": "c1", "function": {"name": "Bash", "arguments": '{"command": "ec'}}
    (started,) = events({"role": "assistant", "tool_calls": [cut]}, of=ToolStarted)
    assert started.input is None


def test_a_blank_command_makes_no_title() -> None:
    (started,) = events(call("Bash", command=" "), of=ToolStarted)
    assert (started.title, started.kind) == (None, "execute")


def test_only_a_resume_hint_ends_a_run_well() -> None:
    assert status(VERSION, said("Done."), HINT) == "success"
    assert status(VERSION, said("Done.")) == "incomplete"
    assert status(VERSION, call("Bash"), done("x"), HINT) == "incomplete"
    assert status(VERSION, call("Bash"), said("Done."), HINT) == "incomplete"  # it is open
    assert status(VERSION, call("Bash"), done("x"), said("Done."), HINT) == "success"


def test_a_goal_that_is_not_reached_is_not_a_success() -> None:
    goal = {"type": "goal.summary", "goalId": "g", "reason": "asked too much"}
    assert status(VERSION, said("x"), {**goal, "status": "complete"}, HINT) == "success"
    assert status(VERSION, said("x"), {**goal, "status": "blocked"}, HINT) == "failed"
    assert status(VERSION, said("x"), {**goal, "status": "paused"}, HINT) == "incomplete"


def test_the_version_is_known_before_the_session() -> None:
    started = events(VERSION, said("x"), HINT, of=SessionStarted)
    assert [(one.session, one.version) for one in started] == [(None, "2.1.0"), ("s", "2.1.0")]


def test_what_any_chat_api_says_is_not_taken_for_kimi_s() -> None:
    recognises = agent("kimi").recognises
    assert recognises(VERSION)
    assert not recognises(said("Hello."))
    assert not recognises(done("x"))


def test_why_it_failed_is_found_on_stderr() -> None:
    pattern = agent("kimi").failures
    assert pattern is not None
    match = pattern.search("error: failed to run prompt: provider.auth_error: 401 wrong key")
    assert match is not None
    assert match[1] == "provider.auth_error: 401 wrong key"
