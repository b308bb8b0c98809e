"""What is special about Qwen Code's stream: failures dressed as success, totals of the session."""

import json
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.adapter.drift import Drift
from nightrook.agents import agent, detect
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.agents.qwen.errors import api_error
from nightrook.model.answer import final_text
from nightrook.model.bookkeeping import NOTHING
from nightrook.model.events import (
    Error,
    Event,
    FileChanged,
    ModelChanged,
    Notice,
    PermissionDenied,
    Retrying,
    StreamClosed,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UnknownField,
    Usage,
    UsageReported,
)
from nightrook.model.fold import Beginning, fold
from tests.recorded import cases, folded, is_real, messages, name_of, recordings, results
from tests.rules import each

STREAMS = [*cases("qwen"), *recordings("qwen")]
ENDED = [path for path in STREAMS if results(path)]


def events(*messages: dict[str, Any]) -> list[Event]:
    decoder = nightrook.decoder("qwen")
    data = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    return [record.event for record in decoder.feed(data) + decoder.close()]


def said(text: str, *, tokens: int = 0) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    message = {"id": "m", "content": [{"type": "text", "text": text}], "usage": usage}
    return {"type": "assistant", "parent_tool_use_id": None, "message": message}


def ended(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": text, **more}


def finished(*messages: dict[str, Any]) -> TurnFinished:
    (found,) = [event for event in events(*messages) if isinstance(event, TurnFinished)]
    return found


@each("path", ENDED, ids=name_of)
def test_the_tokens_are_the_agent_s_own_total(path: Path) -> None:
    told = results(path)[-1]["usage"]
    tokens = folded(path).ledger.tokens
    assert tokens.input + tokens.cache_read == told["input_tokens"]
    assert tokens.cache_read == told.get("cache_read_input_tokens", 0)
    assert tokens.output == told["output_tokens"]


@pytest.mark.parametrize(
    ("tool", "fix"),
    [
        ("write_file", "--permission edit"),
        ("run_shell_command", "--permission all"),
        ("web_fetch", "web_fetch"),
    ],
)
def test_a_denial_names_what_lets_it_pass(tool: str, fix: str) -> None:
    call = {"type": "tool_use", "id": "c", "name": tool, "input": {}}
    words = f'Qwen Code requires permission to use "{tool}", but that permission was declined'
    refused = {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": words}
    listed = ended("No.", permission_denials=[{"tool_name": tool, "tool_use_id": "c"}])
    told = events(
        {"type": "assistant", "message": {"id": "m", "content": [call]}},
        {"type": "user", "message": {"content": [refused]}},
        listed,
    )
    assert [event.fix for event in told if isinstance(event, PermissionDenied)] == [fix]
    (alone,) = (event for event in events(listed) if isinstance(event, PermissionDenied))
    assert alone.fix == fix


@each("path", ENDED, ids=name_of)
def test_the_answer_is_the_agent_s_own(path: Path) -> None:
    state = folded(path)
    if state.results[-1].ok:
        assert final_text(state) == results(path)[-1]["result"]


def test_a_resumed_run_reports_only_its_own_tokens() -> None:
    (path,) = [p for p in STREAMS if name_of(p) == "two_turn_resume_turn2-0.15.10"]

    def tokens(earlier: Usage | None) -> int:
        records = nightrook.decode(path, agent="qwen")
        return fold(records, beginning=Beginning(earlier=earlier)).ledger.tokens.total

    assert tokens(NOTHING) == 4936
    assert tokens(Usage(input=400, output=68, cache_read=2000)) == 4936 - 2468
    assert tokens(None) == 1234  # nobody knows where it began, but its messages are told


@each(("status", "expected"), [(402, True), (429, None)])
def test_missing_credit_needs_payment(status: int, expected: bool | None) -> None:
    failed = api_error(f"[API Error: {status} Pay]")
    assert failed is not None
    assert (failed.kind, failed.needs_payment) == ("quota", expected)


@each(
    ("words", "kind", "message"),
    [
        ("[API Error: 400 Bad request]", "config", "Bad request"),
        ("[API Error: 401 Wrong [key]]", "auth", "Wrong [key]"),
        ("[API Error: 402 Pay]", "quota", "Pay"),
        ("[API Error: 429 Slow down]", "quota", "Slow down"),
        (
            "[API Error: 429 Slow down]\nPossible quota limitations in place or slow response "
            "times detected. Please wait and try again later.",
            "quota",
            "Slow down",
        ),
        ("[API Error: 500 Oh]", "internal", "Oh"),
        ("[API Error: 503 Busy]", "overload", "Busy"),
        ("[API Error: Connection error.]", "network", "Connection error."),
        (
            "[API Error: Connection error. (cause: fetch failed)]",
            "network",
            "Connection error. (cause: fetch failed)",
        ),
        ("Half a sen[API Error: terminated]", "network", "terminated"),
        ("Half a sen[API Error: It broke off]", "internal", "It broke off"),
        ("Qwen OAuth quota exceeded: wait", "quota", "Qwen OAuth quota exceeded: wait"),
        ("Quota exhausted: It is.\n\nPlease retry", "quota", "Quota exhausted: It is."),
    ],
)
def test_a_failure_of_the_api_is_a_failed_turn(words: str, kind: str, message: str) -> None:
    seen = events(said(words), ended(words))
    assert [(e.kind, e.message) for e in seen if isinstance(e, Error)] == [(kind, message)]
    assert finished(said(words), ended(words)) == TurnFinished(
        ok=False, reason="api_error", errors=(message,)
    )


def test_a_result_that_fails_for_the_api_reports_its_kind() -> None:
    told = {"message": "[API Error: 401 No]"}
    failed = {"type": "result", "subtype": "error_during_execution", "is_error": True}
    seen = events(said("[API Error: 401 No]"), {**failed, "error": told})
    assert [(e.kind, e.message) for e in seen if isinstance(e, Error)] == [("auth", "No")]
    (end,) = [event for event in seen if isinstance(event, TurnFinished)]
    assert end == TurnFinished(ok=False, reason="api_error", errors=("No",))


@pytest.mark.parametrize(
    "messages",
    [
        # Its tokens were counted: a model said it.
        [said("[API Error: 401 No]", tokens=9), ended("[API Error: 401 No]")],
        # It is not the end of the answer.
        [said("[API Error: 401 No] was told."), ended("[API Error: 401 No] was told.")],
        # It is not the answer: a subagent or an earlier message said it.
        [said("[API Error: 401 No]"), said("Mended."), ended("Mended.")],
        [
            {**said("[API Error: 401 No]"), "parent_tool_use_id": "call"},
            ended("[API Error: 401 No]"),
        ],
        [ended("[API Error: 401 No]")],
    ],
)
def test_the_words_of_a_failure_alone_are_none(messages: list[dict[str, Any]]) -> None:
    assert finished(*messages).ok


@pytest.mark.parametrize(
    "result",
    [
        ended("Fine.", is_error=True),
        ended("Fine.", subtype="error_during_execution"),
        {"type": "result", "result": "Fine."},
    ],
)
def test_a_result_is_good_only_if_nothing_contradicts_it(result: dict[str, Any]) -> None:
    assert not finished(said("Fine.", tokens=1), result).ok


def system(subtype: str, **data: Any) -> dict[str, Any]:
    return {"type": "system", "subtype": subtype, "parent_tool_use_id": None, "data": data}


def piece(event: dict[str, Any]) -> dict[str, Any]:
    return {"type": "stream_event", "parent_tool_use_id": None, "event": event}


BARE = system("retry", reason="retry", discardedToolCalls=0, preserveText=False)
GOES_ON = system("retry", reason="retry", discardedToolCalls=0, preserveText=True)
FIRST = system("retry", reason="retry", attempt=1, maxRetries=3, delayMs=1500)
SECOND = system("retry", reason="retry", attempt=2, maxRetries=3, delayMs=3000)
WAITS = (
    Retrying(attempt=1, max_attempts=3, delay_s=1.5),
    Retrying(attempt=2, max_attempts=3, delay_s=3.0),
)


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([BARE, BARE], [Retrying()]),
        ([FIRST, BARE, SECOND, BARE], [*WAITS]),
        ([BARE, said("Half"), BARE], [Retrying(), Retrying()]),
        ([BARE, piece({"type": "message_start"}), BARE], [Retrying(), Retrying()]),
        ([BARE, {**said("Its"), "parent_tool_use_id": "call"}, BARE], [Retrying()]),
        ([BARE, ended("Done."), BARE], [Retrying(), Retrying()]),
        ([GOES_ON, GOES_ON], [Retrying(), Retrying()]),
        ([system("retry", reason="model_fallback")], []),
    ],
)
def test_each_retry_is_reported_once(messages: list[dict[str, Any]], told: list[Event]) -> None:
    assert [event for event in events(*messages) if isinstance(event, Retrying)] == told


def test_the_tokens_of_an_answer_are_those_of_the_model_that_answered() -> None:
    fallback = system("model_fallback", fromModel="m", toModel="other", statusCode=503)
    seen = events(fallback, said("One", tokens=1), said("Two", tokens=1), ended("Two"))
    assert ModelChanged(before="m", after="other", reason="HTTP 503") in seen
    assert [e.model for e in seen if isinstance(e, UsageReported)] == ["other", None]


@pytest.mark.parametrize(
    ("message", "notice"),
    [
        (system("worktree_started", notice="In a."), Notice(level="info", text="In a.")),
        (
            system("worktree_restored", slug="a", path="/a", branch="b"),
            Notice(level="info", text="continuing in the worktree /a"),
        ),
        (system("vision_routing", notice="To v."), Notice(level="info", text="To v.")),
        (system("vision_bridge", notice="By v."), Notice(level="info", text="By v.")),
        (system("vision_bridge_failed", notice="No."), Notice(level="warning", text="No.")),
        (
            system("session_recording_degraded", reason="write_failed", message="Full."),
            Notice(level="warning", text="Full."),
        ),
        (system("continue_turn_failed", error="Oh."), Notice(level="warning", text="Oh.")),
    ],
)
def test_a_message_for_the_user_is_a_notice(message: dict[str, Any], notice: Notice) -> None:
    assert events(message)[:-1] == [notice]


def called(name: str, given: dict[str, Any]) -> dict[str, Any]:
    block = {"type": "tool_use", "id": "c", "name": name, "input": given}
    return {"type": "assistant", "parent_tool_use_id": None, "message": {"content": [block]}}


def gave(content: str, *, error: bool) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": "c", "content": content, "is_error": error}
    return {"type": "user", "parent_tool_use_id": None, "message": {"content": [block]}}


def shell(output: str, *, error: str = "(none)", code: str = "0", signal: str = "(none)") -> str:
    return (
        f"Command: make\nDirectory: (root)\nOutput: {output}\nError: {error}\n"
        f"Exit Code: {code}\nSignal: {signal}\nProcess Group PGID: (none)"
    )


@pytest.mark.parametrize(
    ("content", "failed", "outcome"),
    [
        (shell("bad\nworse", code="3"), True, ("error", "bad\nworse", "bad\nworse", 3)),
        (shell("(empty)", code="4"), True, ("error", None, None, 4)),
        (shell("(empty)", error="spawn", code="1"), True, ("error", "spawn", "spawn", 1)),
        (
            shell("half", code="(none)", signal="9"),
            True,
            (
                "error",
                "Command terminated by signal: 9\nhalf",
                "Command terminated by signal: 9\nhalf",
                None,
            ),
        ),
        (
            f"Tool output was too large.\n\nTruncated part:\n{shell('0...9', code='2')}",
            True,
            ("error", "0...9", "0...9", 2),
        ),
        (shell("b", code="3") + "\n\n---\nA hint.", True, ("error", "b", "b", 3)),
        (shell("(empty)"), False, ("ok", None, None, 0)),
        # What a command wrote may look like anything; only the program says that it failed.
        (shell("forged", code="3"), False, ("ok", shell("forged", code="3"), None, None)),
        ("\nExit Code: 3", True, ("error", "\nExit Code: 3", "\nExit Code: 3", None)),
        (
            "Command timed out after 2000ms before it could complete. Below: a",
            True,
            (
                "timed_out",
                "Command timed out after 2000ms before it could complete. Below: a",
                "Command timed out after 2000ms before it could complete. Below: a",
                None,
            ),
        ),
    ],
)
def test_the_exit_code_of_a_command_is_read_where_it_is_reported(
    content: str, outcome: tuple[Any, ...], *, failed: bool
) -> None:
    seen = events(called("run_shell_command", {"command": "make"}), gave(content, error=failed))
    (end,) = [event for event in seen if isinstance(event, ToolFinished)]
    assert (end.status, end.output, end.error, end.exit_code) == outcome


@pytest.mark.parametrize(
    "words",
    [
        "Tool \"edit\" is denied: the tool's default permission is 'deny'.",
        'Tool blocked by plan mode: "edit" is not a read-only tool. Only …',
        '[tool_call bridge refused] Qwen Code requires permission to use "edit", but that '
        "permission was declined.",
    ],
)
def test_a_refusal_is_known_by_its_exact_words(words: str) -> None:
    seen = events(called("edit", {"file_path": "/a"}), gave(words, error=True))
    assert [e.status for e in seen if isinstance(e, ToolFinished)] == ["denied"]
    seen = events(called("edit", {"file_path": "/a"}), gave(f"It said: {words}", error=True))
    assert [e.status for e in seen if isinstance(e, ToolFinished)] == ["error"]


@pytest.mark.parametrize(
    ("given", "name", "title"),
    [
        ({"name": "web_fetch", "arguments": {"url": "http://a/"}}, "web_fetch", "http://a/"),
        ({"name": "mcp__tiny__echo", "arguments": {"text": "hi"}}, "mcp__tiny__echo", "hi"),
        ({"name": "web_fetch", "arguments": "no object"}, "tool_call", "web_fetch"),
        ({"name": 7, "arguments": {}}, "tool_call", None),
        ({}, "tool_call", None),
    ],
)
def test_a_deferred_tool_is_reported_under_its_own_name(
    given: dict[str, Any], name: str, title: str | None
) -> None:
    (started,) = [e for e in events(called("tool_call", given)) if isinstance(e, ToolStarted)]
    assert (started.name, started.title) == (name, title)
    assert started.server == ("tiny" if name.startswith("mcp__") else None)


def test_a_cell_of_a_notebook_is_a_change_of_its_file() -> None:
    cell = {"notebook_path": "/a.ipynb", "new_source": "1"}
    seen = events(called("notebook_edit", cell), gave("Edited.", error=False))
    assert FileChanged(path="/a.ipynb", change="modify", tool_id="c") in seen


def test_a_new_version_s_fields_are_counted() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "news": 1}
    for version, found in (("0.15.10", ()), ("0.24.4", ()), ("9.9", ("news",))):
        closed = events({**init, "qwen_code_version": version})[-1]
        assert isinstance(closed, StreamClosed)
        assert closed.unknown_fields == tuple(
            UnknownField(type="system", field=name, count=1) for name in found
        )


@each("path", [path for path in STREAMS if is_real(path)], ids=name_of)
def test_every_field_that_was_recorded_is_known(path: Path) -> None:
    drift = Drift(KNOWN_FIELDS["qwen"])
    for message in messages(path):
        drift.look(message["type"], json.dumps(message).encode())
    assert drift.fields() == ()


@each("path", [path for path in STREAMS if path.read_bytes()], ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "qwen"


def test_the_text_of_an_edit_is_read_from_its_call() -> None:
    found = {}
    for path in cases("qwen"):
        for record in nightrook.decode(path, agent="qwen"):
            if isinstance(record.event, ToolStarted):
                found[record.event.name] = agent("qwen").replacements(record.event)
    assert found["edit"][0].before in ("return a - b", "x")
    assert found["write_file"][0].before == ""
    assert found["read_file"] == ()
