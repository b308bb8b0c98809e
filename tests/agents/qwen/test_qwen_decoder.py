"""What is special about Qwen Code's stream: failures dressed as success, totals of the session."""

import json
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.agents import agent, detect
from rookery.core.bookkeeping import NOTHING
from rookery.core.completion import final_text
from rookery.core.events import (
    Error,
    Event,
    PermissionDenied,
    StreamClosed,
    ToolStarted,
    TurnFinished,
    UnknownField,
    Usage,
)
from rookery.core.fold import Beginning, fold
from tests.recorded import cases, folded, name_of, recordings, results

STREAMS = [*cases("qwen"), *recordings("qwen")]
ENDED = [path for path in STREAMS if results(path)]


def events(*messages: dict[str, Any]) -> list[Event]:
    decoder = rookery.decoder("qwen")
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


@pytest.mark.parametrize("path", ENDED, ids=name_of)
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


@pytest.mark.parametrize("path", ENDED, ids=name_of)
def test_the_answer_is_the_agent_s_own(path: Path) -> None:
    state = folded(path)
    if state.results[-1].ok:
        assert final_text(state) == results(path)[-1]["result"]


def test_a_resumed_run_is_told_its_own_share() -> None:
    (path,) = [p for p in STREAMS if name_of(p) == "two_turn_resume_turn2-0.15.10"]

    def tokens(earlier: Usage | None) -> int:
        records = rookery.decode(path, agent="qwen")
        return fold(records, beginning=Beginning(earlier=earlier)).ledger.tokens.total

    assert tokens(NOTHING) == 4936
    assert tokens(Usage(input=400, output=68, cache_read=2000)) == 4936 - 2468
    assert tokens(None) == 1234  # nobody knows where it began, but its messages are told


@pytest.mark.parametrize(
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
        ("Half a sen[API Error: It broke off]", "internal", "It broke off"),
        ("Qwen OAuth quota exceeded: wait", "quota", "Qwen OAuth quota exceeded: wait"),
    ],
)
def test_a_failure_of_the_api_is_a_failed_turn(words: str, kind: str, message: str) -> None:
    seen = events(said(words), ended(words))
    assert [(e.kind, e.message) for e in seen if isinstance(e, Error)] == [(kind, message)]
    assert finished(said(words), ended(words)) == TurnFinished(
        ok=False, reason="api_error", errors=(message,)
    )


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


def test_a_new_version_s_fields_are_counted() -> None:
    init = {"type": "system", "subtype": "init", "session_id": "s", "news": 1}
    for version, found in (("0.15.10", ()), ("9.9", ("news",))):
        closed = events({**init, "qwen_code_version": version})[-1]
        assert isinstance(closed, StreamClosed)
        assert closed.unknown_fields == tuple(
            UnknownField(type="system", field=name, count=1) for name in found
        )


@pytest.mark.parametrize("path", [path for path in STREAMS if path.read_bytes()], ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "qwen"


def test_the_text_of_an_edit_is_read_from_its_call() -> None:
    found = {}
    for path in cases("qwen"):
        for record in rookery.decode(path, agent="qwen"):
            if isinstance(record.event, ToolStarted):
                found[record.event.name] = agent("qwen").replacements(record.event)
    assert found["edit"][0].before in ("return a - b", "x")
    assert found["write_file"][0].before == ""
    assert found["read_file"] == ()
