"""What the Claude decoder promises. Each `# seed` line quotes what the tests under it prove."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import nightrook
from nightrook.adapter.drift import LOOKED_AT
from nightrook.agents import detect
from nightrook.agents.claude import shapes
from nightrook.agents.claude.reader import ClaudeReader
from nightrook.model.events import (
    Denial,
    Error,
    ErrorKind,
    Level,
    LimitReported,
    ModeChanged,
    ModelUsage,
    Notice,
    PermissionDenied,
    PlanChanged,
    PlanItem,
    SessionStarted,
    Status,
    StreamClosed,
    TaskFinished,
    Text,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolKind,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    UnknownField,
    Unreadable,
    UsageReported,
    UserMessage,
)
from nightrook.model.fold import fold
from nightrook.model.ledger import Money
from nightrook.prices import PriceBook
from tests.rules import each

CASES = Path(__file__).parent / "cases"
BEGUN = TurnStarted(origin="prompt")
TEN_MIB = 10 * 1024 * 1024


def read(*messages: Any, close: bool = False) -> list[nightrook.Event]:
    """Decode messages, or lines as they are, one after the other."""
    decoder = nightrook.decoder("claude")
    lines = [m if isinstance(m, bytes) else json.dumps(m).encode() for m in messages]
    records = decoder.feed(b"".join(line + b"\n" for line in lines))
    return [record.event for record in records + (decoder.close() if close else [])]


def raw(value: Any) -> msgspec.Raw:
    """A part of a message as the event keeps it."""
    return msgspec.Raw(json.dumps(value).encode())


def said(*blocks: Any, **more: Any) -> dict[str, Any]:
    """An assistant message with these content blocks."""
    return {"type": "assistant", "message": {"id": "msg_1", "content": list(blocks), **more}}


def call(id: str, name: str, input: Any) -> dict[str, Any]:
    return said({"type": "tool_use", "id": id, "name": name, "input": input})


def answer(id: str, content: Any, **more: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": id, "content": content, **more}
    return {"type": "user", "message": {"content": [block]}}


def result(**more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, **more}


def init(**more: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": "init", "session_id": "s", **more}


def piece(**event: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event}


def delta(index: int, **part: Any) -> dict[str, Any]:
    return piece(type="content_block_delta", index=index, delta=part)


# seed 000, step 8: TestParserFor (codex and amp come with their own decoders)
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("claude", "claude"),
        ("/usr/local/bin/claude", "claude"),
        ("claude.exe", "claude"),
        (r"C:\Tools\Claude.EXE", "claude"),
        ("unknown-agent", None),
        ("", None),
    ],
)
def test_a_parser_is_found_by_the_program_a_command_runs(command: str, name: str | None) -> None:
    parser = nightrook.parser_for(command)
    assert (parser.agent if parser else None) == name


# seed 000, step 8: TestOutputFlags (`--verbose` is meant: without it the CLI refuses stream-json)
@pytest.mark.parametrize("command", ["claude", "/path/to/claude"])
def test_output_flags_make_claude_write_a_stream(command: str) -> None:
    flags = nightrook.output_flags(command)
    assert flags == ["--output-format", "stream-json", "--verbose"]


def test_an_unknown_command_has_no_output_flags() -> None:
    assert nightrook.output_flags("unknown") is None


# seed 000, step 8: TestClaudeParser_ToolUse
def test_a_tool_use_starts_a_tool() -> None:
    message = call("tool_1", "Read", {"file_path": "/path/to/file.go"})
    assert read(message) == [
        BEGUN,
        ToolStarted(
            id="tool_1",
            name="Read",
            kind="read",
            title="/path/to/file.go",
            input=raw({"file_path": "/path/to/file.go"}),
        ),
    ]


# seed 000, step 8: TestClaudeParser_ToolResult
def test_a_tool_result_finishes_the_tool() -> None:
    started, result = call("tool_1", "Bash", {"command": "ls"}), answer("tool_1", "file1.go\nfile2")
    assert read(started, result)[-1] == ToolFinished(
        id="tool_1", status="ok", name="Bash", kind="execute", output="file1.go\nfile2"
    )


# seed 000, step 8: TestClaudeParser_ToolError; step 1: IsError is true if there is an error
def test_a_failed_result_reports_its_error_even_if_its_start_was_never_seen() -> None:
    assert read(answer("tool_1", "", is_error=True, error="Permission denied")) == [
        ToolFinished(id="tool_1", status="error", error="Permission denied")
    ]


# seed 000, step 2: "Sometimes error is in content"
def test_a_failed_result_without_error_reports_its_content() -> None:
    assert read(answer("tool_1", "no such file", is_error=True)) == [
        ToolFinished(id="tool_1", status="error", error="no such file")
    ]


# seed 000, step 8: TestClaudeParser_Text
def test_a_text_block_is_a_text() -> None:
    message = said({"type": "text", "text": "I'll help you with that."})
    assert read(message) == [BEGUN, Text(id="msg_1:0", text="I'll help you with that.")]


# seed 000, step 2: `if c.Text != ""`; `if raw.Message == nil { return nil, nil }`
@pytest.mark.parametrize("message", [said({"type": "text", "text": ""}), {"type": "user"}])
def test_an_empty_message_says_nothing(message: dict[str, Any]) -> None:
    assert [event for event in read(message) if event != BEGUN] == []


# seed 000, step 1: Parse "may return multiple events for a single message"
def test_one_message_may_give_several_events() -> None:
    message = said(
        {"type": "text", "text": "one"},
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}},
        {"type": "text", "text": "two"},
    )
    assert [type(event) for event in read(message)] == [TurnStarted, Text, ToolStarted, Text]


# seed 000, step 8: TestClaudeParser_Result
def test_a_result_finishes_the_turn_with_text_and_cost() -> None:
    message = {"type": "result", "subtype": "success", "result": "done", "total_cost_usd": 0.0234}
    assert read(message) == [
        BEGUN,
        TurnFinished(ok=True, text="done", cost_usd=0.0234, cost_semantics="cumulative"),
    ]


# seed 000, step 2: `case "system"`: session info, tools list
def test_an_init_starts_a_session_and_a_turn() -> None:
    assert read(init(tools=["Read", "Bash"])) == [
        SessionStarted(session="s", tools=("Read", "Bash")),
        BEGUN,
    ]


# seed 000, step 8: TestClaudeParser_UnknownType; seed 002: "unknown event types → unknownEvent"
def test_an_unknown_type_is_kept_whole() -> None:
    message = {"type": "future_type", "data": "something"}
    assert read(message) == [Unknown(name="future_type", raw=raw(message))]


# seed 000, step 8: TestClaudeParser_MalformedJSON
def test_malformed_json_is_unreadable_and_the_stream_continues() -> None:
    assert read(b"{not valid json", said({"type": "text", "text": "on"})) == [
        Unreadable(reason="not_json", preview="{not valid json"),
        BEGUN,
        Text(id="msg_1:0", text="on"),
    ]


# seed 000, step 8: TestExtractToolInput
@each(
    ("name", "input", "title"),
    [
        ("Read", {"file_path": "/path/to/file"}, "/path/to/file"),
        ("Edit", {"file_path": "/path/to/file"}, "/path/to/file"),
        ("Write", {"content": "a\nb", "file_path": "/path/to/file"}, "/path/to/file"),
        ("Bash", {"command": "go test ./..."}, "go test ./..."),
        ("Bash", {"description": "Run tests"}, "Run tests"),
        ("Bash", {"command": "a\n\tb  c", "description": "Run"}, "a b c"),
        ("Glob", {"pattern": "**/*.py"}, "**/*.py"),
        ("Grep", {"pattern": "TODO"}, "TODO"),
        ("Task", {"description": "Look at a", "prompt": "long"}, "Look at a"),
        ("WebFetch", {"url": "https://example.com/"}, "https://example.com/"),
        ("WebSearch", {"query": "dogs"}, "dogs"),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}]}, "Which?"),
        ("mcp__tiny__echo", {"n": 1, "text": "hello"}, "hello"),
        ("Unknown", {"foo": "bar"}, None),
        ("Unknown", {"foo": "bar", "query": "dogs"}, "dogs"),
        ("Read", {"wrong": "x"}, None),
        ("Read", "not an object", None),
    ],
)
def test_a_call_has_the_title_a_person_would_give_it(
    name: str, input: Any, title: str | None
) -> None:
    started = read(call("t", name, input))[-1]
    assert isinstance(started, ToolStarted)
    assert started.title == title


# seed 002: "all Claude-specific knowledge lives here"; "tool_use.name → ToolKind mapping table"
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("read", "Read NotebookRead"),
        ("list", "LS"),
        ("search", "Glob Grep"),
        ("edit", "Edit MultiEdit Write NotebookEdit"),
        ("execute", "Bash BashOutput KillShell TaskOutput TaskStop"),
        ("fetch", "WebFetch WebSearch"),
        ("subagent", "Task Agent"),
        ("plan", "TodoWrite TaskCreate TaskUpdate TaskList"),
        ("ask", "AskUserQuestion"),
        ("skill", "Skill SlashCommand"),
        ("other", "Frobnicate"),
    ],
)
def test_every_tool_has_a_kind(kind: ToolKind, names: str) -> None:
    calls = read(*(call(name, name, {}) for name in names.split()))[1:]
    assert {event.kind for event in calls if isinstance(event, ToolStarted)} == {kind}


# seed 002: "mcp__<server>__<tool> names → ToolKind.other with metadata {server, tool}"
def test_an_mcp_tool_names_its_server_and_tool() -> None:
    assert read(call("t", "mcp__my_git_server__push__all", {}))[-1] == ToolStarted(
        id="t",
        name="mcp__my_git_server__push__all",
        kind="other",
        input=raw({}),
        server="my_git_server",
        tool="push__all",
    )


# seed 002: "EnterPlanMode/ExitPlanMode as system events, not tool cards"
def test_plan_mode_is_a_mode_and_never_a_tool() -> None:
    events = read(
        init(permissionMode="acceptEdits"),
        call("t1", "EnterPlanMode", {}),
        answer("t1", "Entered plan mode."),
        call("t2", "ExitPlanMode", {"plan": "do it"}),
        answer("t2", "User has approved your plan."),
        close=True,
    )
    assert events[2:-1] == [ModeChanged(mode="plan"), ModeChanged(mode="acceptEdits")]


# seed 002: "Feed raw bytes (may be partial; parser buffers until \n)"
def test_a_message_is_read_when_its_newline_comes() -> None:
    decoder = nightrook.decoder("claude")
    line = json.dumps(said({"type": "text", "text": "hé"}), ensure_ascii=False).encode()
    for n in range(len(line)):
        assert decoder.feed(line[n : n + 1]) == []
    assert decoder.feed(b"\n")[-1].event == Text(id="msg_1:0", text="hé")


# seed 002: "Line limit: 10 MiB — drop with warning, continue from next \n"
def test_a_line_over_ten_mebibytes_is_reported_and_the_next_is_read() -> None:
    text = {"type": "text", "text": "small"}
    long = json.dumps(said({"type": "text", "text": "x" * TEN_MIB})).encode()
    decoder = nightrook.decoder("claude")
    records = decoder.feed(long + b"\n" + json.dumps(said(text)).encode() + b"\n")
    warning, begun, cut, small = records
    assert (warning.offset, warning.length, type(warning.event)) == (0, len(long), Unreadable)
    assert begun.event == BEGUN
    assert isinstance(cut.event, Text)
    assert len(cut.event.text) < 100_000
    assert small.event == Text(id="msg_1:1", text="small")


def test_a_line_of_ten_mebibytes_is_read() -> None:
    frame = len(json.dumps(said({"type": "text", "text": ""})))
    line = json.dumps(said({"type": "text", "text": "x" * (TEN_MIB - frame)})).encode()
    assert len(line) == TEN_MIB
    assert [type(event) for event in read(line)] == [TurnStarted, Text]


# seed 002: "system → switch subtype → emit matching event"
@pytest.mark.parametrize(
    ("subtype", "event"),
    [
        ("api_retry", "retrying"),
        ("compact_boundary", "context_compacted"),
        ("hook_started", "hook_started"),
        ("hook_response", "hook_finished"),
        ("task_started", "task_started"),
        ("task_progress", "task_progress"),
        ("model_fallback", "model_changed"),
        ("frobnicated", "unknown"),
    ],
)
def test_a_system_message_is_read_by_its_subtype(subtype: str, event: str) -> None:
    told = read({"type": "system", "subtype": subtype})
    assert [type(found).__struct_config__.tag for found in told] == [event]


# seed 002: "assistant → parse message.content[], emit messageCompleted with usage/stopReason"
def test_an_assistant_message_has_usage_and_stop_reason() -> None:
    message = said(usage={"input_tokens": 3, "output_tokens": 5}, stop_reason="end_turn")
    assert read(message)[-1] == UsageReported(
        message_id="msg_1",
        stop_reason="end_turn",
        scope="message",
        semantics="final",
        input=3,
        output=5,
    )


# seed 002: "user → detect tool_result vs echo"
def test_a_user_message_is_a_tool_result_or_an_echo() -> None:
    echo = {"type": "user", "isReplay": True, "message": {"content": "hello"}}
    assert read(echo, answer("t", "out")) == [
        UserMessage(text="hello", replay=True),
        ToolFinished(id="t", status="ok", output="out"),
    ]


# seed 002: "result → emit sessionEnd, mark parser state as terminal"; but turns may follow a result
def test_every_result_ends_a_turn_and_the_stream_counts_them() -> None:
    result = {"type": "result", "subtype": "success", "is_error": False}
    closed = read(init(), result, init(), result, close=True)[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.results == 2


# seed 002: "Flushes + emits terminated event if no result seen"
def test_closing_flushes_and_reports_that_no_result_came() -> None:
    decoder = nightrook.decoder("claude")
    decoder.feed(json.dumps(call("t", "Bash", {"command": "ls"})).encode())
    assert [record.event for record in decoder.close()] == [
        BEGUN,
        ToolStarted(id="t", name="Bash", kind="execute", title="ls", input=raw({"command": "ls"})),
        ToolFinished(id="t", status="orphaned", name="Bash", kind="execute"),
        StreamClosed(
            results=0,
            truncated=False,
            open_tools=1,
            lines=1,
            blank=0,
            silent=0,
            unknown_fields=(),
        ),
    ]


def test_a_task_that_still_runs_at_the_end_is_orphaned() -> None:
    task = {"type": "system", "task_id": "t", "tool_use_id": "c", "task_type": "local_bash"}
    started = task | {"subtype": "task_started", "description": "make"}
    assert read(started, close=True)[-2] == TaskFinished(
        id="t", status="orphaned", kind="command", title="make", tool_id="c"
    )


# seed 002: "stream_event → switch inner event.type"; "content_block_* interleaving (rare)"
def test_pieces_of_several_open_blocks_keep_to_their_own() -> None:
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    assert read(
        piece(type="message_start", message={"id": "m"}),
        piece(type="content_block_start", index=0, content_block={"type": "thinking"}),
        piece(type="content_block_start", index=1, content_block={"type": "text", "text": ""}),
        piece(type="content_block_start", index=2, content_block=tool),
        delta(2, type="input_json_delta", partial_json="{"),
        delta(1, type="text_delta", text="a"),
        delta(0, type="thinking_delta", thinking="b"),
        delta(2, type="input_json_delta", partial_json="}"),
    ) == [
        BEGUN,
        ThinkingDelta(id="m:0", text=""),
        ToolInputDelta(id="t", json="", name="Bash"),
        ToolInputDelta(id="t", json="{"),
        TextDelta(id="m:1", text="a"),
        ThinkingDelta(id="m:0", text="b"),
        ToolInputDelta(id="t", json="}"),
    ]


@pytest.mark.parametrize(
    ("after", "status"),
    [
        ((), "orphaned"),
        (({"type": "result", "subtype": "success", "is_error": False},), "orphaned"),
        ((piece(type="message_start", message={"id": "n"}),), "cancelled"),
        ((said({"type": "text", "text": "again"}),), "cancelled"),
    ],
)
def test_a_call_that_is_cut_while_it_is_written_starts_and_ends(
    after: tuple[dict[str, Any], ...], status: Status
) -> None:
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    events = read(
        piece(type="message_start", message={"id": "m"}),
        piece(type="content_block_start", index=0, content_block=tool),
        delta(0, type="input_json_delta", partial_json='{"command'),
        *after,
        close=True,
    )
    spans = [event for event in events if isinstance(event, (ToolStarted, ToolFinished))]
    assert spans == [
        ToolStarted(id="t", name="Bash", kind="execute"),
        ToolFinished(id="t", status=status, name="Bash", kind="execute"),
    ]


def test_a_call_that_was_announced_starts_once_with_its_input() -> None:
    tool = {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}
    begun = piece(type="message_start", message={"id": "msg_1"})
    opened = piece(type="content_block_start", index=0, content_block=tool)
    events = read(begun, opened, call("t", "Bash", {"command": "ls"}), close=True)
    (started,) = (event for event in events if isinstance(event, ToolStarted))
    assert started.title == "ls"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ({"type": "telepathy_delta"}, "stream_event/telepathy_delta"),
        ({"text": "of no type"}, "stream_event/content_block_delta"),
        ({"type": "text_delta"}, "stream_event/content_block_delta"),
        ({"type": "text_delta", "text": 5}, "stream_event/content_block_delta"),
    ],
)
def test_an_unknown_piece_is_kept_whole(part: Any, name: str) -> None:
    strange = delta(0, **part)
    assert read(
        piece(type="message_start", message={"id": "m"}),
        piece(type="content_block_start", index=0, content_block={"type": "text"}),
        strange,
        delta(0, type="text_delta", text="a"),
    ) == [BEGUN, Unknown(name=name, raw=raw(strange)), TextDelta(id="m:0", text="a")]


def test_a_held_task_is_reported_before_the_piece_that_follows_it() -> None:
    task = {"type": "system", "task_id": "t", "task_type": "local_bash"}
    ended = task | {"subtype": "task_updated", "patch": {"status": "completed"}}
    begun = piece(type="message_start", message={"id": "m"})
    opened = piece(type="content_block_start", index=0, content_block={"type": "text"})
    told = delta(0, type="text_delta", text="a")
    assert read(begun, opened, task | {"subtype": "task_started"}, ended, told)[2:] == [
        TaskFinished(id="t", status="ok", kind="command"),
        TextDelta(id="m:0", text="a"),
    ]


# seed 002: "minimum 20 real JSONL samples covering: …"
@pytest.mark.parametrize(
    ("what", "case"),
    [
        ("basic text response", "s01_plain_text-2.1.197"),
        ("interleaved tool_use + tool_result", "s03_parallel_tools-2.1.197"),
        ("thinking", "s06_thinking-2.1.197"),
        ("api_retry", "s10_api_retry-2.1.197"),
        ("compact_boundary", "s14c_compact_reactive-2.1.197"),
        ("rate_limit", "s15_rate_limit_event-2.1.325"),
        ("subagent (parent_tool_use_id)", "s08_subagent-2.1.197"),
        ("MCP tool", "s09_mcp-2.1.197"),
        ("failed tool", "s04_failing_tools-2.1.197"),
        ("unknown event type", "unknown-type"),
    ],
)
def test_the_samples_that_were_asked_for_are_among_the_cases(what: str, case: str) -> None:
    assert (CASES / case / "wire.jsonl").is_file(), what
    assert len(list(CASES.iterdir())) >= 20


# seed 002: "decodes known fields, ignores unknown, no exception"
def test_unknown_fields_of_an_unchecked_version_are_counted() -> None:
    text = said({"type": "text", "text": "hi", "aura": "blue"}, mood="calm") | {"sky": 1}
    events = read(init(claude_code_version="9.9.9"), text, close=True)
    assert events[2] == Text(id="msg_1:0", text="hi")
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == (
        UnknownField(type="assistant", field="message.content[].aura", count=1),
        UnknownField(type="assistant", field="message.mood", count=1),
        UnknownField(type="assistant", field="sky", count=1),
    )


def test_a_stream_without_a_version_is_watched_only_at_its_beginning() -> None:
    reader = ClaudeReader()
    watched = dict(reader.functions)
    line = json.dumps(said({"type": "text", "text": "hi"})).encode()
    message = msgspec.json.decode(line, type=shapes.Assistant)
    for _ in range(LOOKED_AT):
        reader.functions[shapes.Assistant](reader.memory, message, line)
    assert reader.functions == watched
    reader.functions[shapes.Assistant](reader.memory, message, line)
    assert reader.functions[shapes.Assistant] is not watched[shapes.Assistant]
    assert reader.functions[shapes.User] is watched[shapes.User]


def test_a_field_of_a_system_message_that_does_not_fit_is_dropped_and_counted() -> None:
    events = read(init(tools="all", cwd="/home/dev"), close=True)
    assert events[0] == SessionStarted(session="s", cwd="/home/dev")
    closed = events[-1]
    assert isinstance(closed, StreamClosed)
    assert closed.unknown_fields == (UnknownField(type="system/init", field="tools", count=1),)


@pytest.mark.parametrize(
    ("words", "kind", "retryable"),
    [
        ({"error": "authentication_failed"}, "auth", False),
        ({"error": "rate_limit"}, "rate", True),
        ({"error": "rate_limit", "api_error": "usage_limit_reached"}, "quota", False),
        ({"error": "server_error"}, "internal", True),
        ({"error": "server_error", "api_error_type": "overloaded_error"}, "overload", True),
        ({"error": "unknown", "api_error": "connection_failed"}, "network", True),
        ({"error": "unknown", "api_error_type": "invalid_request_error"}, "config", False),
        ({"error": "invalid_request", "api_error_type": "request_too_large"}, "context", False),
        ({"error": "unknown"}, "internal", None),
        ({"error": "a new word"}, "internal", None),
    ],
)
def test_the_most_specific_name_decides_the_kind_of_error(
    words: dict[str, str], kind: ErrorKind, retryable: bool | None
) -> None:
    message = said({"type": "text", "text": "it failed"}) | words
    assert read(message) == [BEGUN, Error(kind=kind, message="it failed", retryable=retryable)]


@pytest.mark.parametrize(
    ("text", "kind", "retryable"),
    [
        ("You've hit your limit · resets 8:17pm (UTC)", "quota", False),
        ("You've hit your Opus weekly limit · resets Mon 9am (UTC)", "quota", False),
        ("You're out of extra usage · resets 8pm (UTC)", "quota", False),
        ("Session limit reached ∙ resets 7:12pm", "quota", False),
        ("Weekly limit reached ∙ resets Mon 9am", "quota", False),
        ("Spending cap reached resets 7:05pm", "quota", False),
        ("Limit reached – contact an admin to keep working", "quota", False),
        ('API Error: 429 {"type":"error"}', "rate", True),
        ('API Error: 529 {"type":"error"}', "overload", True),
    ],
)
def test_a_failure_that_no_field_names_is_known_by_its_words(
    text: str, kind: ErrorKind, retryable: bool
) -> None:
    error = Error(kind=kind, message=text, retryable=retryable)
    message = said({"type": "text", "text": text})
    assert read(message | {"error": "unknown"}) == [BEGUN, error]
    events = read(result(is_error=True, result=text))  # 1.0 has no `error`
    assert [event for event in events if isinstance(event, Error)] == [error]


@pytest.mark.parametrize(
    ("error", "text"),
    [("billing_error", "it failed"), ("unknown", "Credit balance is too low")],
)
def test_missing_credit_is_a_quota_that_needs_payment_and_not_a_missing_login(
    error: str, text: str
) -> None:
    message = said({"type": "text", "text": text}) | {"error": error}
    assert read(message)[-1] == Error(
        kind="quota", message=text, retryable=False, needs_payment=True
    )


def test_the_moment_of_a_reset_is_read_from_the_words_of_1_0() -> None:
    events = read(result(is_error=True, result="Claude AI usage limit reached|1794856362"))
    assert LimitReported(status="rejected", resets_at=1794856362.0) in events


def test_the_words_of_a_limit_in_an_answer_mean_nothing() -> None:
    events = read(result(result="You've hit your limit · resets 8:17pm (UTC)"))
    assert not any(isinstance(event, Error) for event in events)


def test_a_rate_limit_is_a_quota_once_the_subscription_rejects() -> None:
    rejected = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}
    message = said({"type": "text", "text": "limit"}) | {"error": "rate_limit"}
    assert read(rejected, message)[-1] == Error(kind="quota", message="limit", retryable=False)


def test_what_was_being_written_is_given_before_an_interrupted_turn_ends() -> None:
    aborted = {"type": "result", "subtype": "error_during_execution", "is_error": True}
    events = read(
        init(),
        piece(type="message_start", message={"id": "m"}),
        delta(0, type="text_delta", text="half a "),
        delta(0, type="text_delta", text="sentence"),
        aborted,
    )
    assert events[-2:] == [
        Text(id="m:0", text="half a sentence"),
        TurnFinished(ok=False, reason="error"),
    ]


def test_a_field_that_says_rejected_wins_over_the_words_of_an_interrupt() -> None:
    words = "The user doesn't want to proceed with this tool use."
    meta = [{"id": "t", "permission_decision": {"decision": "reject"}}]
    refused = answer("t", words, is_error=True)
    assert read(refused) == [ToolFinished(id="t", status="cancelled", error=words)]
    assert read(refused | {"tool_result_meta": meta}) == [
        PermissionDenied(tool_id="t", reason=words),
        ToolFinished(id="t", status="denied", error=words),
    ]


@pytest.mark.parametrize(("status", "origin"), [("completed", "task"), ("stopped", "prompt")])
def test_only_a_task_that_ran_to_its_end_wakes_the_model(status: str, origin: str) -> None:
    task = {"type": "system", "task_id": "b1"}
    started, ended = task | {"subtype": "task_started"}, task | {"subtype": "task_notification"}
    result = {"type": "result", "subtype": "success", "is_error": False}
    events = read(init(), started, result, ended | {"status": status}, init())
    assert events[-1] == TurnStarted(origin=origin)


@pytest.mark.parametrize(("stream", "level"), [("stdout", "info"), ("stderr", "warning")])
def test_what_a_command_of_the_program_printed_is_a_notice(stream: str, level: Level) -> None:
    printed = f"<local-command-{stream}>Compacted </local-command-{stream}>"
    message = {"type": "user", "isReplay": True, "message": {"content": printed}}
    assert read(message) == [Notice(level=level, text="Compacted")]


@pytest.mark.parametrize(
    ("name", "input", "fix"),
    [
        ("Bash", {"command": "rm -r x"}, "Bash(rm -r x)"),
        ("Bash", {}, "Bash"),
        ("Read", {"file_path": "/etc/hosts"}, "Read(//etc/hosts)"),
        ("Write", {"file_path": "a.txt"}, "Edit(a.txt)"),
        ("NotebookEdit", {"notebook_path": "/n.ipynb"}, "Edit(//n.ipynb)"),
        ("WebFetch", {"url": "https://docs.example.com/x"}, "WebFetch(domain:docs.example.com)"),
        ("WebFetch", {"url": "http://[not-an-address"}, "WebFetch"),
        ("mcp__git__push", {"remote": "origin"}, "mcp__git__push"),
        ("AskUserQuestion", {"questions": []}, None),
    ],
)
def test_a_denial_names_the_rule_that_would_let_the_call_pass(
    name: str, input: Any, fix: str | None
) -> None:
    denied = {"tool_name": name, "tool_use_id": "t", "tool_input": input}
    result = {"type": "result", "subtype": "success", "permission_denials": [denied]}
    told = {"tool_id": "t", "name": name, "fix": fix}
    events = read(call("t", name, input), answer("t", "no", is_error=True), result)
    assert events[-2] == PermissionDenied(input=raw(input), reason="no", **told)
    assert events[-1] == TurnFinished(ok=True, denials=(Denial(input=raw(input), **told),))


def test_no_rule_is_offered_where_everything_is_allowed_already() -> None:
    denied = {"tool_name": "Bash", "tool_use_id": "t"}
    result = {"type": "result", "subtype": "success", "permission_denials": [denied]}
    events = read(init(permissionMode="bypassPermissions"), result)
    assert events[-2] == PermissionDenied(tool_id="t", name="Bash")


def step(id: str, name: str, input: Any, result: Any) -> list[dict[str, Any]]:
    return [call(id, name, input), answer(id, "ok") | {"tool_use_result": result}]


def test_the_task_tools_change_the_plan_step_by_step() -> None:
    listed = [{"id": "1", "subject": "a", "status": "pending"}, {"id": "2", "subject": "b"}]
    events = read(
        *step("t1", "TaskList", {}, {"tasks": listed}),
        *step("t2", "TaskUpdate", {"taskId": "1", "subject": "c"}, {"taskId": "1"}),
        *step("t3", "TaskUpdate", {}, {"taskId": "2", "statusChange": {"to": "deleted"}}),
        *step("t4", "TaskUpdate", {"taskId": "9"}, {"taskId": "9"}),
        *step("t5", "TaskGet", {"taskId": "1"}, {"task": listed[0]}),
    )
    assert [event for event in events if isinstance(event, PlanChanged)] == [
        PlanChanged(items=(PlanItem(text="a", status="pending"), PlanItem(text="b"))),
        PlanChanged(items=(PlanItem(text="c", status="pending"), PlanItem(text="b"))),
        PlanChanged(items=(PlanItem(text="c", status="pending"),)),
    ]


def test_a_call_that_updates_a_task_names_the_task_and_its_new_status() -> None:
    listed = [{"id": "1", "subject": "Fix the\nparser"}, {"id": "2", "subject": ""}]
    inputs = (
        {"taskId": "1", "status": "in_progress"},
        {"taskId": "1", "subject": "Fix it", "status": "completed"},
        {"taskId": "1", "addBlockedBy": ["2"]},
        {"taskId": "2", "status": "completed"},
        {"taskId": "9", "status": "deleted"},  # created before this stream began
        {"status": "completed"},
    )
    events = read(
        *step("t0", "TaskList", {}, {"tasks": listed}),
        *(call(f"t{number}", "TaskUpdate", input) for number, input in enumerate(inputs, 1)),
        call("t9", "TaskGet", {"taskId": "1"}),
    )
    titles = [event.title for event in events if isinstance(event, ToolStarted)]
    assert titles[1:] == [
        "Fix the parser → in progress",
        "Fix it → completed",
        "Fix the parser",
        "#2 → completed",
        "#9 → deleted",
        "completed",
        "Fix the parser",
    ]


def test_a_failed_tool_of_the_api_itself_reports_its_code() -> None:
    search = {"type": "server_tool_use", "id": "t", "name": "web_search", "input": {"query": "x"}}
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    result = {"type": "web_search_tool_result", "tool_use_id": "t", "content": failed}
    assert read(said(search), said(result))[-1] == ToolFinished(
        id="t", status="error", name="web_search", kind="fetch", error="max_uses_exceeded"
    )


def test_a_strange_limit_window_does_not_cost_the_others() -> None:
    windows = {"five_hour": {"utilization": 0.5}, "weekly": {"utilization": "x"}}
    info = {"status": "allowed", "rateLimitType": "five_hour", "unifiedWindows": windows}
    events = read({"type": "rate_limit_event", "rate_limit_info": info})
    limits = [event for event in events if isinstance(event, LimitReported)]
    assert [(limit.window, limit.used) for limit in limits] == [
        ("five_hour", 0.5),
        ("weekly", None),
    ]


def test_a_mode_change_that_is_reported_twice_is_not_a_tool_card() -> None:
    done = {"type": "tool_result", "tool_use_id": "p", "content": "Entered plan mode."}
    line = {"type": "user", "message": {"content": [done]}}
    events = read(call("p", "EnterPlanMode", {}), line, line)
    assert [type(event) for event in events if isinstance(event, (ModeChanged, ToolFinished))] == [
        ModeChanged
    ]


@each("cost", [None, -5, 1e308])
def test_a_result_without_a_credible_cost_or_usage_is_of_unknown_cost(cost: float | None) -> None:
    answered = said({"type": "text", "text": "Hi."}, model="claude-sonnet-4-5", usage={})
    result = {"type": "result", "subtype": "success", "result": "Hi.", "total_cost_usd": cost}
    lines = [json.dumps(message).encode() + b"\n" for message in (init(), answered, result)]
    state = fold(nightrook.decode(lines, agent="claude"), PriceBook())
    assert state.ledger.cost == Money(None, "unknown")
    assert state.results[-1].cost_usd is None


def test_a_cost_that_is_a_guess_is_not_the_agent_s_figure() -> None:
    used = {"inputTokens": 10, "outputTokens": 5, "costUSD": 0.004, "costBasis": "unknown"}
    result = {"type": "result", "subtype": "success", "result": "Hi.", "total_cost_usd": 0.004}
    (turn,) = [
        event
        for event in read(init(), {**result, "modelUsage": {"made-up": used}})
        if isinstance(event, TurnFinished)
    ]
    assert (turn.cost_usd, turn.models) == (
        None,
        (ModelUsage(model="made-up", input=10, output=5),),
    )


def test_droid_s_stream_is_not_taken_for_claude_s() -> None:
    lines = [
        {
            "type": "system",
            "subtype": "init",
            "cwd": "/",
            "session_id": "a",
            "tools": [],
            "model": "m",
        },
        {"type": "message", "role": "user", "id": "b", "text": "hi", "session_id": "a"},
        {"type": "tool_call", "id": "c", "toolName": "Execute", "session_id": "a"},
        {"type": "tool_result", "id": "c", "isError": False, "value": "hi", "session_id": "a"},
        {"type": "completion", "finalText": "Done.", "session_id": "a"},
    ]
    assert detect(b"".join(json.dumps(line).encode() + b"\n" for line in lines)) is None


def test_the_output_of_a_stream_that_breaks_off_is_estimated_from_its_text() -> None:
    used = {"input_tokens": 11, "output_tokens": 1}
    block = {"type": "text", "text": "x" * 400}
    call_block = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "y" * 386}}
    lines = [
        init(),
        said(block, id="a", model="m", usage=used),
        said(call_block, id="a", model="m", usage=used),
        said(block, id="b", model="m", usage={**used, "output_tokens": 7}, stop_reason="end_turn"),
        piece(type="message_start", message={"id": "c", "model": "m", "usage": used}),
        delta(0, type="text_delta", text="z" * 80),
    ]
    data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
    ledger = fold(nightrook.decode([data], agent="claude")).ledger
    assert (ledger.tokens.input, ledger.tokens.output) == (33, 200 + 7 + 20)
    assert ledger.estimates_tokens
    result = {"type": "result", "subtype": "success", "usage": {"output_tokens": 300}}
    whole = [data, json.dumps({**result, "total_cost_usd": 1}).encode() + b"\n"]
    counted = fold(nightrook.decode(whole, agent="claude")).ledger
    assert counted.cost == Money(1, "native")
