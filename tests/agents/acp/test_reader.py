"""What agents write over ACP, as events: the recorded ones, and what no agent should write."""

import json
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook import agents
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.events import (
    Error,
    Event,
    FileChanged,
    Notice,
    PermissionDenied,
    PermissionRequested,
    Replayed,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.recorded import cases, folded, name_of
from tests.rules import each

Json = dict[str, Any]
CASES = {name_of(path).removesuffix("-1"): path for path in cases("acp")}
REAL = {name: path for name, path in CASES.items() if name != "bad-input"}
INFO: Json = {"name": "stranger", "version": "1"}


def line(**message: Any) -> Json:
    return {"jsonrpc": "2.0", **message}


def update(type: str, *, session: str = "s1", **fields: Any) -> Json:
    params = {"sessionId": session, "update": {"sessionUpdate": type, **fields}}
    return line(method="session/update", params=params)


def says(text: str, **fields: Any) -> Json:
    return update("agent_message_chunk", content={"type": "text", "text": text}, **fields)


def call(id: str, status: str | None, **fields: Any) -> Json:
    return update("tool_call_update", toolCallId=id, status=status, **fields)


def asks(id: str, tool: str) -> Json:
    params = {"sessionId": "s1", "toolCall": {"toolCallId": tool, "title": "rm"}, "options": []}
    return line(id=id, method="session/request_permission", params=params)


def hello(info: Json | None = None, version: Any = 1) -> Json:
    result = {"protocolVersion": version, "agentInfo": info or INFO, "agentCapabilities": {}}
    return line(id="initialize", result=result)


OPENED = line(id="session/new", result={"sessionId": "s1"})
DONE = line(id="session/prompt", result={"stopReason": "end_turn"})


def read(*messages: Json | bytes, agent: str = "acp") -> list[Event]:
    """The events of a stream, without the one that closes it."""
    decoder = agents.decoder(agent)
    data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    records = [*decoder.feed(b"".join(one + b"\n" for one in data)), *decoder.close()]
    return [record.event for record in records][:-1]


def turn(*messages: Json | bytes, agent: str = "acp") -> list[Event]:
    """The events of one turn after the start of the session."""
    return read(hello(), OPENED, *messages, agent=agent)[1:]


def only(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def verdict(*messages: Json | bytes) -> Any:
    decoder = agents.decoder("acp")
    data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in messages]
    records = [*decoder.feed(b"".join(one + b"\n" for one in data)), *decoder.close()]
    return judge(fold(records))


# What the recordings hold.


@each("name", REAL)
def test_nothing_that_a_recorded_agent_writes_is_unknown_or_unreadable(name: str) -> None:
    state = folded(REAL[name])
    assert (dict(state.unknown), state.unreadable) == ({}, 0)


@each("name", REAL)
def test_every_recorded_call_starts_and_ends_once_and_none_is_orphaned(name: str) -> None:
    state = folded(REAL[name])
    assert (state.tools_started, state.tools_orphaned) == (state.tools_finished, 0)


REFUSED = {"claude", "copilot", "gemini", "goose", "kilo", "kimi", "opencode", "qwen", "vibe"}
"""The agents whose client refused a call; Codex and Droid did not ask for it."""


@each("name", [name for name in REAL if name.endswith("_main")])
def test_the_refused_call_of_a_recording_is_denied_and_no_other(name: str) -> None:
    denials = folded(REAL[name]).denials.values()
    refused = name.split("_")[0] in REFUSED
    assert len(denials) == int(refused)


SCRIPTED = {"main": "All done, three lines.", "sub": "three lines"}
"""What the scripted model answered at last."""

ENDS_AT_REFUSAL = {"copilot", "kilo", "opencode", "qwen"}


@each("name", [name for name in REAL if name.endswith(("_main", "_sub"))])
def test_the_answer_of_a_recording_is_what_the_model_said(name: str) -> None:
    agent, _, kind = name.partition("_")
    events = [record.event for record in nightrook.decode(REAL[name], agent="acp")]
    first = only(TurnFinished, events)[0]
    if kind == "main" and agent in ENDS_AT_REFUSAL:
        assert (first.ok, first.reason) == (False, "denied")
    elif name == "claude_sub":  # its subagent works in the background
        assert first.text == "All done."
    else:
        assert first.ok
        assert SCRIPTED[kind] in first.text


FAILS = {"claude", "codex", "copilot", "droid", "goose", "kilo", "kimi", "opencode", "qwen"}
"""The agents that report the exit code of the failed command, or that it failed."""


@each("name", [name for name in REAL if name.endswith("_main")])
def test_a_command_that_failed_is_an_error_where_the_agent_says_so(name: str) -> None:
    events = [record.event for record in nightrook.decode(REAL[name], agent="acp")]
    command = next(e for e in only(ToolStarted, events) if "nonexistent" in (e.title or ""))
    ended = next(e for e in only(ToolFinished, events) if e.id == command.id)
    assert ended.status == ("error" if name.split("_")[0] in FAILS else "ok")
    codes = {"codex": 3, "copilot": 3, "goose": 3, "kilo": 3, "opencode": 3, "qwen": 3}
    assert ended.exit_code == codes.get(name.split("_")[0])


@each("name", [name for name in REAL if name.endswith("_main")])
def test_the_edit_of_a_recording_changes_one_line(name: str) -> None:
    events = [record.event for record in nightrook.decode(REAL[name], agent="acp")]
    changes = [(e.change, e.added, e.removed) for e in only(FileChanged, events)]
    no_diff = name.split("_")[0] in ("codex", "kimi")  # kimi's has no diff at the end
    assert changes in ([] if no_diff else [("modify", 1, 1)], [("modify", 1, 1)])


@each("name", [name for name in REAL if name.endswith("_again") and "gemini" not in name])
def test_what_a_loaded_session_repeats_is_marked_and_counts_for_nothing(name: str) -> None:
    events = [record.event for record in nightrook.decode(REAL[name], agent="acp")]
    replayed = only(Replayed, events)
    assert len(replayed) >= 10
    assert {event.kind for event in replayed} >= {"message", "text", "tool"}
    assert replayed[0].text.startswith("Look at hello.txt and fix calc.py")
    assert (only(ToolStarted, events), only(FileChanged, events)) == ([], [])
    said = [event.text for event in only(Text, events)]
    assert all("three lines" not in text for text in said)
    assert all(event.ok for event in only(TurnFinished, events))


# Tokens: the scripted model reports 1000 input tokens (400 of them cached), 50 output and 10
# reasoning tokens for each request; a side request (a title) 1200, 1000 and 34.

TOKENS: dict[str, tuple[int, int, int] | None] = {
    # Seven requests of the first prompt and two titles; its input is without the cached tokens.
    "claude_main": (7000 + 2 * 1200, 7 * 50 + 2 * 34, 7 * 400 + 2 * 1000),
    "claude_main_again": (2 * 1000 + 1000 + 1200, 3 * 50 + 34, 3 * 400 + 1000),
    "claude_sub": (3 * 1000 + 1200, 3 * 50 + 34, 3 * 400 + 1000),
    "claude_err": None,
    "codex_main": (7 * 600, 7 * 50, 7 * 400),
    "codex_main_again": (2 * 600, 2 * 50, 2 * 400),
    "codex_err": None,
    "codex_refused": (66047, 586, 0),
    "copilot_main": (5 * 600, 5 * 50, 5 * 400),
    "copilot_main_again": (600, 50, 400),
    "copilot_err": None,
    "droid_main": None,
    "droid_main_again": None,
    "gemini_main": (6 * 1000, 6 * 50, 0),  # the cached ones are not reported
    "gemini_main_again": None,
    "gemini_sub": (3 * 1000, 3 * 50, 0),
    "gemini_err": None,
    "goose_main": (1000, 50, 0),  # of the last request; those of the cancelled turn are old
    "goose_main_again": (1000, 50, 0),
    "goose_sub": (1000, 50, 0),
    "kilo_main": (2 * 600, 2 * 50, 2 * 400),  # of the last request of two turns
    "kilo_main_again": (2 * 600, 2 * 50, 2 * 400),
    "kimi_main": None,
    "kimi_main_again": None,
    "kimi_err": None,
    "opencode_main": (600, 50, 400),
    "opencode_main_again": (2 * 600, 2 * 50, 2 * 400),
    "opencode_sub": (600, 50, 400),
    "opencode_err": None,
    "qwen_main": (6 * 600, 6 * 50, 6 * 400),
    "qwen_main_again": (600 + 200, 50 + 34, 400 + 1000),
    "qwen_err": None,
    "vibe_main": (7 * 600, 7 * 50, 7 * 400),
    "vibe_main_again": (600, 50, 400),
}
COSTS: dict[str, tuple[float, bool]] = {
    # What the agents say; `True` if that is known to leave something out.
    "claude_main": (0.04692, True),
    "claude_main_again": (0.02092, False),
    "claude_sub": (0.03736, False),
    "kilo_main": (0.00518, False),
    "kilo_main_again": (0.00074, True),  # what its first turn cost is not known
    "opencode_main": (0.00444, True),
    "opencode_main_again": (0.00074, True),
    "opencode_sub": (0.00148, True),  # without its subagent
    "vibe_main": (0.0077, True),
    "vibe_main_again": (0.0011, False),
}


def test_the_table_of_tokens_has_every_recording() -> None:
    assert set(TOKENS) == set(REAL)


@each("name", TOKENS)
def test_tokens_are_what_the_model_reported_or_unknown(name: str) -> None:
    ledger, expected = folded(REAL[name]).ledger, TOKENS[name]
    assert ledger.has_usage is (expected is not None)
    tokens = ledger.tokens
    assert (tokens.input, tokens.output, tokens.cache_read) == (expected or (0, 0, 0))


@each("name", TOKENS)
def test_the_cost_is_what_the_agent_reports_or_unknown(name: str) -> None:
    cost = folded(REAL[name]).ledger.cost
    if name in COSTS:
        assert (cost.usd, cost.source, cost.at_least) == (COSTS[name][0], "native", COSTS[name][1])
    else:
        assert (cost.usd, cost.source) == (None, "unknown")


@each("name", ["goose_main", "kilo_main", "opencode_main", "goose_sub", "opencode_sub"])
def test_tokens_of_the_last_request_alone_are_marked_as_incomplete(name: str) -> None:
    assert folded(REAL[name]).ledger.estimates_tokens


def test_tokens_and_cost_of_an_agent_without_a_dialect_are_not_read() -> None:
    tokens = {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050}
    cost = {"amount": 1.5, "currency": "USD"}
    result = line(id="session/prompt", result={"stopReason": "end_turn", "usage": tokens})
    events = turn(update("usage_update", used=5, size=9, cost=cost), says("Hi"), result)
    assert only(UsageReported, events) == []
    assert only(TurnFinished, events)[0].cost_usd is None


def test_a_cost_in_another_currency_is_not_read_as_dollars() -> None:
    cost = update("usage_update", used=5, size=9, cost={"amount": 1.5, "currency": "EUR"})
    assert only(TurnFinished, turn(cost, says("Hi"), DONE, agent="vibe"))[0].cost_usd is None


def test_a_dialect_is_found_by_the_name_of_the_agent_and_by_what_the_agent_says() -> None:
    tokens = {"inputTokens": 1000, "outputTokens": 50, "totalTokens": 1050}
    result = line(id="session/prompt", result={"stopReason": "end_turn", "usage": tokens})
    vibe = {"name": "@mistralai/mistral-vibe", "version": "3"}
    assert len(only(UsageReported, read(hello(vibe), OPENED, says("Hi"), result))) == 1
    assert len(only(UsageReported, turn(says("Hi"), result, agent="hermes"))) == 1


# Spans.


@pytest.mark.parametrize("first", [call("c1", "in_progress"), call("c1", None), asks("9", "c1")])
def test_a_call_starts_at_whatever_message_names_it_first(first: Json) -> None:
    done = call("c1", "completed", title="ls", kind="execute")
    events = turn(first, done, done, says("Hi"), DONE)
    assert [event.id for event in only(ToolStarted, events)] == ["c1"]
    assert [(event.id, event.status) for event in only(ToolFinished, events)] == [("c1", "ok")]


def test_a_call_that_was_asked_for_and_never_ends_was_denied() -> None:
    events = turn(asks("9", "c1"), says("Then not."), DONE)
    assert [event.tool_id for event in only(PermissionDenied, events)] == ["c1"]
    assert [event.status for event in only(ToolFinished, events)] == ["denied"]


def test_a_call_that_runs_and_never_ends_is_orphaned() -> None:
    events = turn(asks("9", "c1"), call("c1", "in_progress"), says("Well."), DONE)
    assert [event.status for event in only(ToolFinished, events)] == ["orphaned"]
    events = turn(call("c2", "in_progress", title="ls"), says("Well."), DONE)
    assert [event.status for event in only(ToolFinished, events)] == ["orphaned"]


def test_an_agent_that_ends_no_calls_is_not_said_to_have_been_refused() -> None:
    events = turn(asks("9", "c1"), says("Done."), DONE, agent="hermes")
    assert [event.status for event in only(ToolFinished, events)] == ["orphaned"]


def test_what_a_cancelled_prompt_leaves_open_is_cancelled() -> None:
    end = line(id="session/prompt", result={"stopReason": "cancelled"})
    events = turn(asks("9", "c1"), end)
    assert [event.status for event in only(ToolFinished, events)] == ["cancelled"]
    assert only(TurnFinished, events)[0].reason == "interrupted"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ({"exit_code": 3}, 3),
        ({"exitCode": 4}, 4),
        ({"metadata": {"exit": 5}}, 5),
        ({"contents": [{"type": "shell_exit", "exitCode": 6}]}, 6),
        ({"exit_code": 0}, 0),
        ({"exit": "early"}, None),
        ("exit", None),
    ],
)
def test_completed_with_an_exit_code_is_an_error_unless_it_is_0(raw: Any, code: int | None) -> None:
    events = turn(call("c1", "completed", title="ls", rawOutput=raw), says("Hi"), DONE)
    (ended,) = only(ToolFinished, events)
    assert (ended.status, ended.exit_code) == ("error" if code else "ok", code)


def test_a_call_that_failed_without_being_asked_for_is_an_error_whatever_it_says() -> None:
    text = [{"type": "content", "content": {"type": "text", "text": "Call rejected: no risk"}}]
    events = turn(call("c1", "failed", title="ls", content=text), says("Hi"), DONE)
    assert [event.status for event in only(ToolFinished, events)] == ["error"]
    events = turn(asks("9", "c1"), call("c1", "failed", content=text), says("Hi"), DONE)
    assert [event.status for event in only(ToolFinished, events)] == ["denied"]


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        (None, "a\nb\n", ("add", 2, 0)),
        (None, "a\nb", ("add", 2, 0)),
        ("a\nb\nc\n", "a\nB\nc\n", ("modify", 1, 1)),
        ("a\nb\n", "", ("modify", 0, 2)),
        ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", ("modify", 2, 2)),
        ("x\n" * 2000 + "y\n", "z\n" + "x\n" * 2000, ("modify", 1, 1)),
    ],
)
def test_a_diff_is_a_change_with_its_lines_counted(
    old: str | None, new: str, counts: tuple[str, int, int]
) -> None:
    diff = {"type": "diff", "path": "/a", "oldText": old, "newText": new}
    events = turn(call("c1", "completed", title="Edit", content=[diff]), says("Hi"), DONE)
    (change,) = only(FileChanged, events)
    assert (change.path, change.change, change.added, change.removed) == ("/a", *counts)


def test_the_change_of_a_call_that_failed_is_not_reported() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": "a", "newText": "b"}
    events = turn(call("c1", "failed", title="Edit", content=[diff]), says("Hi"), DONE)
    assert only(FileChanged, events) == []


# Texts.


def test_a_text_is_whole_when_its_message_ends() -> None:
    events = turn(says("One ", messageId="m1"), says("two.", messageId="m1"), says("Three."), DONE)
    assert [event.text for event in only(Text, events)] == ["One two.", "Three."]
    assert only(TurnFinished, events)[0].text == "Three."


def test_texts_with_the_same_id_before_and_after_a_call_are_two() -> None:
    done = call("c1", "completed", title="ls")
    events = turn(says("One.", messageId="m"), done, says("Two.", messageId="m"), DONE)
    assert len({event.id for event in only(Text, events)}) == 2


# Endings.


@pytest.mark.parametrize(
    ("stop", "status"),
    [
        ("end_turn", "success"),
        ("max_tokens", "incomplete"),
        ("max_turn_requests", "over_budget"),
        ("refusal", "failed"),
        ("cancelled", "interrupted"),
        ("something_new", "failed"),
    ],
)
def test_each_stop_reason_has_its_verdict(stop: str, status: str) -> None:
    end = line(id="session/prompt", result={"stopReason": stop})
    assert verdict(hello(), OPENED, says("Hi"), end).status == status


def test_an_answer_that_copilot_begins_with_error_is_a_failure_and_that_of_others_is_not() -> None:
    copilot = {"name": "Copilot", "version": "1"}
    assert verdict(hello(copilot), OPENED, says("Error: no such key"), DONE).status == "failed"
    assert verdict(hello(), OPENED, says("Error: is a fine name"), DONE).status == "success"


@pytest.mark.parametrize("answer", [{"result": {}}, {"error": {"code": 1, "message": "no"}}])
def test_a_replay_may_follow_the_answer_that_loads_the_session(answer: Json) -> None:
    events = read(
        hello({"name": "gemini-cli", "version": "0.61.0"}),
        line(id="session/load", result={"modes": {"currentModeId": "default"}}),
        says("One."),
        line(id="optional session/set_mode", **answer),
        says("Two."),
        line(id="session/prompt", result={"stopReason": "end_turn"}),
    )
    assert [event.text for event in only(Replayed, events)] == ["One."]
    assert [event.text for event in only(Text, events)] == ["Two."]


@pytest.mark.parametrize("method", ["initialize", "session/new", "session/prompt"])
def test_a_missing_login_is_not_started_with_the_agent_s_own_words(method: str) -> None:
    error = {"code": -32000, "message": "Authentication required"}
    first = hello()
    first["result"]["authMethods"] = [{"id": "a", "description": "Run `x login`"}]
    before = {"initialize": [], "session/new": [first], "session/prompt": [first, OPENED]}
    ended = verdict(*before[method], line(id=method, error=error))
    words = "Authentication required" + ("" if method == "initialize" else ": Run `x login`")
    assert (ended.status, ended.sentence) == ("not_started", words)


def test_a_login_that_expires_in_the_middle_of_the_work_is_a_failure() -> None:
    error = line(id="session/prompt", error={"code": -32000, "message": "Log in again"})
    ended = verdict(hello(), OPENED, call("c1", "completed", title="ls"), error)
    assert (ended.status, ended.sentence) == ("failed", "Log in again")


@pytest.mark.parametrize("code", [-31002, -32603, 401, 500])
def test_an_error_of_the_prompt_is_a_failure(code: int) -> None:
    error = {"code": code, "message": "Internal error", "data": {"details": "401 Invalid key"}}
    events = read(hello(), OPENED, line(id="session/prompt", error=error))
    assert [(e.kind, e.message) for e in only(Error, events)] == [("auth", "401 Invalid key")]
    ended = verdict(hello(), OPENED, line(id="session/prompt", error=error))
    assert (ended.status, ended.sentence) == ("failed", "401 Invalid key")


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("session/load", "the agent cannot resume sessions: start a new run"),
        ("session/resume", "the agent cannot resume sessions: start a new run"),
        ("session/set_mode", "session/set_mode failed: Method not found"),
    ],
)
def test_what_fails_before_the_prompt_is_not_started(method: str, words: str) -> None:
    error = line(id=method, error={"code": -32601, "message": "Method not found"})
    ended = verdict(hello(), *([OPENED] if "set" in method else []), error)
    assert (ended.status, ended.sentence) == ("not_started", words)


def test_a_setting_that_is_not_needed_may_fail() -> None:
    error = line(id="optional session/set_mode", error={"code": -32602, "message": "no"})
    assert verdict(hello(), OPENED, error, says("Hi"), DONE).status == "success"


@pytest.mark.parametrize("version", [0, 2, "2025-01-01"])
def test_a_version_that_we_do_not_speak_is_not_started_with_both_numbers(version: Any) -> None:
    ended = verdict(hello(version=version))
    assert ended.status == "not_started"
    assert f"version {json.dumps(version)} of ACP" in ended.sentence
    assert ended.sentence.endswith("version 1")


def test_a_session_without_a_name_is_not_started() -> None:
    assert verdict(hello(), line(id="session/new", result={})).status == "not_started"


def test_a_prompt_that_never_returns_is_incomplete() -> None:
    assert verdict(hello(), OPENED, says("I begin.")).status == "incomplete"


# Bad input: kept, counted, never fatal.


def test_the_name_of_an_unknown_update_is_reported() -> None:
    events = turn(update("mood_update", mood="fine"), says("Hi"), DONE)
    assert [event.name for event in only(Unknown, events)] == ["session/update/mood_update"]


def test_an_update_of_another_session_is_kept_apart() -> None:
    events = turn(says("Hi"), says("Not ours", session="s2"), DONE)
    assert [event.text for event in only(Text, events)] == ["Hi"]
    assert len(only(Unknown, events)) == 1


def test_content_that_is_no_text_is_left_out() -> None:
    image = update("agent_message_chunk", content={"type": "image", "data": "AA", "mimeType": "x"})
    events = turn(image, says("Hi"), DONE)
    assert [event.text for event in only(Text, events)] == ["Hi"]


def test_a_batch_is_read_message_by_message() -> None:
    batch = json.dumps([says("One "), says("two.")]).encode()
    assert [event.text for event in only(Text, turn(batch, DONE))] == ["One two."]


def test_lines_that_are_no_messages_are_reported() -> None:
    events = turn(b"Loading...", b'{"jsonrpc":"2.0","meth', says("Hi"), DONE)
    assert len(only(Unreadable, events)) == 2
    assert only(TurnFinished, events)[0].ok


def test_updates_after_the_result_do_not_begin_another_turn() -> None:
    ended = verdict(hello(), OPENED, says("Hi"), DONE, says(" there"), call("c9", "completed"))
    assert ended.status == "success"
    events = turn(says("Hi"), DONE, says(" there"))
    assert len(only(TurnStarted, events)) == 1
    assert [event.text for event in only(Text, events)] == ["Hi", " there"]


def test_answers_after_the_end_are_unknown() -> None:
    late = [DONE, line(id=99, error={"code": -1, "message": "late"})]
    events = turn(says("Hi"), DONE, *late)
    assert [event.name for event in only(Unknown, events)] == ["response after the end"] * 2
    assert verdict(hello(), OPENED, says("Hi"), DONE, *late).status == "success"


def test_a_diff_of_100_mb_costs_neither_the_call_nor_the_turn() -> None:
    head = json.dumps(update("tool_call_update", toolCallId="c1", status="completed"))
    part = '"content":[{"type":"diff","path":"/a","oldText":null,"newText":"'
    start = head.replace('"status"', f'{part}{{}}"}}],"status"').encode()
    huge = start.replace(b"{}", b"x\\n" * (100 << 18))
    events = turn(huge, says("Hi"), DONE)
    assert [event.status for event in only(ToolFinished, events)] == ["ok"]
    assert [event.reason for event in only(Unreadable, events)] == ["oversized"]
    assert only(TurnFinished, events)[0].ok


def test_a_call_without_an_id_is_unknown() -> None:
    events = turn(update("tool_call", title="ls"), says("Hi"), DONE)
    assert [event.name for event in only(Unknown, events)] == ["tool_call"]


def test_a_stream_whose_beginning_is_missing_is_read_as_news() -> None:
    events = read(says("Hi"), DONE)
    assert only(Replayed, events) == []
    assert [event.session for event in only(SessionStarted, events)] == ["s1"]
    assert only(TurnFinished, events)[0].text == "Hi"


# Detection.


@each("name", REAL)
def test_a_recorded_stream_is_detected_as_that_of_its_agent(name: str) -> None:
    found = agents.detect(REAL[name].read_bytes())
    assert found is not None
    assert found.name == name.split("_")[0]


def test_a_stream_of_an_agent_without_a_dialect_is_detected_as_acp() -> None:
    found = agents.detect(json.dumps(hello()).encode())
    assert found is not None
    assert found.name == "acp"


@each("name", REAL)
def test_the_agent_itself_decodes_what_it_writes_over_acp(name: str) -> None:
    def events(agent: str, path: Path) -> list[bytes]:
        return [nightrook.dump(record) for record in nightrook.decode(path, agent=agent)]

    assert events(name.split("_")[0], REAL[name]) == events("acp", REAL[name])


def test_a_server_of_another_protocol_is_not_taken_for_an_agent() -> None:
    other = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "x"}, "capabilities": {}}
    assert agents.detect(json.dumps(line(id=0, result=other)).encode()) is None


# Responses that no agent should write.


@pytest.mark.parametrize(
    "stray",
    [
        line(id=77, result={"stopReason": "end_turn"}),
        line(id=None, error={"code": -32700, "message": "Parse error"}),
        line(id="optional moon", error={"code": 1}),
    ],
)
def test_a_response_to_no_request_of_ours_ends_nothing(stray: Json) -> None:
    cut = verdict(hello(), OPENED, says("Half."), stray)
    assert cut.status == "incomplete"
    events = turn(says("One"), stray, says(" two."), DONE)
    assert [event.name for event in only(Unknown, events)] == ["response to no request"]
    (finished,) = only(TurnFinished, events)
    assert (finished.ok, finished.text) == (True, "One two.")


@pytest.mark.parametrize(
    "end", [{"result": {}}, {"result": None}, {"result": {"stopReason": 5}}, {}, {"result": "done"}]
)
def test_a_prompt_that_returns_without_a_reason_failed(end: Json) -> None:
    ended = line(id="session/prompt", **end)
    (finished,) = only(TurnFinished, turn(says("Done."), ended))
    assert not finished.ok
    assert verdict(hello(), OPENED, says("Done."), ended).status == "failed"


@pytest.mark.parametrize("error", ["boom", 5, [], True, {"code": "x", "message": 7}])
@pytest.mark.parametrize(
    "before", [[], [hello()], [hello(), OPENED]], ids=["initialize", "session/load", "prompt"]
)
def test_an_error_of_any_shape_ends_the_run(before: list[Json], error: Any) -> None:
    id = ("initialize", "session/load", "session/prompt")[len(before)]
    (finished,) = only(TurnFinished, read(*before, line(id=id, error=error)))
    assert not finished.ok
    assert ("boom" in str(finished.errors)) == (error == "boom")


def test_an_agent_that_names_no_version_is_not_started() -> None:
    (finished,) = only(TurnFinished, read(line(id="initialize", result={})))
    assert finished.reason == "not_started"
    assert "version null" in str(finished.errors)


def test_who_must_log_in_after_some_words_was_started() -> None:
    refused = line(id="session/prompt", error={"code": -32000, "message": "Log in again"})
    assert verdict(hello(), OPENED, refused).status == "not_started"
    assert verdict(hello(), OPENED, says("I will look."), refused).status == "failed"


def test_a_call_that_ran_after_it_was_asked_for_was_not_denied() -> None:
    running = [call("c1", "in_progress"), call("c1", None, content=[])]
    (ended,) = only(ToolFinished, turn(asks("r1", "c1"), *running, says("Done."), DONE))
    assert ended.status == "orphaned"
    (ended,) = only(ToolFinished, turn(asks("r1", "c1"), call("c1", None), says("Done."), DONE))
    assert ended.status == "denied"


def test_a_session_without_modes_is_not_repeated_late() -> None:
    loaded = line(id="session/load", result={})
    events = read(hello({"name": "gemini-cli"}), loaded, says("Done."), DONE)
    assert only(Replayed, events) == []
    assert [event.text for event in only(Text, events)] == ["Done."]


def test_how_many_lines_a_change_has_that_is_cut_is_not_known() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": "", "newText": "x\n" * (DEFAULT_CAP // 2)}
    ended = call("c1", "completed", kind="edit", title="Write", content=[diff])
    (changed,) = only(FileChanged, turn(ended, says("Done."), DONE))
    assert (changed.path, changed.added, changed.removed) == ("/a", None, None)


def test_messages_without_a_newline_between_them_are_read() -> None:
    one, two = (json.dumps(message).encode() for message in (says("One"), says(" two.")))
    events = turn(b"loading... " + one + two, json.dumps(says("!")).encode()[:60], DONE)
    assert [event.text for event in only(Text, events)] == ["One two."]
    assert [event.text for event in only(Notice, events)] == ["not a message: loading..."]
    assert [event.preview[:10] for event in only(Unreadable, events)] == ['{"jsonrpc"']
    ended = turn(says("Done."), b"bye " + json.dumps(DONE).encode())
    assert [event.ok for event in only(TurnFinished, ended)] == [True]


def test_what_is_kept_of_a_message_behind_other_words_is_valid() -> None:
    late = rb'Note: {"jsonrpc":"2.0","result":{"stopReason":"end_turn"},"a":"\ud800"}'
    (kept,) = only(Unknown, turn(says("Done."), DONE, late))
    assert kept.raw is not None
    assert json.loads(bytes(kept.raw))["a"] == "\ufffd"


def test_a_request_with_the_id_of_another_one_has_a_name_of_its_own() -> None:
    events = turn(asks("1", "c1"), asks("1", "c1"), asks("1", "c2"), asks("1", "c3"), DONE)
    names = [event.id for event in only(PermissionRequested, events)]
    assert names == ["1", "1", "1#2", "1#3"]
