"""The scripted chat completions API as a client sees it, with nothing but urllib."""

import http.client
import json
import time
from typing import Any

import pytest

from nightrook.testing import Cut, Failure, Reply, ScriptedChatApi
from tests.testing.client import failure, got, sent

ASK = {"model": "m-1", "messages": [{"role": "user", "content": "Hi"}]}
REPLY = Reply(
    thinking="Let me see, first of all, what there is.",
    text="I'll read the file first of all.",
    tools=[("read", {"filePath": "/a/ü.py"}), ("bash", {"command": "ls"})],
    usage={"prompt_tokens": 907, "cached_tokens": 900, "completion_tokens": 55},
)


def post(api: ScriptedChatApi, path: str = "/v1/chat/completions", **more: Any) -> bytes:
    answer, head = sent(api.url + path, {**ASK, **more}, authorization="made-up")
    assert head["x-request-id"].startswith("req_")
    return answer


def chunks(api: ScriptedChatApi) -> list[Any]:
    """The chunks of a stream; what closes it is None."""
    text = post(api, stream=True, stream_options={"include_usage": True}).decode()
    data = [block.removeprefix("data: ") for block in text.split("\n\n")[:-1]]
    return [None if line == "[DONE]" else json.loads(line) for line in data]


def test_the_pieces_of_a_stream_make_what_is_given_whole() -> None:
    with ScriptedChatApi([REPLY, REPLY]) as api:
        whole = json.loads(post(api))
        *told, last, usage, end = chunks(api)
    said: dict[str, str] = {"content": "", "reasoning_content": ""}
    calls: list[dict[str, Any]] = []
    for chunk in told:
        delta = chunk["choices"][0]["delta"]
        for name in said:
            said[name] += delta.get(name, "")
        for call in delta.get("tool_calls", ()):
            if "id" in call:
                calls.append({**call, "arguments": ""})
            calls[call["index"]]["arguments"] += call["function"]["arguments"]
    message = whole["choices"][0]["message"]
    assert said == {name: message[name] for name in said}
    assert said["reasoning_content"] == REPLY.thinking
    assert [(c["function"]["name"], json.loads(c["arguments"])) for c in calls] == [
        (c["function"]["name"], json.loads(c["function"]["arguments"]))
        for c in message["tool_calls"]
    ]
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert whole["choices"][0]["finish_reason"] == "tool_calls"
    assert (usage["choices"], usage["usage"]) == ([], whole["usage"])
    assert end is None


def test_tokens_are_those_of_the_reply_or_a_guess() -> None:
    with ScriptedChatApi([REPLY, Reply(text="x" * 400)]) as api:
        told, guessed = json.loads(post(api))["usage"], json.loads(post(api))["usage"]
    assert told["prompt_tokens_details"] == {"cached_tokens": 900}
    assert (told["prompt_tokens"], told["total_tokens"]) == (907, 962)
    assert told["completion_tokens_details"]["reasoning_tokens"] == 10
    assert 100 < guessed["completion_tokens"] < 120
    assert guessed["completion_tokens_details"] == {"reasoning_tokens": 0}


def test_usage_is_streamed_only_to_those_who_ask() -> None:
    with ScriptedChatApi([Reply(text="Hi")]) as api:
        text = post(api, stream=True).decode()
    assert '"usage"' not in text
    assert text.endswith("data: [DONE]\n\n")


def test_any_base_url_will_do() -> None:
    with ScriptedChatApi([Reply(text="Hi", stop_reason="length")]) as api:
        whole = json.loads(post(api, "/chat/completions"))
        assert got(f"{api.url}/v1/models") == {"object": "list", "data": []}
    assert whole["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, "invalid_request_error", None),
        (401, "invalid_request_error", "invalid_api_key"),
        (429, "requests", "rate_limit_exceeded"),
        (500, "server_error", None),
        (418, "server_error", None),
    ],
)
def test_a_failure_says_what_the_api_says(status: int, kind: str, code: str | None) -> None:
    with ScriptedChatApi([Failure(status, headers={"retry-after": "3"})]) as api:
        found, body, head = failure(lambda: post(api))
    assert (found, head["retry-after"]) == (status, "3")
    assert (body["error"]["type"], body["error"]["code"]) == (kind, code)
    assert body["error"]["message"]


def test_a_failure_can_be_named() -> None:
    script = [Failure(429, kind="insufficient_quota", message="no money")]
    with ScriptedChatApi(script) as api:
        _, body, _ = failure(lambda: post(api))
    assert body["error"] == {
        "message": "no money",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }


def test_a_stream_can_break_in_three_ways() -> None:
    cuts = [Cut(after_events=2, how=how) for how in ("close", "error", "reset")]
    with ScriptedChatApi(cuts) as api:
        assert [chunk["object"] for chunk in chunks(api)] == ["chat.completion.chunk"] * 2
        assert chunks(api)[-1]["error"]["type"] == "server_error"
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            chunks(api)


def test_an_answer_can_take_its_time() -> None:
    before = time.monotonic()
    with ScriptedChatApi([Reply(text="Hi", delay=0.3)]) as api:
        post(api)
    assert time.monotonic() - before >= 0.3


def test_a_conversation_that_another_server_began_has_no_call_twice() -> None:
    def call(**more: Any) -> str:
        with ScriptedChatApi([REPLY]) as api:
            id: str = json.loads(post(api, **more))["choices"][0]["message"]["tool_calls"][0]["id"]
        return id

    later = [*ASK["messages"], {"role": "assistant", "content": "x"}, *ASK["messages"]]
    assert call() != call(messages=later)
    assert call() == call()
