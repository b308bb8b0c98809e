"""What is special about `codex exec --json`; what all agents share is tested with the cases."""

import json
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.agents.codex.adapter import recognises
from nightrook.agents.codex.errors import error, retry
from nightrook.agents.codex.tools import script
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import (
    Error,
    FileChanged,
    Notice,
    PermissionDenied,
    PlanChanged,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.verdict import judge
from nightrook.runs.run_result import summarise
from tests.recorded import cases, folded, full_name_of, is_real, messages, recordings
from tests.rules import each

STREAMS = [
    path
    for path in (*cases("codex"), *recordings("codex"))
    if is_real(path) and not path.parent.name.startswith("app_server_")
]
THREAD = {"type": "thread.started", "thread_id": "t"}
TURN = {"type": "turn.started"}
DONE = {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 1}}


def events(*wire: dict[str, Any]) -> list[Any]:
    decoder = nightrook.decoder("codex")
    raw = "".join(json.dumps(message) + "\n" for message in wire).encode()
    return [record.event for record in decoder.feed(raw) + decoder.close()]


def item(stage: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{stage}", "item": {"id": "item_0", **fields}}


def command(stage: str, status: str = "in_progress", **fields: Any) -> dict[str, Any]:
    told = {"command": "/bin/bash -lc 'make'", "aggregated_output": "", "exit_code": None}
    return item(stage, type="command_execution", status=status, **{**told, **fields})


# What the agent itself gives.


@each("path", STREAMS, ids=full_name_of)
def test_the_final_text_is_the_agent_s_own(path: Path) -> None:
    said, answer = None, None
    for message in messages(path):
        if message["type"] == "item.completed" and message["item"]["type"] == "agent_message":
            said = message["item"]["text"]
        elif message["type"] == "turn.completed":
            answer = said
    results = folded(path).results
    assert (results[-1].text if results else None) == answer


@each("path", STREAMS, ids=full_name_of)
def test_the_usage_is_the_agent_s_own_figure(path: Path) -> None:
    told = [m["usage"] for m in messages(path) if m["type"] == "turn.completed"]
    tokens = summarise(folded(path), file="", agent="codex").tokens
    if not told:
        assert (tokens.input, tokens.output) == (None, None)
        return
    assert tokens.input is not None
    assert tokens.cache_read == told[-1]["cached_input_tokens"]
    assert tokens.cache_write == told[-1]["cache_write_input_tokens"]
    whole = tokens.input + (tokens.cache_read or 0) + (tokens.cache_write or 0)
    assert whole == told[-1]["input_tokens"]
    assert tokens.output == told[-1]["output_tokens"]


@each("path", STREAMS, ids=full_name_of)
def test_a_turn_is_ok_if_and_only_if_it_was_completed(path: Path) -> None:
    told = [m["type"] for m in messages(path) if m["type"] in ("turn.completed", "turn.failed")]
    assert [result.ok for result in folded(path).results] == [t == "turn.completed" for t in told]


def test_the_table_of_fields_has_only_recorded_fields() -> None:
    stages = {m["type"] for path in STREAMS for m in messages(path)}
    kinds = {m["item"]["type"] for path in STREAMS for m in messages(path) if "item" in m}
    known = KNOWN_FIELDS["codex"]
    assert {name.partition("/")[0] for name in known} == stages
    assert {name.partition("/")[2] for name in known} - {""} == kinds


# Turns.


def test_a_turn_that_never_ended_is_not_a_success() -> None:
    assert not any(isinstance(event, TurnFinished) for event in events(THREAD, TURN))


def test_an_error_is_not_the_end_of_a_turn() -> None:
    lost = {"type": "error", "message": "stream disconnected before completion: x"}
    told = events(THREAD, TURN, lost, item("completed", type="agent_message", text="Hi"), DONE)
    assert told[2] == Error(
        kind="network", message="stream disconnected before completion: x", retryable=True
    )
    ends = [event for event in told if isinstance(event, TurnFinished)]
    assert ends == [TurnFinished(ok=True, text="Hi")]


def test_a_failure_that_the_stream_repeats_is_reported_once() -> None:
    words = {"message": "Quota exceeded. Check your plan and billing details."}
    failed = {"type": "turn.failed", "error": words}
    once = events(THREAD, TURN, {"type": "error", **words}, failed)
    assert [type(e) for e in once[2:-1]] == [Error, TurnFinished]
    assert [type(e) for e in events(THREAD, TURN, failed)[2:-1]] == [Error, TurnFinished]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Quota exceeded. Check your plan and billing details.", True),
        ('{"error":{"message":"no","code":"insufficient_quota"}}', True),
        ('{"error":{"message":"no","type":"insufficient_quota"}}', True),
        ('{"error":{"message":"no","code":"usage_limit_reached"}}', None),
        ("You've hit your usage limit.", None),
    ],
)
def test_missing_credit_needs_payment(message: str, expected: bool | None) -> None:
    failed = error(message)
    assert (failed.kind, failed.needs_payment) == ("quota", expected)


def test_only_the_last_message_before_the_end_is_the_answer() -> None:
    def said(text: str) -> dict[str, Any]:
        return item("completed", type="agent_message", text=text)

    told = events(THREAD, TURN, said("First."), said("Last."), DONE, said("Late."))
    assert [e.text for e in told if isinstance(e, TurnFinished)] == ["Last."]


def test_an_end_without_a_beginning_begins_a_turn() -> None:
    assert [type(e) for e in events(DONE)] == [
        TurnStarted,
        UsageReported,
        TurnFinished,
        StreamClosed,
    ]


def test_a_thread_that_is_resumed_in_the_same_stream_is_one_session() -> None:
    told = events(THREAD, TURN, DONE, THREAD, TURN, DONE)
    assert [e for e in told if isinstance(e, SessionStarted)] == [SessionStarted(session="t")]
    assert sum(isinstance(e, TurnFinished) for e in told) == 2


# Usage.


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": 0, "output_tokens": 0}])
def test_uncounted_tokens_are_unknown(usage: dict[str, int] | None) -> None:
    told = events(THREAD, TURN, {"type": "turn.completed", "usage": usage})
    assert not any(isinstance(event, UsageReported) for event in told)


def test_the_usage_is_the_thread_s_total_and_input_is_what_the_cache_had_not() -> None:
    usage = {
        "input_tokens": 1200,
        "cached_input_tokens": 300,
        "cache_write_input_tokens": 77,
        "output_tokens": 45,
        "reasoning_output_tokens": 7,
    }
    told = events(THREAD, TURN, {"type": "turn.completed", "usage": usage})
    assert told[2] == UsageReported(
        scope="session",
        semantics="cumulative",
        input=823,
        output=45,
        cache_read=300,
        cache_write_5m=77,
        reasoning=7,
    )


# Items.


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("/bin/bash -lc 'echo hi'", "echo hi"),
        ("/usr/bin/zsh -c 'echo \"hi\"'", 'echo "hi"'),
        ("bash -lc \"trap '' INT; sleep 20\"", "trap '' INT; sleep 20"),
        ('bash -lc "echo \\"\\$HOME\\" \\\\n"', 'echo "$HOME" \\n'),
        ("bash -lc ls", "ls"),
        ("bash -lc 'it'\"'\"'s'", "it's"),
        ("/bin/bash -lc 'a' b", "/bin/bash -lc 'a' b"),
        ("/bin/bash -lc 'torn", "/bin/bash -lc 'torn"),
        ("git status", "git status"),
        ("bash -lc " + "'" * 20_001, "bash -lc " + "'" * 20_001),
    ],
)
def test_a_command_is_reported_without_the_shell_around_it(words: str, meant: str) -> None:
    assert script(words) == meant


def test_a_declined_command_is_a_denial() -> None:
    told = events(THREAD, TURN, command("started"), command("completed", "declined"), DONE)
    denied, finished = told[3:5]
    assert isinstance(denied, PermissionDenied)
    assert (denied.tool_id, denied.name) == ("item_0", "shell")
    assert isinstance(finished, ToolFinished)
    assert finished.status == "denied"


def test_an_unknown_status_is_an_error() -> None:
    told = events(THREAD, TURN, command("started"), command("completed", "vanished"), DONE)
    assert [e.status for e in told if isinstance(e, ToolFinished)] == ["error"]


def test_a_command_that_outlives_its_turn_is_background_work_that_was_cut() -> None:
    told = events(THREAD, TURN, command("started"), DONE, command("completed", "completed"))
    kinds = [type(e) for e in told[3:-1]]
    assert kinds == [TaskStarted, ToolFinished, TaskFinished, UsageReported, TurnFinished]
    assert folded_status(told) == "incomplete"


def test_calls_open_when_a_turn_fails_are_not_background_work() -> None:
    told = events(THREAD, TURN, command("started"), {"type": "turn.failed", "error": None})
    assert [type(e) for e in told[3:-1]] == [ToolFinished, TurnFinished]


def test_a_failed_patch_reports_no_changed_files() -> None:
    changes = [{"path": "/a", "kind": "add"}]
    told = events(
        THREAD,
        TURN,
        item("started", type="file_change", changes=changes, status="in_progress"),
        item("completed", type="file_change", changes=changes, status="failed"),
        DONE,
    )
    assert not any(isinstance(event, FileChanged) for event in told)


def test_a_search_that_never_ended_is_reported_as_started() -> None:
    search = item("started", type="web_search", query="", action={"type": "other"})
    told = events(THREAD, TURN, search)
    assert told[2:4] == [
        ToolStarted(id="item_0", name="web_search", kind="fetch"),
        ToolFinished(id="item_0", status="orphaned", name="web_search", kind="fetch"),
    ]
    assert told[-1].open_tools == 1


@pytest.mark.parametrize(
    ("action", "title"),
    [
        ({"type": "search", "query": "a", "queries": ["a", "b"]}, "a"),
        ({"type": "search", "queries": ["a", "b"]}, "a, b"),
        ({"type": "open_page", "url": "https://x"}, "https://x"),
        ({"type": "find_in_page", "url": "https://x", "pattern": "p"}, "p in https://x"),
        ({"type": "other"}, None),
    ],
)
def test_a_search_has_its_query_as_title(action: dict[str, Any], title: str | None) -> None:
    told = events(
        THREAD,
        TURN,
        item("started", type="web_search", query="", action={"type": "other"}),
        item("completed", type="web_search", query="", action=action),
    )
    assert told[2] == ToolStarted(id="item_0", name="web_search", kind="fetch", title=title)


def test_a_plan_that_did_not_change_is_not_reported_again() -> None:
    steps = [{"text": "A", "completed": False}]
    told = events(
        THREAD,
        TURN,
        item("started", type="todo_list", items=steps),
        item("completed", type="todo_list", items=steps),
        DONE,
    )
    assert sum(isinstance(event, PlanChanged) for event in told) == 1


def test_a_subagent_that_still_runs_at_the_end_was_cut() -> None:
    spawned = {
        "type": "collab_tool_call",
        "tool": "spawn_agent",
        "receiver_thread_ids": ["c"],
        "prompt": "Go",
        "status": "completed",
        "agents_states": {"c": {"status": "running", "message": None}},
    }
    told = events(THREAD, TURN, item("completed", **spawned), DONE)
    assert [e.status for e in told if isinstance(e, TaskFinished)] == ["orphaned"]
    assert folded_status(told) == "incomplete"


def test_a_warning_is_a_notice() -> None:
    told = events(THREAD, item("completed", type="error", message="careful"))
    assert told[1] == Notice(level="warning", text="careful")


def test_the_same_item_twice_is_one_call() -> None:
    ended = command("completed", "completed", exit_code=0)
    wire = (command("started"), command("started"), ended, ended)
    told = events(THREAD, TURN, *wire, command("started"), DONE)
    assert [type(e) for e in told[2:-1]] == [
        ToolStarted,
        ToolFinished,
        UsageReported,
        TurnFinished,
    ]


def test_an_item_without_an_id_is_reported() -> None:
    told = events(THREAD, TURN, {"type": "item.completed", "item": {"type": "agent_message"}})
    assert told[2] == Text(id="item-1", text="")


def test_an_item_of_an_unknown_kind_is_kept_whole() -> None:
    wire = item("completed", type="hologram", depth=3)
    told = events(THREAD, wire)
    assert isinstance(told[1], Unknown)
    assert told[1].name == "item.completed/hologram"
    assert json.loads(bytes(told[1].raw or b"")) == wire


def test_fields_are_looked_at_in_the_first_messages_of_each_type_only() -> None:
    wire = [item("completed", type="agent_message", text="x", phase="final")] * 300
    closed = events(THREAD, *wire)[-1]
    assert [(f.type, f.field, f.count) for f in closed.unknown_fields] == [
        ("item.completed/agent_message", "item.phase", 20)
    ]


# Words for failures.


@each(
    ("message", "kind"),
    [
        ("You've hit your usage limit. Try again later.", "quota"),
        ("You’ve hit your usage limit for gpt-5.5.", "quota"),
        ("exceeded retry limit, last status: 429 Too Many Requests", "quota"),
        ("exceeded retry limit, last status: 503 Service Unavailable", "overload"),
        ("unexpected status 401 Unauthorized: no, url: http://x", "auth"),
        ("unexpected status 404 Not Found: no, url: http://x", "config"),
        ("unexpected status 500 Internal Server Error: no, url: http://x", "internal"),
        ('{"error": {"message": "m", "code": "context_length_exceeded"}}', "context"),
        ('{"error": {"message": "m", "type": "invalid_request_error", "code": 7}}', "config"),
        ('{"error": {"message": "m", "type": "new"}}', "internal"),
        ('{"error": "torn', "internal"),
        ("Incomplete response returned, reason: content_filter", "policy"),
        ("the tool printed: Quota exceeded", "internal"),
        ("", "internal"),
    ],
)
def test_what_failed_is_known_by_its_words(message: str, kind: str) -> None:
    assert error(message).kind == kind


def test_only_words_of_the_agent_s_own_error_say_that_a_limit_was_reached() -> None:
    shouted = "Quota exceeded. You've hit your usage limit. 429 Too Many Requests"
    told = events(
        THREAD,
        TURN,
        command("started"),
        command("completed", "failed", aggregated_output=shouted, exit_code=1),
        item("completed", type="agent_message", text=shouted),
        item("completed", type="error", message=shouted),
        {"type": "turn.failed", "error": {"message": "it broke"}},
    )
    assert folded_status(told) == "failed"


def test_a_retry_is_read() -> None:
    words = "Reconnecting... 2/5 (unexpected status 401 Unauthorized: x)"
    assert retry(words) == Retrying(
        attempt=2, max_attempts=5, status=401, reason="unexpected status 401 Unauthorized: x"
    )
    waiting = "Reconnecting... waiting for network (Connection failed: x)"
    assert retry(waiting) == Retrying(reason="Connection failed: x")
    assert retry("Reconnecting... soon") is None


# Detection.


@each("path", [p for p in STREAMS if p.stat().st_size > 50], ids=full_name_of)
def test_every_message_but_a_bare_error_is_recognised(path: Path) -> None:
    assert all(recognises(m) for m in messages(path) if m["type"] != "error")


@pytest.mark.parametrize(
    "message",
    [
        {"type": "error", "message": "x"},
        {"type": "thread.started"},
        {"type": "item.completed", "item": 5},
        {"type": "assistant", "message": {"content": []}},
        {"type": 5},
        {},
    ],
)
def test_what_others_may_write_is_not_recognised(message: dict[str, Any]) -> None:
    assert not recognises(message)


def folded_status(told: list[Any]) -> str:
    records = [Record(seq, None, 0, 0, event) for seq, event in enumerate(told)]
    return judge(fold(records)).status
