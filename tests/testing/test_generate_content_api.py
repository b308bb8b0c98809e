"""The scripted Gemini API, asked as a client would."""

import http.client
import json
import time
from typing import Any
from urllib.parse import urlsplit

import pytest

from nightrook.testing import Answer, Cut, Failure, Reply, ScriptedGeminiApi

MODEL = "/v1beta/models/gemini-2.5-pro"
BODY = {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]}


def ask(
    api: ScriptedGeminiApi, way: str = "streamGenerateContent?alt=sse"
) -> http.client.HTTPResponse:
    """Ask for a message and give the open answer."""
    connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=30)
    connection.request("POST", f"{MODEL}:{way}", json.dumps(BODY).encode())
    return connection.getresponse()


def streamed(answer: Answer) -> list[dict[str, Any]]:
    """The responses of a stream."""
    with ScriptedGeminiApi([answer]) as api:
        text = ask(api).read().decode()
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line]


def parts(response: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = response["candidates"][0]["content"]["parts"]
    return found


def test_a_stream_is_responses_with_thoughts_then_words_then_calls() -> None:
    reply = Reply(thinking="Hm.", text="Hello!", tools=[("glob", {"pattern": "*"})], piece=3)
    responses = streamed(reply)
    assert [part for response in responses for part in parts(response)] == [
        {"text": "Hm.", "thought": True},
        {"text": "Hel"},
        {"text": "lo!"},
        {"functionCall": {"name": "glob", "args": {"pattern": "*"}}},
    ]
    ends = [response["candidates"][0].get("finishReason") for response in responses]
    assert ends == [None, None, None, "STOP"]
    assert responses[0]["modelVersion"] == "gemini-2.5-pro"


def test_an_answer_may_come_in_one_piece() -> None:
    reply = Reply(thinking="Hm.", text="Hello!", stop_reason="MAX_TOKENS")
    with ScriptedGeminiApi([reply]) as api:
        response = json.loads(ask(api, "generateContent").read())
    assert parts(response) == [{"text": "Hm.", "thought": True}, {"text": "Hello!"}]
    assert response["candidates"][0]["finishReason"] == "MAX_TOKENS"


def test_usage_is_estimated_or_taken_from_the_script() -> None:
    told = {"promptTokenCount": 100, "cachedContentTokenCount": 40, "thoughtsTokenCount": 7}
    usage = streamed(Reply(text="Hi", usage=told))[-1]["usageMetadata"]
    assert {**told, "totalTokenCount": 107 + usage["candidatesTokenCount"]}.items() <= usage.items()
    assert streamed(Reply(text="Hi"))[-1]["usageMetadata"]["promptTokenCount"] > 10


def test_an_input_that_is_a_text_becomes_an_object() -> None:
    (call,) = parts(streamed(Reply(tools=[("patch", "text")]))[-1])
    assert call["functionCall"]["args"] == {"input": "text"}


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (Failure(400), (400, "INVALID_ARGUMENT")),
        (Failure(401), (401, "UNAUTHENTICATED")),
        (Failure(429), (429, "RESOURCE_EXHAUSTED")),
        (Failure(500), (500, "INTERNAL")),
        (Failure(599), (599, "INTERNAL")),
        (Failure(503, kind="MINE", message="away"), (503, "MINE")),
    ],
)
def test_failures_have_the_api_s_words(failure: Failure, told: tuple[int, str]) -> None:
    with ScriptedGeminiApi([failure]) as api:
        answer = ask(api)
        error = json.loads(answer.read())["error"]
    assert answer.status == failure.status
    assert (error["code"], error["status"]) == told
    assert error["message"] == (failure.message or error["message"] or None)


def test_a_stream_may_break_in_each_way() -> None:
    reply = Reply(text="Hello!", piece=3)
    ended = streamed(Cut(after_events=1, reply=reply, how="close"))
    assert [parts(response) for response in ended] == [[{"text": "Hel"}]]
    failed = streamed(Cut(after_events=1, reply=reply, how="error"))
    assert failed[-1]["error"]["code"] == 500
    with ScriptedGeminiApi([Cut(after_events=1, reply=reply)]) as api:
        answer = ask(api)
        with pytest.raises((ConnectionError, http.client.IncompleteRead)):
            answer.read()


def test_an_answer_may_be_slow() -> None:
    before = time.monotonic()
    streamed(Reply(text="Hi", delay=0.2))
    assert time.monotonic() - before >= 0.2


def test_tokens_are_counted_and_models_listed_beside_the_script() -> None:
    with ScriptedGeminiApi([]) as api:
        assert json.loads(ask(api, "countTokens").read())["totalTokens"] > 10
        connection = http.client.HTTPConnection(urlsplit(api.url).netloc, timeout=30)
        connection.request("GET", "/v1beta/models")
        assert json.loads(connection.getresponse().read()) == {"models": []}
        assert ask(api, "embedContent").status == 404
        assert api.requests == []
