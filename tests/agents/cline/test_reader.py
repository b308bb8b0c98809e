"""What Cline's messages mean, beyond the recorded cases."""

import json
from pathlib import Path
from typing import Any

import msgspec

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent
from nightrook.agents.cline.tools import replacements, title
from nightrook.model.events import (
    Error,
    Event,
    FileChanged,
    PermissionDenied,
    Text,
    TextDelta,
    Thinking,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.recorded import cases, folded, messages, name_of
from tests.rules import each

Json = dict[str, Any]
SCRIPTED = [path for path in cases("cline") if path.parent.name != "noise-and-news"]


def event(type: str, /, **fields: Any) -> Json:
    return {"ts": "2026-11-15", "type": "agent_event", "event": {"type": type, **fields}}


def piece(text: str) -> Json:
    return event("content_start", contentType="text", text=text, accumulated=text)


def call(name: str, id: str = "c1", **input: Any) -> Json:
    return event("content_start", contentType="tool", toolName=name, toolCallId=id, input=input)


def end(output: Any = None, id: str = "c1", name: str = "run_commands", **more: Any) -> Json:
    given = {"toolName": name, "toolCallId": id, "output": output, **more}
    return event("content_end", contentType="tool", **given)


def result(reason: str = "completed", **more: Any) -> Json:
    model = {"id": "m", "provider": "p"}
    told = {"finishReason": reason, "iterations": 1, "text": "Done.", "model": model}
    return {"ts": "2026-11-15", "type": "run_result", **told, **more}


def records(*stream: Json) -> list[nightrook.Record]:
    decoder = nightrook.decoder("cline")
    wire = "".join(json.dumps(one) + "\n" for one in stream).encode()
    return decoder.feed(wire) + decoder.close()


def events(*stream: Json, of: type[Event] | tuple[type[Event], ...]) -> list[Any]:
    return [record.event for record in records(*stream) if isinstance(record.event, of)]


@each("path", SCRIPTED, ids=name_of)
def test_tokens_are_those_of_all_requests(path: Path) -> None:
    used = [m["event"] for m in messages(path) if m.get("event", {}).get("type") == "usage"]
    tokens = folded(path).ledger.tokens
    assert tokens.output == sum(one["outputTokens"] for one in used)
    assert tokens.cache_read == sum(one.get("cacheReadTokens", 0) for one in used)
    assert tokens.input + tokens.cache_read == sum(one["inputTokens"] for one in used)


@each("path", SCRIPTED, ids=name_of)
def test_the_model_and_no_cost_are_known_at_the_end(path: Path) -> None:
    ended = [m for m in messages(path) if m["type"] == "run_result"]
    ledger = folded(path).ledger
    models = {model for model, account in ledger.by_model.items() if account.tokens.output}
    assert models <= ({ended[-1]["model"]["id"]} if ended else {None})
    assert ledger.cost.usd is None  # it writes 0 for a model without a price


def test_a_cost_is_that_of_the_agent_so_far() -> None:
    def used(total: float, output: int) -> Json:
        return event("usage", totalInputTokens=10, totalOutputTokens=output, totalCost=total)

    state = fold(records(used(0.25, 1), used(0.75, 2), result()))
    assert (state.ledger.cost.usd, state.ledger.cost.source) == (0.75, "native")


def test_pieces_make_one_text_and_the_whole_comes_once() -> None:
    stream = [piece("Hel"), piece("lo"), event("content_end", contentType="text", text="Hello")]
    found = events(*stream, of=(Text, TextDelta))
    assert found == [
        TextDelta(id="text-1", text="Hel"),
        TextDelta(id="text-1", text="lo"),
        Text(id="text-1", text="Hello"),
    ]
    assert events(piece("Hal"), of=Text) == [Text(id="text-1", text="Hal")]  # it broke off


def test_a_thought_ends_before_the_text_that_follows_it() -> None:
    thought = event("content_start", contentType="reasoning", reasoning="Hm.", redacted=False)
    over = event("content_end", contentType="reasoning", reasoning="Hm.")
    ended = event("content_end", contentType="text", text="Hi")
    found = events(thought, piece("Hi"), ended, over, of=(Text, Thinking))
    assert [type(one) for one in found] == [Thinking, Text]
    assert len(events(thought, over, thought, over, of=Thinking)) == 2
    assert events(event("content_start", contentType="text", text=""), of=TextDelta) == []


@each(
    ("given", "expected"),
    [
        (end([{"result": "a\n", "success": True}]), ("ok", "a\n", None, 0)),
        (
            end([{"result": "[Command exited with code 3]\nbad", "error": "x", "success": False}]),
            ("error", "bad", "bad", 3),
        ),
        (
            end([{"result": "", "error": "Command timed out after 3ms", "success": False}]),
            ("timed_out", None, "Command timed out after 3ms", None),
        ),
        (end("plain"), ("ok", "plain", None, 0)),
        (end(None), ("ok", None, None, 0)),
        (end(error="boom"), ("error", None, "boom", None)),
        (end(error="{not json"), ("error", None, "{not json", None)),
        (end({"content": [{"text": "x"}], "isError": True}), ("error", None, "x", None)),
    ],
)
def test_a_call_ends_as_its_results_say(given: Json, expected: tuple[Any, ...]) -> None:
    (found,) = events(call("run_commands", commands=["x"]), given, of=ToolFinished)
    assert (found.status, found.output, found.error, found.exit_code) == expected


@each(
    ("name", "error", "fix"),
    [
        ("editor", '{"error":"Tool \\"editor\\" requires approval in a TTY session"}', True),
        ("editor", "Model tried to call unavailable tool 'editor'.", False),
        ("run_commands", "Command not executed: it writes, blocked in plan mode.", False),
    ],
)
def test_a_denied_call_names_what_would_allow_it(name: str, error: str, fix: bool) -> None:
    (denied,) = events(call(name), end(name=name, error=error), of=PermissionDenied)
    assert denied.fix == ("--permission all" if fix else None)


def test_a_tool_that_the_model_invented_is_not_denied() -> None:
    error = "Model tried to call unavailable tool 'fly'."
    assert events(call("fly"), end(name="fly", error=error), of=PermissionDenied) == []


def test_an_edit_counts_its_lines() -> None:
    diff = "Edited /a\n```diff\n-2: x\n+2: y\n+3: z\n```"
    stream = [call("editor", path="/a", old_text="x", new_text="y\nz"), end({"result": diff})]
    assert events(*stream, of=FileChanged) == [
        FileChanged(path="/a", change="modify", added=2, removed=1, tool_id="c1")
    ]
    made = {"result": "File created successfully at: /b", "success": True}
    stream = [call("editor", path="/b", new_text="x\ny"), end(made)]
    assert events(*stream, of=FileChanged) == [
        FileChanged(path="/b", change="add", added=2, removed=0, tool_id="c1")
    ]
    assert events(call("editor"), end(made), of=FileChanged) == []


@each(
    ("name", "input", "expected"),
    [
        ("run_commands", {"commands": ["a", {"command": "b"}]}, "a; b"),
        ("run_commands", {"commands": "a"}, "a"),
        ("read_files", {"files": [{"path": "/a"}, {"path": "/b"}]}, "/a; /b"),
        ("fetch_web_content", {"requests": [{"url": "http://x"}]}, "http://x"),
        ("search_codebase", {"queries": ["x"]}, "x"),
        ("search_codebase", {"query": "x"}, "x"),
        ("editor", {"path": "/a"}, None),
    ],
)
def test_a_list_is_one_title(name: str, input: Json, expected: str | None) -> None:
    assert title(name, msgspec.Raw(json.dumps(input).encode())) == expected


def test_subagents_side_by_side_are_both_the_main_agent_s() -> None:
    path = next(path for path in cases("cline") if path.parent.name.startswith("two_agents"))
    started = [r.event for r in nightrook.decode(path, "cline") if isinstance(r.event, ToolStarted)]
    assert [one.parent for one in started] == [None, None]


def test_only_a_fatal_error_of_the_main_agent_ends_the_run() -> None:
    fatal = event("error", error={"message": "no"}, errorClass="auth", recoverable=False)
    assert events(fatal, of=Error) == [Error(kind="auth", message="no")]
    assert judge(fold(records(fatal))).status == "failed"
    assert judge(fold(records(fatal, result("error", text="x")))).sentence == "no"
    assert judge(fold(records(piece("Hi."), fatal, result()))).status == "failed"
    assert judge(fold(records(fatal, piece("Hi."), result()))).status == "success"
    inner = [call("spawn_agent", task="x"), fatal, end({"text": "It failed."}, name="spawn_agent")]
    assert judge(fold(records(*inner, result()))).status == "success"


def test_an_abort_is_an_interruption_unless_the_run_had_ended() -> None:
    aborted = {"ts": "x", "type": "run_aborted", "reason": "local_abort", "message": "aborted"}
    assert judge(fold(records(piece("Hi"), aborted))).status == "interrupted"
    assert judge(fold(records(piece("Hi"), result("aborted")))).status == "interrupted"
    assert judge(fold(records(piece("Hi"), result(), aborted))).status == "success"
    assert events(result("mistake_limit"), of=TurnFinished)[0].reason == "mistake_limit"


@each(
    ("reason", "expected"),
    [
        ("max_iterations", ("over_budget", "it reached its limit of iterations")),
        ("mistake_limit", ("failed", "it made too many mistakes in a row")),
        ("aborted", ("interrupted", None)),
        ("news", ("failed", "Half.")),
    ],
)
def test_a_run_that_did_not_complete_says_why(reason: str, expected: tuple[str, str]) -> None:
    verdict = judge(fold(records(piece("Half."), result(reason, text="Half."))))
    assert verdict.status == expected[0]
    assert expected[1] in (None, verdict.sentence)


def test_memory_of_subagents_is_bounded() -> None:
    decoder = nightrook.decoder("cline")
    used = event("usage", totalInputTokens=10, totalOutputTokens=1)
    for number in range(1500):
        for one in (call("spawn_agent", f"c{number}"), used, end({}, f"c{number}", "spawn_agent")):
            decoder.feed(json.dumps(one).encode() + b"\n")
    final = decoder.feed(json.dumps(result()).encode() + b"\n")
    assert len(final) == 1001


def test_a_page_can_show_what_an_edit_replaces() -> None:
    def started(kind: Any, input: str | None) -> ToolStarted:
        raw = None if input is None else msgspec.Raw(input.encode())
        return ToolStarted(id="x", name="editor", kind=kind, input=raw)

    edit = started("edit", '{"old_text": "a", "new_text": "b"}')
    assert replacements(edit) == (Replacement("a", "b"),)
    for other in (started("read", "{}"), started("edit", None), started("edit", "{}")):
        assert replacements(other) == ()


def test_other_streams_are_not_recognised() -> None:
    others: list[Json] = [{"type": []}, {"type": "agent_event"}, {"type": "run_result", "ts": 1}]
    for other in others:
        assert not agent("cline").recognises(other)
