"""What is special about Gemini CLI's stream: texts without an end, results without a name."""

from pathlib import Path

import pytest

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent, detect
from nightrook.agents.gemini.adapter import recognises
from nightrook.model.answer import final_text
from nightrook.model.events import Error, Event, Text, TextDelta, ToolStarted, TurnFinished
from tests.recorded import cases, folded, messages, name_of, recordings, results
from tests.rules import each

STREAMS = [*cases("gemini"), *recordings("gemini")]
ENDED = [path for path in STREAMS if results(path)]


def events(*lines: bytes) -> list[Event]:
    decoder = nightrook.decoder("gemini")
    records = [record for line in lines for record in decoder.feed(line + b"\n")]
    return [record.event for record in records + decoder.close()]


def said(text: str) -> bytes:
    return b'{"type":"message","role":"assistant","content":"%b","delta":true}' % text.encode()


@each("path", ENDED, ids=name_of)
def test_the_tokens_are_those_of_the_agent_s_own_sum(path: Path) -> None:
    told = [result["stats"] for result in results(path)]
    tokens = folded(path).ledger.tokens
    assert tokens.input == sum(stats["input"] for stats in told)
    assert tokens.cache_read == sum(stats["cached"] for stats in told)
    # What is in the total and nowhere else are the model's thoughts: they are output, too.
    whole = sum(stats["total_tokens"] for stats in told)
    assert tokens.input + tokens.cache_read + tokens.output == whole
    assert tokens.output >= sum(stats["output_tokens"] for stats in told)


@each("path", STREAMS, ids=name_of)
def test_every_piece_is_in_a_text_and_the_answer_is_what_came_after_the_last_call(
    path: Path,
) -> None:
    pieces, answer = [], ""
    for message in messages(path):
        if message.get("type") == "message" and message.get("role") == "assistant":
            pieces.append(message["content"])
            answer += message["content"]
        elif message.get("type") in ("tool_use", "message"):
            answer = ""
    state = folded(path)
    assert "".join(state.texts) == "".join(pieces)
    if state.results and state.results[-1].ok:
        assert final_text(state) == answer


def test_a_text_ends_where_something_else_begins() -> None:
    use = b'{"type":"tool_use","tool_name":"glob","tool_id":"a","parameters":{"pattern":"*"}}'
    seen = events(said("One, "), said("two."), use, said("Three."))
    assert [event for event in seen if isinstance(event, Text | TextDelta)] == [
        TextDelta(id="text-1", text="One, "),
        TextDelta(id="text-1", text="two."),
        Text(id="text-1", text="One, two."),
        TextDelta(id="text-2", text="Three."),
        Text(id="text-2", text="Three."),
    ]


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (400, "bad", "config"),
        (400, "API key not valid. Please pass a valid API key.", "auth"),
        (401, "bad", "auth"),
        (403, "bad", "auth"),
        (429, "You exceeded your current quota", "quota"),
        (500, "bad", "internal"),
        (503, "The model is overloaded.", "overload"),
        (599, "bad", "internal"),
    ],
)
def test_the_status_of_the_api_s_answer_is_the_kind_of_the_error(
    code: int, message: str, kind: str
) -> None:
    body = rf"{{\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}"
    line = (
        '{"type":"result","status":"error","error":{"type":"unknown",'
        f'"message":"[API Error: {body}]"}}}}'
    )
    seen = events(line.encode())
    assert [event.kind for event in seen if isinstance(event, Error)] == [kind]
    assert seen[-2] == TurnFinished(ok=False, reason="api_error", errors=(message,))


def test_other_messages_are_reported_unchanged() -> None:
    words = "[API Error: no JSON]"
    line = f'{{"type":"result","status":"error","error":{{"message":"{words}"}}}}'
    assert Error(kind="internal", message=words, retryable=True) in events(line.encode())


TOLD = [path for path in STREAMS if path.read_bytes() and path.stem != "json_format"]


@each("path", TOLD, ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "gemini"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "result", "status": "success", "stats": {}},
        {"type": "result", "timestamp": "2026-11-15T18:00:00Z", "subtype": "success"},
        {"type": "error", "timestamp": 1794765890266, "severity": "warning"},
        {"type": ["init"], "timestamp": "2026-11-15T18:00:00Z", "session_id": "a"},
    ],
)
def test_messages_of_others_are_not_its_own(message: dict[str, object]) -> None:
    assert not recognises(message)


def test_the_text_of_an_edit_is_read_from_its_call() -> None:
    found = {}
    for path in cases("gemini"):
        for record in nightrook.decode(path, agent="gemini"):
            if isinstance(record.event, ToolStarted):
                found[record.event.name] = agent("gemini").replacements(record.event)
    assert found["replace"] == (Replacement("return a - b", "return a + b"),)
    assert found["write_file"][0].before == ""
    assert found["read_file"] == ()
