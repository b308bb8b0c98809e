"""The scripted Messages API as a client sees it, with nothing but urllib."""

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from nightrook.testing import Cut, Failure, Reply, ScriptedMessagesApi
from tests.testing.client import OPENER, failure, got, named_events, sent

ASK = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hi"}],
}


def post(api: ScriptedMessagesApi, path: str = "/v1/messages", **more: Any) -> bytes:
    answer, head = sent(api.url + path, {**ASK, **more}, **{"x-api-key": "made-up"})
    assert head["request-id"].startswith("req_")
    return answer


def stream(api: ScriptedMessagesApi) -> list[dict[str, Any]]:
    return named_events(post(api, stream=True))


REPLY = Reply(
    thinking="Let me see.",
    text="I'll read the file first of all.",
    tools=[("Read", {"file_path": "/a/ü.py"}), ("Bash", {"command": "ls"})],
    usage={"input_tokens": 7, "cache_read_input_tokens": 900, "output_tokens": 55},
)


def test_a_reply_is_streamed_as_the_api_does() -> None:
    with ScriptedMessagesApi([REPLY]) as api:
        events = stream(api)
    assert [event["type"] for event in events if event["type"] != "content_block_delta"] == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_stop",
        *["content_block_start", "content_block_stop"] * 3,
        "message_delta",
        "message_stop",
    ]
    begun = events[0]["message"]
    assert (begun["content"], begun["stop_reason"], begun["model"]) == ([], None, ASK["model"])
    assert begun["usage"]["output_tokens"] == 1
    assert events[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None}
    assert events[-2]["usage"] == {
        "input_tokens": 7,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 900,
        "output_tokens": 55,
    }


def test_the_pieces_of_a_stream_make_what_is_given_whole() -> None:
    with ScriptedMessagesApi([REPLY, REPLY]) as api:
        whole = json.loads(post(api))
        events = stream(api)
    blocks: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "content_block_start":
            blocks.append({**event["content_block"], "json": ""})
        elif event["type"] == "content_block_delta":
            delta = event["delta"]
            for name in ("text", "thinking", "signature"):
                blocks[-1][name] = blocks[-1].get(name, "") + delta.get(name, "")
            blocks[-1]["json"] += delta.get("partial_json", "")
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use", "tool_use"]
    assert blocks[0]["thinking"] == whole["content"][0]["thinking"]
    assert blocks[0]["signature"] == whole["content"][0]["signature"]
    assert blocks[1]["text"] == whole["content"][1]["text"]
    assert [json.loads(block["json"]) for block in blocks[2:]] == [
        block["input"] for block in whole["content"][2:]
    ]


def test_ids_are_the_same_in_each_run() -> None:
    told = []
    for _ in range(2):
        with ScriptedMessagesApi([REPLY, Reply(text="Done.")]) as api:
            told.append([json.loads(post(api)), json.loads(post(api))])
    assert told[0] == told[1]
    ids = [block["id"] for block in told[0][0]["content"] if "id" in block]
    assert len({*ids, told[0][0]["id"], told[0][1]["id"]}) == 4
    assert told[0][1]["stop_reason"] == "end_turn"


def test_tokens_are_estimated_unless_a_reply_has_them() -> None:
    with ScriptedMessagesApi([Reply(text="x" * 400)]) as api:
        usage = json.loads(post(api, system="y" * 4000))["usage"]
    assert 1000 < usage["input_tokens"] < 1100
    assert 100 < usage["output_tokens"] < 120


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_a_failure_says_what_the_api_says(status: int, kind: str) -> None:
    with ScriptedMessagesApi([Failure(status, headers={"retry-after": "3"})]) as api:
        code, body, headers = failure(lambda: post(api, stream=True))
    assert (code, body["type"], body["error"]["type"]) == (status, "error", kind)
    assert (headers["retry-after"], headers["request-id"]) == ("3", body["request_id"])


def test_a_failure_may_have_a_kind_and_a_message_of_its_own() -> None:
    with ScriptedMessagesApi([Failure(400, "billing_error", "no money")]) as api:
        assert failure(lambda: post(api))[1]["error"] == {
            "type": "billing_error",
            "message": "no money",
        }


def test_a_stream_that_is_reset_breaks_off() -> None:
    with (
        ScriptedMessagesApi([Cut(after_events=3)]) as api,
        pytest.raises((ConnectionError, http.client.IncompleteRead)),
    ):
        stream(api)


def test_a_stream_that_is_closed_ends_early_but_in_order() -> None:
    with ScriptedMessagesApi([Cut(after_events=3, reply=REPLY, how="close")]) as api:
        events = stream(api)
    assert [event["type"] for event in events] == ["message_start", "content_block_start", "ping"]


def test_a_stream_may_end_with_an_error() -> None:
    with ScriptedMessagesApi([Cut(after_events=1, how="error")]) as api:
        events = stream(api)
    assert [event["type"] for event in events] == ["message_start", "error"]
    assert events[1]["error"]["type"] == "overloaded_error"


def test_an_answer_that_is_not_a_stream_is_cut_as_well() -> None:
    with (
        ScriptedMessagesApi([Cut(after_events=0)]) as api,
        pytest.raises((ConnectionError, http.client.RemoteDisconnected, urllib.error.URLError)),
    ):
        post(api)


def test_the_script_may_be_a_function_of_the_request() -> None:
    def echo(request: dict[str, Any]) -> Reply:
        return Reply(text=request["messages"][-1]["content"].upper())

    with ScriptedMessagesApi(echo) as api:
        assert json.loads(post(api))["content"] == [{"type": "text", "text": "HI"}]


def test_what_the_function_raises_is_raised_at_the_end() -> None:
    with (
        pytest.raises(KeyError, match="nonsense"),
        ScriptedMessagesApi(lambda request: request["nonsense"]) as api,
    ):
        assert (
            failure(lambda: post(api))[1]["error"]["message"]
            == "the script failed: KeyError('nonsense')"
        )


def test_a_request_beyond_the_script_gets_an_error() -> None:
    with ScriptedMessagesApi([]) as api:
        code, body, _ = failure(lambda: post(api))
    assert (code, body["error"]["message"]) == (400, "the script has no answer to request 1")


def test_requests_are_kept_but_not_those_that_only_count() -> None:
    with ScriptedMessagesApi([Reply(text="a")]) as api:
        counted = json.loads(post(api, "/v1/messages/count_tokens?beta=true"))
        post(api, "/v1/messages?beta=true", system="Be brief.")
    assert counted["input_tokens"] > 10
    assert [request.get("system") for request in api.requests] == ["Be brief."]


def test_other_requests_are_answered_harmlessly() -> None:
    with ScriptedMessagesApi([]) as api:
        with OPENER.open(urllib.request.Request(api.url, method="HEAD")) as answer:
            assert answer.status == 200
        assert got(f"{api.url}/v1/models")["data"] == []
        assert failure(lambda: got(f"{api.url}/elsewhere"))[0] == 404
        assert failure(lambda: OPENER.open(f"{api.url}/v1/messages", b"no json"))[0] == 400


def test_an_answer_may_let_wait_for_itself() -> None:
    begun = time.monotonic()
    with ScriptedMessagesApi(
        [Reply(text="a", delay=0.1, pause=0.02), Failure(500, delay=0.1)]
    ) as api:
        stream(api)
        failure(lambda: post(api))
    assert time.monotonic() - begun > 0.1 + 0.02 * 6 + 0.1


def test_the_end_of_the_block_does_not_wait_for_an_answer() -> None:
    with ScriptedMessagesApi([Reply(text="a", delay=60)]) as api:
        connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=20)
        connection.request("POST", "/v1/messages", json.dumps(ASK))
        while not api.requests:
            time.sleep(0.005)
    connection.close()


def test_answers_come_side_by_side() -> None:
    with ScriptedMessagesApi([Reply(text="a", delay=60), Reply(text="b")]) as api:
        connection = http.client.HTTPConnection(api.url.removeprefix("http://"), timeout=20)
        connection.request("POST", "/v1/messages", json.dumps(ASK))
        while not api.requests:
            time.sleep(0.005)
        assert json.loads(post(api))["content"][0]["text"] == "b"
    connection.close()
