"""What OpenCode's messages mean, beyond the recorded cases."""

import json
from typing import Any

import pytest

import nightrook
from nightrook.agents import detect
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    FileChanged,
    PermissionDenied,
    Retrying,
    SessionStarted,
    StreamClosed,
    Text,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageReported,
    UserMessage,
)
from nightrook.model.fold import fold
from nightrook.model.ledger import Money
from nightrook.model.verdict import judge
from tests.flat_facts import flat_facts
from tests.rules import each

Json = dict[str, Any]
SESSION = "ses_1"


def message(type: str, /, **part: Any) -> Json:
    return {"type": type, "timestamp": 1, "sessionID": SESSION, "part": part}


def start(name: str = "m1", id: str | None = None) -> Json:
    return message("step_start", id=id or f"start-{name}", messageID=name, type="step-start")


def text(words: str, id: str = "t1", **more: Any) -> Json:
    return message("text", id=id, messageID="m1", type="text", text=words, **more)


def finish(reason: str = "stop", name: str = "m1", cost: float = 0.25, **tokens: Any) -> Json:
    told = {"total": 10, "input": 7, "output": 3, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    told.update(tokens)
    used = {key: value for key, value in told.items() if value is not None}
    return message(
        "step_finish", id=f"end-{name}", messageID=name, reason=reason, cost=cost, tokens=used
    )


def tool(name: str, *, id: str = "p1", **state: Any) -> Json:
    return message("tool_use", id=id, tool=name, callID="c1", type="tool", state=state)


def error(name: str, **data: Any) -> Json:
    return {"type": "error", "sessionID": SESSION, "error": {"name": name, "data": data}}


def records(*stream: Json) -> list[nightrook.Record]:
    decoder = nightrook.decoder("opencode")
    wire = "".join(json.dumps(line) + "\n" for line in stream).encode()
    return decoder.feed(wire) + decoder.close()


def events(*stream: Json, of: type[Event] | tuple[type[Event], ...]) -> list[Any]:
    return [record.event for record in records(*stream) if isinstance(record.event, of)]


def status(*stream: Json) -> str:
    return judge(fold(records(*stream))).status


def test_its_lines_are_recognised() -> None:
    for line in (start(), text("x"), finish(), tool("bash"), error("APIError")):
        found = detect(json.dumps(line).encode())
        assert found is not None
        assert found.name == "opencode"
    assert detect(b'{"type":"text","text":"x"}') is None
    assert detect(b'{"type":"text","part":{"text":"x"}}') is None
    assert detect(b'{"type":"session_idle","sessionID":"s","part":{}}') is None


def test_a_repeated_line_is_read_once() -> None:
    stream = [start(), tool("bash", status="completed", metadata={"exit": 0}), text("Hi"), finish()]
    doubled = [line for line in stream for _ in range(2)]
    once, twice = records(*stream), records(*doubled)
    assert [record.event for record in once[:-1]] == [record.event for record in twice[:-1]]


def test_a_repetition_is_noticed_among_a_thousand_parts_at_least() -> None:
    stream = [text("x", id=f"t{n}") for n in range(3000)]
    again = stream[-1000:]
    assert len(events(*stream, *again, of=Text)) == 3000


def test_a_session_is_reported_once_however_often_it_comes_back() -> None:
    first, second = text("x", id="t1"), {**text("x", id="t2"), "sessionID": "ses_2"}
    third, fourth = text("x", id="t3"), {**text("x", id="t4"), "sessionID": "ses_2"}
    told = [r.event for r in records(first, second, third, fourth)[:-1]]
    started = (SessionStarted(session="ses_1"), SessionStarted(session="ses_2"))
    assert [e for e in told if not isinstance(e, Text)] == [
        started[0],
        TurnStarted(origin="prompt"),
        started[1],
    ]


def test_a_stream_that_names_no_session_has_a_turn_all_the_same() -> None:
    nameless = [{**text("x", id=f"t{n}"), "sessionID": None} for n in range(2)]
    told = [type(r.event) for r in records(*nameless)]
    assert told == [TurnStarted, Text, Text, StreamClosed]


def test_a_message_without_its_part_reports_nothing() -> None:
    for type in ("step_start", "text", "step_finish"):
        told = records({"type": type, "sessionID": SESSION}, {**message(type), "part": None})
        names = [record.event.__class__ for record in told]
        assert names == [SessionStarted, TurnStarted, StreamClosed]


# How it ended.


def test_a_stop_is_a_success() -> None:
    assert status(start(), text("Hi"), finish("stop")) == "success"


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("length", "failed"),
        ("content-filter", "failed"),
        ("error", "failed"),
        ("other", "failed"),
        ("tool-calls", "incomplete"),
        ("unknown", "incomplete"),
    ],
)
def test_no_other_end_of_a_step_is(reason: str, expected: str) -> None:
    assert status(start(), text("Half an ans"), finish(reason)) == expected


def test_a_step_that_has_not_ended_is_incomplete() -> None:
    assert status(start(), text("Hi"), finish("stop"), start("m2")) == "incomplete"
    assert status(start(), text("Hi")) == "incomplete"


def test_a_compaction_after_which_nothing_comes_is_incomplete() -> None:
    prompt = text("Go on.", id="t2", synthetic=True, metadata={"compaction_continue": True})
    stream = [start(), text("A summary."), finish("stop"), prompt]
    assert status(*stream) == "incomplete"
    told = events(*stream, of=(ContextCompacted, UserMessage))
    assert told == [ContextCompacted(trigger="auto"), UserMessage(text="Go on.", synthetic=True)]


def test_an_error_with_a_later_step_is_not_a_failure() -> None:
    stream = [error("ContextOverflowError", message="too long"), start(), text("Hi"), finish()]
    assert status(*stream) == "success"
    assert events(*stream, of=Error) == [Error(kind="context", message="too long")]


def test_an_error_at_the_end_is_a_failure_with_its_words() -> None:
    failed = error("APIError", message="no credit", statusCode=402, isRetryable=False)
    told = records(start(), text("Hi"), finish("stop"), failed)
    verdict = judge(fold(told))
    assert (verdict.status, verdict.sentence) == ("limited", "no credit")


@each(
    ("status", "code", "expected"),
    [
        (402, "x", True),
        (429, "insufficient_quota", True),
        (429, "billing_error", True),
        (429, "usage_limit_reached", None),
        (500, "insufficient_quota", None),
    ],
)
def test_missing_credit_needs_payment(status: int, code: str, expected: bool | None) -> None:
    body = json.dumps({"error": {"code": code}})
    (failed,) = events(error("APIError", statusCode=status, responseBody=body), of=Error)
    assert failed.needs_payment is expected


def test_an_abort_is_an_interruption() -> None:
    assert status(start(), error("MessageAbortedError", message="Aborted")) == "interrupted"


@each(
    ("name", "data", "kind"),
    [
        ("APIError", {"statusCode": 400}, "config"),
        ("APIError", {"statusCode": 401}, "auth"),
        ("APIError", {"statusCode": 403}, "auth"),
        ("APIError", {"statusCode": 413}, "context"),
        ("APIError", {"statusCode": 429}, "rate"),
        ("APIError", {"statusCode": 429, "responseBody": "no JSON"}, "rate"),
        (
            "APIError",
            {"statusCode": 429, "responseBody": '{"error":{"code":"insufficient_quota"}}'},
            "quota",
        ),
        ("APIError", {"statusCode": 500}, "internal"),
        ("APIError", {"statusCode": 529}, "overload"),
        ("APIError", {}, "network"),
        ("ProviderAuthError", {"providerID": "x"}, "auth"),
        ("ContentFilterError", {}, "policy"),
        ("MessageOutputLengthError", {}, "context"),
        ("UnknownError", {"ref": "err_1"}, "internal"),
        ("BrandNewError", {}, "internal"),
    ],
)
def test_errors_have_neutral_kinds(name: str, data: Json, kind: str) -> None:
    (told,) = events(error(name, **data), of=Error)
    assert (told.kind, told.message) == (kind, name)


# Retries.


def test_a_repeated_message_id_is_a_retry() -> None:
    stream = [start(), text("Hal"), start(id="s2"), start(id="s3"), text("Hello", id="t2")]
    assert events(*stream, of=Retrying) == [Retrying(attempt=1), Retrying(attempt=2)]
    (ended,) = events(*stream, finish(), of=TurnFinished)
    assert ended.text == "Hello"


def test_another_step_is_not_a_retry() -> None:
    assert events(start(), finish("tool-calls"), start("m2"), of=Retrying) == []


# Money.


def test_a_model_without_price_is_not_free() -> None:
    told = records(start(), text("Hi"), finish(cost=0))
    assert fold(told).ledger.cost.usd is None
    (ended,) = [r.event for r in told if isinstance(r.event, TurnFinished)]
    assert ended.cost_usd is None


def test_one_step_without_price_makes_the_whole_unknown() -> None:
    told = records(start(), finish("tool-calls"), start("m2"), finish(name="m2", cost=0))
    assert fold(told).ledger.cost.usd is None


def test_what_was_spent_is_known_before_the_end() -> None:
    told = records(start(), finish("tool-calls"), start("m2"))
    ledger = fold(told).ledger
    assert (ledger.cost.usd, ledger.cost.source, ledger.spent_usd) == (0.25, "native", 0.25)


def test_reasoning_is_part_of_the_output() -> None:
    (used,) = events(start(), finish(total=52, output=28, reasoning=12), of=UsageReported)
    assert (used.output, used.reasoning) == (40, 12)


def test_zeros_without_a_total_are_unknown() -> None:
    told = records(start(), text("Hi"), finish(total=None, input=0, output=0))
    assert not fold(told).ledger.has_usage


# Tools.


def test_call_numbers_may_restart_in_every_request() -> None:
    ok: Json = {"status": "completed", "metadata": {"exit": 0}}
    stream = [start(), tool("bash", id="p1", **ok), tool("bash", id="p2", **ok)]
    assert [e.id for e in events(*stream, of=ToolStarted)] == ["p1", "p2"]


def test_a_command_that_somebody_ended_is_cancelled() -> None:
    note = "\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>\n"
    state: Json = {"status": "completed", "output": f"out{note}", "metadata": {"exit": None}}
    (ended,) = events(start(), tool("bash", **state), of=ToolFinished)
    assert (ended.status, ended.error) == ("cancelled", "User aborted the command")


def test_words_of_a_timeout_in_the_output_of_a_command_are_only_words() -> None:
    words = "shell tool terminated command after exceeding timeout 1 ms."
    note = f"<shell_metadata>\n{words}\n</shell_metadata>"
    state: Json = {"status": "completed", "output": note, "metadata": {"exit": 0}}
    (ended,) = events(start(), tool("bash", **state), of=ToolFinished)
    assert ended.status == "ok"


def test_a_call_cut_off_by_the_end_is_cancelled() -> None:
    state: Json = {"status": "error", "error": "Tool execution aborted"}
    (ended,) = events(start(), tool("bash", **state), of=ToolFinished)
    assert ended.status == "cancelled"


def test_a_rejection_ends_the_run_as_denied_even_where_denials_are_accepted() -> None:
    refused = "The user rejected permission to use this specific tool call."
    stream = [start(), tool("bash", status="error", error=refused), finish("tool-calls")]
    state = fold(records(*stream))
    assert judge(state).status == judge(state, flat_facts(allow_denials=True)).status == "denied"
    (denied,) = events(*stream, of=PermissionDenied)
    assert (denied.reason, denied.fix) == (refused, "--permission all")


def test_a_rejection_after_which_it_went_on_is_forgotten() -> None:
    refused = "The user rejected permission to use this specific tool call."
    stream = [start(), tool("bash", status="error", error=refused), finish("tool-calls")]
    stream += [start("m2"), finish("tool-calls", name="m2")]
    assert status(*stream) == "incomplete"


def test_a_rule_is_named_as_the_reason_and_auto_would_not_help() -> None:
    rule = (
        "The user has specified a rule which prevents you from using this specific tool call. Here"
    )
    stream = [start(), tool("bash", status="error", error=rule), text("No."), finish()]
    (denied,) = events(*stream, of=PermissionDenied)
    assert (denied.reason, denied.fix) == (rule, None)
    assert status(*stream) == "denied"
    assert judge(fold(records(*stream)), flat_facts(allow_denials=True)).status == "success"


def test_a_tool_that_prints_permission_denied_has_merely_failed() -> None:
    state: Json = {"status": "error", "error": "EACCES: Permission denied"}
    assert events(start(), tool("write", **state), of=PermissionDenied) == []


@each(
    ("name", "state", "kind", "title"),
    [
        ("bash", {"input": {"command": "ls\n-a", "description": "List"}}, "execute", "ls -a"),
        ("read", {"input": {"filePath": "/p/a.py"}, "title": "a.py"}, "read", "a.py"),
        ("edit", {"input": {"filePath": "/p/a.py"}}, "edit", "/p/a.py"),
        ("edit", {"input": {"filePath": "/p/a.py"}, "title": "p/a.py"}, "edit", "/p/a.py"),
        (
            "edit",
            {
                "input": {"filePath": "a.py"},
                "title": "p/a.py",
                "metadata": {"filediff": {"file": "/p/a.py"}},
            },
            "edit",
            "/p/a.py",
        ),
        (
            "write",
            {
                "input": {"filePath": "/p/a.py"},
                "title": "a.py",
                "metadata": {"filepath": "/p/a.py"},
            },
            "edit",
            "a.py",
        ),
        ("todowrite", {"input": {"todos": []}, "title": "2 todos"}, "plan", "2 todos"),
        ("grep", {"input": {"pattern": "x", "path": "src"}}, "search", "x"),
        ("webfetch", {"input": {"url": "http://x"}}, "fetch", "http://x"),
        ("task", {"input": {"description": "kid", "prompt": "long"}}, "subagent", "kid"),
        ("skill", {"input": {"name": "review"}}, "skill", "review"),
        ("tiny_echo", {"input": {"n": 1, "text": "hi"}, "title": ""}, "other", "hi"),
        ("question", {"input": {"questions": []}, "title": "Asked"}, "ask", "Asked"),
        ("bash", {}, "execute", None),
        ("bash", {"input": [1]}, "execute", None),
        ("tiny_echo", {"input": "text"}, "other", None),
    ],
)
def test_calls_have_kinds_and_titles(name: str, state: Json, kind: str, title: str) -> None:
    (begun,) = events(start(), tool(name, status="completed", **state), of=ToolStarted)
    assert (begun.kind, begun.title) == (kind, title)


def test_an_overwritten_file_has_no_line_counts() -> None:
    state: Json = {"input": {"content": "a\nb"}, "metadata": {"filepath": "/p/a", "exists": True}}
    (changed,) = events(start(), tool("write", status="completed", **state), of=FileChanged)
    assert changed == FileChanged(path="/p/a", change="modify", tool_id="p1")


def test_a_patch_reports_each_of_its_files() -> None:
    files = [
        {"filePath": "/p/a", "relativePath": "a", "type": "delete", "additions": 0, "deletions": 2},
        {"filePath": "/p/b", "relativePath": "b", "type": "move", "movePath": "/p/c"},
        {"type": "add"},
    ]
    state: Json = {"status": "completed", "metadata": {"files": files}}
    changed = events(start(), tool("apply_patch", **state), of=FileChanged)
    assert changed == [
        FileChanged(path="/p/a", change="delete", added=0, removed=2, tool_id="p1"),
        FileChanged(path="/p/c", change="move", tool_id="p1"),
    ]


def test_the_metadata_of_a_stranger_s_tool_changes_no_file() -> None:
    told = {
        "files": [{"filePath": "/p/a"}],
        "filepath": "/p/a",
        "filediff": {"file": "/p/a"},
        "todos": [{"content": "x"}],
    }
    ended = records(start(), tool("mine", status="completed", metadata=told))
    assert [type(r.event).__name__ for r in ended[2:]] == [
        "ToolStarted",
        "ToolFinished",
        "StreamClosed",
    ]


def test_a_field_of_a_strange_shape_loses_only_itself() -> None:
    state: Json = {"status": "completed", "output": "out", "metadata": {"exit": "soon"}}
    told = records(start(), tool("bash", **state))
    (ended,) = [r.event for r in told if isinstance(r.event, ToolFinished)]
    assert (ended.status, ended.output) == ("ok", "out")
    assert [f.field for f in told[-1].event.unknown_fields] == ["part.state.metadata.exit"]  # type: ignore[union-attr]


# Talk.


def test_an_empty_text_says_nothing() -> None:
    assert events(start(), text(""), of=Text) == []


def test_a_hidden_thought_is_reported_as_hidden() -> None:
    hidden = message("reasoning", id="r1", text="")
    assert events(start(), hidden, of=Thinking) == [Thinking(id="r1", redacted=True)]


def test_new_fields_are_looked_for_in_the_first_messages_only() -> None:
    lines = [{**text("x", id=f"t{n}"), "new": n} for n in range(150)]
    (found,) = records(start(), *lines)[-1].event.unknown_fields  # type: ignore[union-attr]
    assert (found.type, found.field, found.count) == ("text", "new", 20)


def test_the_cost_of_a_run_with_a_subagent_is_a_minimum() -> None:
    subagent = tool("task", status="completed", output="", metadata={"sessionId": "ses_2"})
    stream = [
        start(),
        subagent,
        finish("tool-calls"),
        start("m2"),
        text("Done."),
        finish(name="m2"),
    ]
    lines = b"".join(json.dumps(line).encode() + b"\n" for line in stream)
    state = fold(nightrook.decode([lines], agent="opencode"))
    assert state.ledger.cost == Money(0.5, "native", at_least=True)


@each("absurd", [-5, 1e308])
def test_a_cost_that_no_step_can_have_is_unknown(absurd: float) -> None:
    lines = [start(), text("Done."), finish(cost=absurd)]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    state = fold(nightrook.decode([data], agent="opencode"))
    assert (state.ledger.cost, state.ledger.native_usd) == (Money(None, "unknown"), None)


def unavailable(name: str, *others: str) -> Json:
    offered = ", ".join(others)
    told = f"Model tried to call unavailable tool '{name}'. Available tools: {offered}."
    return tool("invalid", status="completed", output=f"The arguments are invalid: {told}")


@each(
    ("called", "others", "status"),
    [
        ("bash", ["edit", "invalid"], "denied"),
        ("write", ["bash", "invalid"], "denied"),
        ("write", ["apply_patch", "bash"], "error"),  # another tool for the same purpose
        ("made_up", ["bash"], "error"),
    ],
)
def test_a_tool_that_is_not_offered_is_forbidden_if_it_always_is_otherwise(
    called: str, others: list[str], status: str
) -> None:
    stream = (start(), unavailable(called, *others))
    (finished,) = events(*stream, of=ToolFinished)
    assert finished.status == status
    assert len(events(*stream, of=PermissionDenied)) == (status == "denied")
    assert finished.name == (called if status == "denied" else "invalid")
