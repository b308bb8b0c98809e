"""What Droid's messages mean, beyond the recorded cases."""

import json
from typing import Any

import msgspec

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent
from nightrook.agents.droid.tools import replacements
from nightrook.model.events import (
    Error,
    Event,
    FileChanged,
    PermissionDenied,
    PlanChanged,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.ledger import Money
from nightrook.model.verdict import judge
from tests.recorded import cases, folded, messages, name_of
from tests.rules import each

Json = dict[str, Any]


def line(type: str, /, **fields: Any) -> Json:
    return {"type": type, "timestamp": 1, "session_id": "s", **fields}


def call(name: str, id: str = "c1", **input: Any) -> Json:
    return line("tool_call", id=id, messageId="m", toolId=name, toolName=name, parameters=input)


def failed(message: str, id: str = "c1") -> Json:
    error = {"type": "tool_error", "message": f"Error: {message}"}
    return line("tool_result", id=id, messageId="r", toolId="x", isError=True, error=error)


def done(value: str | None, id: str = "c1") -> Json:
    return line("tool_result", id=id, messageId="r", toolId="x", isError=False, value=value)


def completion(text: str = "Done.", **usage: int) -> Json:
    usage = usage or {"input_tokens": 7, "output_tokens": 3}
    return line("completion", finalText=text, numTurns=1, durationMs=1500, usage=usage)


def records(*stream: Json) -> list[nightrook.Record]:
    decoder = nightrook.decoder("droid")
    wire = "".join(json.dumps(one) + "\n" for one in stream).encode()
    return decoder.feed(wire) + decoder.close()


def events(*stream: Json, of: type[Event]) -> list[Any]:
    return [record.event for record in records(*stream) if isinstance(record.event, of)]


def status(*stream: Json) -> str:
    return judge(fold(records(*stream))).status


@each("path", cases("droid"), ids=name_of)
def test_tokens_are_those_of_its_completion_and_credits_are_not_dollars(path: Any) -> None:
    usage = [m["usage"] for m in messages(path) if m["type"] in ("completion", "result")]
    counted = [used for used in usage if used["output_tokens"]]
    ledger = folded(path).ledger
    assert ledger.tokens.input == sum(used["input_tokens"] for used in counted)
    assert ledger.tokens.output == sum(used["output_tokens"] for used in counted)
    assert ledger.tokens.cache_read == sum(used["cache_read_input_tokens"] for used in counted)
    assert ledger.cost == Money(None, "unknown")
    assert ledger.has_usage == bool(counted)


def test_a_thought_that_comes_twice_is_reported_once() -> None:
    thought = line("reasoning", id="m", text="Hm.")
    assert events(thought, thought, of=Thinking) == [Thinking(id="m-thought", text="Hm.")]
    other = line("reasoning", id="m", text="Hm again.")
    assert len(events(thought, other, thought, of=Thinking)) == 3
    assert events(line("reasoning", text=""), of=Thinking) == [
        Thinking(id="thought-1", redacted=True)
    ]


@each(
    ("result", "expected"),
    [
        (done("hi\n\n\n[Process exited with code 0]"), ("ok", "hi", None, 0)),
        (done("\n[Process exited with code 0]"), ("ok", None, None, 0)),
        (done("no end"), ("ok", "no end", None, None)),
        (done(None), ("ok", None, None, None)),
        (
            failed("Command failed (exit code: 3)\nbad\n\n\n[Process exited with code 3]"),
            ("error", "bad", "bad", 3),
        ),
        (failed("Command terminated by signal: SIGTERM"), ("cancelled",) * 1),
        (done("Command timed out after 2 seconds. x"), ("timed_out",)),
    ],
)
def test_a_command_ends_with_its_exit_code(result: Json, expected: tuple[Any, ...]) -> None:
    (end,) = events(call("Execute", command="x"), result, of=ToolFinished)
    found = (end.status, end.output, end.error, end.exit_code)
    assert found[: len(expected)] == expected


@each(
    ("name", "message", "fix"),
    [
        ("Create", "Tool Create is not permitted in this exec session. Av", "--permission edit"),
        ("WebSearch", "Tool WebSearch is not permitted in this exec session.", "WebSearch"),
        ("Execute", "Exec ended early: insufficient permission", "--permission all"),
        ("Edit", "Tool cancelled: Spec mode is active - file edits", None),
    ],
)
def test_a_denied_call_names_what_would_allow_it(name: str, message: str, fix: str | None) -> None:
    (denied,) = events(call(name), failed(message), of=PermissionDenied)
    assert (denied.name, denied.reason, denied.fix) == (name, message, fix)


def test_a_plan_that_cannot_be_acted_on_is_not_a_denial() -> None:
    refused = failed("Tool ExitSpecMode is not permitted in this exec session.")
    assert status(call("ExitSpecMode"), refused, completion("The plan.")) == "success"


def test_a_denied_call_without_its_start_is_a_denial() -> None:
    (denied,) = events(failed("Exec ended early: no"), of=PermissionDenied)
    assert denied.fix == "--permission all"


@each(
    ("message", "kind", "words", "pays"),
    [
        ("401 wrong key", "auth", "wrong key", None),
        ("402 no credit", "quota", "no credit", True),
        ("429 too many", "rate", "too many", None),
        ("500 oops", "internal", "oops", None),
        ("Error: Authentication failed. Log in", "auth", "Authentication failed. Log in", None),
        ("fetch failed", "internal", "fetch failed", None),
        (None, "internal", None, None),
    ],
)
def test_errors_have_neutral_kinds(
    message: str | None, kind: str, words: str | None, pays: bool | None
) -> None:
    (told,) = events(line("error", source="agent_loop", message=message), of=Error)
    assert (told.kind, told.message, told.needs_payment) == (kind, words, pays)


def test_an_error_is_a_failure_unless_something_follows_it() -> None:
    failure = line("error", source="agent_loop", message="500 oops")
    said = line("message", role="assistant", id="m", text="Hi")
    assert status(said, failure) == "failed"
    assert status(failure, said) == "incomplete"
    assert status(failure, said, completion()) == "success"


def test_an_answer_without_tokens_may_be_cut_off() -> None:
    zeros = {"input_tokens": 0, "output_tokens": 0}
    assert status(completion("Half an", **zeros)) == "incomplete"
    (ended,) = events(completion("Half an", **zeros), of=TurnFinished)
    assert (ended.ok, ended.reason, ended.text) == (False, "cut", None)
    assert events(completion("Half an", **zeros), of=UsageReported) == []


def test_steps_are_counted_by_the_messages_of_the_model() -> None:
    stream = [call("Read"), done("x"), call("Read", "c2"), done("y", "c2")]
    (ended,) = events(
        *stream, line("message", role="assistant", id="n", text="."), completion(), of=TurnFinished
    )
    assert (ended.turns, ended.duration_s) == (2, 1.5)


def test_an_edit_counts_its_lines() -> None:
    value = json.dumps({"success": True, "file_path": "/a", "linesAdded": 2, "linesRemoved": 1})
    stream = [call("Edit", file_path="/a"), done(value)]
    assert events(*stream, of=FileChanged) == [
        FileChanged(path="/a", change="modify", added=2, removed=1, tool_id="c1")
    ]
    assert events(*stream, of=ToolFinished)[0].output is None
    assert events(call("Edit"), done("{broken"), of=FileChanged) == []


def test_a_page_can_show_what_an_edit_replaces() -> None:
    def started(kind: Any, input: str | None) -> ToolStarted:
        raw = None if input is None else msgspec.Raw(input.encode())
        return ToolStarted(id="x", name="Edit", kind=kind, input=raw)

    edit = started("edit", '{"old_str": "a", "new_str": "b"}')
    assert replacements(edit) == (Replacement("a", "b"),)
    assert replacements(started("edit", '{"content": "new"}')) == (Replacement("", "new"),)
    for other in (started("read", "{}"), started("edit", None), started("edit", "[1]")):
        assert replacements(other) == ()


def test_other_streams_are_not_recognised() -> None:
    others: list[Json] = [{"type": []}, {"type": "message"}, {"type": "result", "session_id": "s"}]
    for other in others:
        assert not agent("droid").recognises(other)


@each(
    ("name", "value"),
    [
        ("Read", "Command timed out after 2 seconds."),
        ("Read", "Error: what a log says"),
        ("Execute", "Command timed out after 2 seconds.\n[Process exited with code 0]"),
        ("Execute", "Command failed (exit code: 3)\nso it prints\n[Process exited with code 0]"),
        ("Execute", "Error: what a log says\n[Process exited with code 0]"),
    ],
)
def test_what_a_file_or_command_says_is_not_taken_for_droid_s_own_words(
    name: str, value: str
) -> None:
    (ended,) = events(call(name), done(value), of=ToolFinished)
    assert (ended.status, ended.output) == ("ok", value.partition("\n[Process")[0])


def test_a_plan_that_cannot_be_read_is_not_an_empty_one() -> None:
    assert events(call("TodoWrite", todos=[1]), done("ok"), of=PlanChanged) == []
    (plan,) = events(call("TodoWrite", todos="1. [pending] Test"), done("ok"), of=PlanChanged)
    assert [item.text for item in plan.items] == ["Test"]


def test_an_end_that_contradicts_itself_is_not_a_success() -> None:
    text = line("message", role="assistant", id="m", text="Half.")
    oops = line("error", source="agent_loop", message="500 oops")
    assert judge(fold(records(text, oops, completion("Half.")))).sentence == "oops"
    assert judge(fold(records(oops, text, completion("Half.")))).status == "success"
    usage = {"input_tokens": 7, "output_tokens": 3, "factory_credits": 0}
    told: Json = {"type": "result", "is_error": False, "result": "No.", "session_id": "s"}
    for subtype, status in (("success", "success"), ("failure", "failed")):
        assert judge(fold(records({**told, "subtype": subtype, "usage": usage}))).status == status
