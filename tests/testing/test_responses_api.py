"""The scripted Responses API as a client sees it, with nothing but urllib."""

import http.client
import json
from typing import Any

import pytest

from nightrook.testing import Cut, Failure, Reply, ScriptedResponsesApi
from tests.testing.client import failure, got, named_events, sent

ASK = {"model": "gpt-5.5", "input": [{"role": "user", "content": "Hi"}]}


def post(api: ScriptedResponsesApi, path: str = "/responses", **more: Any) -> bytes:
    answer, head = sent(api.url + path, {**ASK, **more})
    assert head["x-request-id"].startswith("req_")
    return answer


def stream(api: ScriptedResponsesApi) -> list[dict[str, Any]]:
    return named_events(post(api, stream=True))


REPLY = Reply(
    thinking="Let me see, and think.",
    text="I'll read the file first of all.",
    tools=[
        ("exec_command", {"cmd": "cat ü.py"}),
        ("apply_patch", "*** Begin Patch\n*** End Patch\n"),
        ("mcp__tiny.echo", {"text": "hi"}),
        ("web_search", {"query": "rust"}),
    ],
    usage={"input_tokens": 900, "cached_tokens": 700, "output_tokens": 55, "reasoning_tokens": 7},
    piece=8,
)


def test_a_reply_is_given_whole() -> None:
    with ScriptedResponsesApi([REPLY]) as api:
        whole = json.loads(post(api))
    items = whole["output"]
    assert [item["type"] for item in items] == [
        "reasoning",
        "message",
        "function_call",
        "custom_tool_call",
        "function_call",
        "web_search_call",
    ]
    assert items[0]["summary"] == [{"type": "summary_text", "text": "Let me see, and think."}]
    assert items[1]["content"][0]["text"] == REPLY.text
    assert (items[2]["name"], json.loads(items[2]["arguments"])) == REPLY.tools[0]
    assert (items[3]["name"], items[3]["input"]) == REPLY.tools[1]
    assert (items[4]["namespace"], items[4]["name"]) == ("mcp__tiny", "echo")
    assert items[5]["action"] == {"type": "search", "query": "rust"}
    assert (whole["status"], whole["model"]) == ("completed", "gpt-5.5")
    assert whole["usage"] == {
        "input_tokens": 900,
        "input_tokens_details": {"cached_tokens": 700},
        "output_tokens": 55,
        "output_tokens_details": {"reasoning_tokens": 7},
        "total_tokens": 955,
    }


def test_the_pieces_of_a_stream_make_what_is_given_whole() -> None:
    with ScriptedResponsesApi([REPLY]) as api:
        events = stream(api)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[0]["type"] == "response.created"
    assert events[-1]["type"] == "response.completed"
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    filled: dict[str, str] = {}
    for event in events:
        if event["type"].endswith(".delta"):
            filled[event["item_id"]] = filled.get(event["item_id"], "") + event["delta"]
    texts = (item["content"][0]["text"] for item in done if item["type"] == "message")
    assert next(texts) == filled[done[1]["id"]] == REPLY.text
    assert filled[done[0]["id"]] == REPLY.thinking
    assert filled[done[2]["id"]] == done[2]["arguments"]
    assert filled[done[3]["id"]] == done[3]["input"]
    assert max(len(e["delta"]) for e in events if e["type"].endswith(".delta")) == 8


def test_an_item_that_begins_is_empty() -> None:
    with ScriptedResponsesApi([REPLY]) as api:
        events = stream(api)
    begun = [e["item"] for e in events if e["type"] == "response.output_item.added"]
    assert [begun[0]["summary"], begun[1]["content"]] == [[], []]
    assert [begun[2]["arguments"], begun[3]["input"]] == ["", ""]
    assert "action" not in begun[5]


def test_a_reply_that_was_cut_off_says_so() -> None:
    with ScriptedResponsesApi([Reply(text="Half", stop_reason="max_output_tokens")]) as api:
        last = stream(api)[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "max_output_tokens"}


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "unsupported_parameter"), (401, "invalid_api_key"), (429, "rate_limit_exceeded")],
)
def test_a_failure_says_what_the_api_says(status: int, code: str) -> None:
    with ScriptedResponsesApi([Failure(status, headers={"retry-after": "1"})]) as api:
        told, body, headers = failure(lambda: post(api))
    assert (told, body["error"]["code"], headers["retry-after"]) == (status, code, "1")


def test_a_failure_may_have_a_code_and_a_message_of_its_own() -> None:
    with ScriptedResponsesApi([Failure(500, "odd", "scripted")]) as api:
        _, body, _ = failure(lambda: post(api))
    assert (body["error"]["code"], body["error"]["message"]) == ("odd", "scripted")


def test_a_stream_breaks_off_as_the_script_says() -> None:
    cuts = [Cut(after_events=2), Cut(after_events=2, how="close"), Cut(after_events=2, how="error")]
    with ScriptedResponsesApi(cuts) as api:
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            post(api, stream=True)
        assert len(stream(api)) == 2
        assert stream(api)[-1]["type"] == "response.failed"


def test_there_is_nothing_else() -> None:
    with ScriptedResponsesApi([]) as api:
        assert got(f"{api.url}/models") == {"object": "list", "data": []}
        assert failure(lambda: post(api, "/chat/completions"))[0] == 404
        assert api.requests == []
