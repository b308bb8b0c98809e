"""What Gemini CLI keeps on disk, and what of it counts."""

import json
from typing import Any

from nightrook.adapter.history import Call, Session
from nightrook.agents.gemini.history import HISTORY
from nightrook.agents.gemini.memory import SessionFacts
from nightrook.agents.gemini.reader import begin
from tests.agents.histories import counted, read, read_all, tokens, transcript
from tests.rules import each

MAIN = ".gemini/tmp/app/chats/session-2026-11-15T18-04-aaaaaaaa.jsonl"
OLD = ".gemini/tmp/app/chats/session-2025-09-01T10-00-aaaaaaaa.json"
SUBAGENT = ".gemini/tmp/app/chats/aaaaaaaa-1/bbbbbbbb-2.jsonl"
HEADER = {"sessionId": "aaaaaaaa-1", "projectHash": "5f", "startTime": "2026-11-15T18:04:00Z"}


def message(id: str = "m1", **fields: Any) -> dict[str, Any]:
    tokens = {"input": 1200, "output": 34, "cached": 1000, "thoughts": 7, "tool": 0, "total": 1241}
    return {
        "id": id,
        "timestamp": "2026-11-15T18:04:37.270Z",
        "type": "gemini",
        "content": "Hello",
        "tokens": tokens,
        "model": "gemini-2.5-flash",
    } | fields


def lines(*objects: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in objects)


@each(
    ("name", "sums"),
    [
        ("text", {"calls": 1, "input": 200, "output": 41, "cache_read": 1000, "reasoning": 7}),
        ("thinking", {"calls": 1, "input": 200, "output": 41, "cache_read": 1000, "reasoning": 7}),
        ("shell_ok", {"calls": 2, "input": 400, "output": 82, "cache_read": 2000, "reasoning": 14}),
        ("two_turn_resume", {"calls": 2, "input": 200, "output": 10}),
        ("subagent", {"calls": 23, "input": 290561, "output": 518}),
    ],
)
def test_a_transcript_has_the_tokens_that_the_agent_reported(
    name: str, sums: dict[str, int]
) -> None:
    assert tokens(read_all(HISTORY, transcript("gemini", name))) == sums


def test_a_session_has_its_id_project_start_and_title() -> None:
    findings = read_all(HISTORY, transcript("gemini", "text"))
    sessions = [finding for finding in findings if isinstance(finding, Session)]
    id = "b25c2b74-56ea-4a04-8a54-2b61bc8600ed"
    assert sessions == [
        Session(id=id, at=1794765876.658),
        Session(id=id, at=1794765876.658, project="/home/dev/project"),
        Session(id=id, at=1794765876.736, title="Do the thing"),
    ]
    assert counted(findings) == [
        Call(
            id="48716527-afaa-47f7-ab7d-ca2b766a7a45",
            session=id,
            at=1794765877.27,
            model="gemini-2.5-flash",
            input=200,
            output=41,
            cache_read=1000,
            reasoning=7,
            project="/home/dev/project",
        )
    ]


def test_a_message_that_is_written_again_with_its_tool_calls_counts_once() -> None:
    again = message(toolCalls=[{"id": "t"}], timestamp="2026-11-15T18:05:00Z")
    findings = read(HISTORY, MAIN, lines(HEADER, message(), again))
    assert [(call.id, call.at) for call in counted(findings)] == [("m1", 1794765877.27)]


def test_a_message_counts_once_it_has_tokens() -> None:
    findings = read(HISTORY, MAIN, lines(HEADER, message(tokens=None), message()))
    assert tokens(findings)["input"] == 200


def test_messages_that_a_resumed_session_sets_again_count_once() -> None:
    resumed = {"$set": {"messages": [message("m1"), message("m2")], "lastUpdated": "2026-11-16"}}
    findings = read(HISTORY, MAIN, lines(HEADER, message("m1"), resumed, message("m3")))
    assert [call.id for call in counted(findings)] == ["m1", "m2", "m3"]


def test_tool_prompts_are_input_and_thoughts_are_output() -> None:
    used = {"input": 100, "output": 10, "cached": 40, "thoughts": 5, "tool": 3}
    findings = read(HISTORY, MAIN, lines(HEADER, message(tokens=used)))
    assert tokens(findings) == {
        "calls": 1,
        "input": 63,
        "output": 15,
        "cache_read": 40,
        "reasoning": 5,
    }


def test_a_subagent_has_a_file_in_the_folder_of_its_session() -> None:
    header = {"sessionId": "bbbbbbbb-2", "projectHash": "5f", "kind": "subagent"}
    facts = header | {"directories": ["/home/dev/app"]}
    findings = read(HISTORY, SUBAGENT, lines(facts, message("s1")))
    assert findings[0] == Session(id="bbbbbbbb-2", parent="aaaaaaaa-1", project="/home/dev/app")
    (call,) = counted(findings)
    assert (call.session, call.subagent, call.project) == (
        "bbbbbbbb-2",
        "bbbbbbbb-2",
        "/home/dev/app",
    )


def test_a_session_of_an_old_version_is_one_object() -> None:
    document = json.dumps(
        HEADER | {"messages": [message("u", type="user", tokens=None), message()]}, indent=2
    ).encode()
    assert tokens(read(HISTORY, OLD, document)) == {
        "calls": 1,
        "input": 200,
        "output": 41,
        "cache_read": 1000,
        "reasoning": 7,
    }


def test_an_old_session_and_the_lines_it_was_converted_to_count_once() -> None:
    old = json.dumps(HEADER | {"messages": [message("m1")]}).encode()
    files = {OLD: old, OLD + "l": lines(HEADER, message("m1"), message("m2"))}
    assert [call.id for call in counted(read_all(HISTORY, files))] == ["m1", "m2"]


def test_a_message_without_a_time_has_that_of_the_line_before() -> None:
    first, second = message("m1"), message("m2")
    del second["timestamp"]
    findings = read(HISTORY, MAIN, lines(HEADER, first, second))
    assert [call.at for call in counted(findings)] == [1794765877.27, 1794765877.27]


def test_a_file_without_its_first_line_has_its_name_as_session() -> None:
    (call,) = counted(read(HISTORY, MAIN, lines(message())))
    assert call.session == "session-2026-11-15T18-04-aaaaaaaa"


def test_invalid_counts_are_left_out() -> None:
    wrong = {"input": -5, "output": "many", "cached": 10, "thoughts": 2}
    findings = read(HISTORY, MAIN, lines(HEADER, message(tokens=wrong)))
    assert tokens(findings) == {"calls": 1, "output": 2, "cache_read": 10, "reasoning": 2}


def titles(*objects: Any) -> list[str]:
    findings = read(HISTORY, MAIN, lines(HEADER, *objects))
    return [each.title for each in findings if isinstance(each, Session) and each.title]


def prompt(content: Any) -> dict[str, Any]:
    return message("u1", type="user", content=content, tokens=None)


def test_the_title_is_the_first_prompt_of_the_user_or_the_summary_that_the_agent_saves() -> None:
    context = {"$set": {"messages": [prompt([{"text": "<session_context>\nToday"}])]}}
    answer = prompt([{"functionResponse": {}}])
    summary = {"$set": {"summary": "Mend the tests"}}
    first, second = prompt([{"text": "Fix\nthe"}, {"text": "tests"}]), prompt("And more")
    commands = (prompt("/chat list"), prompt("?"), prompt(" "), prompt(5))
    assert titles(context, *commands, answer, first, second, summary) == [
        "Fix the tests",
        "Mend the tests",
    ]
    assert titles(second) == ["And more"]
    assert titles(summary, first) == ["Mend the tests"]


def test_a_file_in_another_folder_is_not_of_a_subagent() -> None:
    assert begin(("home", "copies", "session-1.jsonl")) == SessionFacts(session="session-1")
    assert begin(("app", "chats", "session-1.jsonl")) == SessionFacts(session="session-1")


def test_other_files_of_the_folder_are_not_read() -> None:
    document = json.dumps(HEADER | {"messages": [message()]}).encode()
    for path in (
        ".gemini/tmp/app/logs.json",
        ".gemini/tmp/app/chats/aaaaaaaa-1/notes.json",
        MAIN + ".unreadable-1",
        MAIN + ".tmp-7",
    ):
        assert read(HISTORY, path, document) == []
