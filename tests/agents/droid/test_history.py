"""What Factory Droid keeps on disk, and what of it counts."""

import json
from typing import Any

from nightrook.adapter.history import Call, Finding, Session
from nightrook.agents.droid.history import HISTORY
from tests.agents.histories import counted, place_of, read, read_all, tokens, transcript
from tests.rules import each

FOLDER = ".factory/sessions/-home-dev-app"
USAGE = {
    "inputTokens": 200,
    "outputTokens": 34,
    "cacheCreationTokens": 5,
    "cacheReadTokens": 1000,
    "thinkingTokens": 7,
    "factoryCredits": 3,
}
MORE = {name: 2 * count for name, count in USAGE.items()}


def sums(session: str = "s1", **settings: Any) -> list[Finding]:
    facts = {"model": "claude-opus-4-5", "tokenUsage": USAGE} | settings
    return read(HISTORY, f"{FOLDER}/{session}.settings.json", json.dumps(facts, indent=2).encode())


@each("name", ["text", "two_turn_resume"])
def test_a_transcript_has_the_tokens_that_the_agent_reported(name: str) -> None:
    assert tokens(read_all(HISTORY, transcript("droid", name))) == {
        "calls": 1,
        "input": 200,
        "output": 34,
        "cache_read": 1000,
    }


def test_a_session_has_its_project_and_title_and_the_times_of_its_messages() -> None:
    id = "00302dc2-2a1b-487f-9463-b98f2c5a4020"
    assert read_all(HISTORY, transcript("droid", "text")) == [
        Session(id=id, project="/home/dev/project", title="Do the thing"),
        Session(id=id, at=1794816413.339),
        Session(id=id, at=1794816413.503),
        Session(id=id, at=1794816415.411),
        Call(
            id=id,
            session=id,
            model="custom:fake-0",
            input=200,
            output=34,
            cache_read=1000,
            summed=True,
        ),
    ]


def test_the_sum_of_a_session_is_one_call_at_the_time_of_its_last_message() -> None:
    assert sums() == [
        Call(
            id="s1",
            session="s1",
            at=None,
            model="claude-opus-4-5",
            input=200,
            output=34,
            cache_read=1000,
            cache_write_5m=5,
            reasoning=7,
            summed=True,
        )
    ]


def test_a_sum_that_has_grown_replaces_the_one_before() -> None:
    assert [call.output for call in counted(sums() + sums(tokenUsage=MORE))] == [68]


def test_the_sums_of_children_are_not_added_to_that_of_their_parent() -> None:
    parent = sums(
        inclusiveTokenUsage=MORE,
        lastCallTokenUsage=USAGE,
        childInclusiveTokenUsageBySessionId={"s2": USAGE, "s1": USAGE, "": USAGE},
    )
    assert parent[:-1] == [Session(id="s2", parent="s1")]
    assert [(call.id, call.output) for call in counted(parent + sums("s2"))] == [
        ("s1", 34),
        ("s2", 34),
    ]


def test_a_session_without_use_is_not_a_call() -> None:
    assert sums(tokenUsage=None) == []
    assert sums(tokenUsage=dict.fromkeys(USAGE, 0)) == []


def test_the_copy_of_the_sums_is_not_read() -> None:
    assert place_of(HISTORY, f"{FOLDER}/s1.settings.json") is not None
    assert place_of(HISTORY, f"{FOLDER}/s1.settings.json.bak") is None
    assert place_of(HISTORY, f"{FOLDER}/other.json") is None


def test_the_messages_have_no_use() -> None:
    line = {"type": "message", "timestamp": "2026-11-15T18:20:56.640Z", "tokenUsage": USAGE}
    findings = read(HISTORY, f"{FOLDER}/s1.jsonl", json.dumps(line).encode())
    assert findings == [Session(id="s1", at=1794766856.64)]


def test_invalid_counts_are_left_out() -> None:
    wrong = USAGE | {"inputTokens": -1, "outputTokens": 1.5, "thinkingTokens": "many"}
    assert tokens(sums(tokenUsage=wrong)) == {
        "calls": 1,
        "cache_read": 1000,
        "cache_write_5m": 5,
    }
