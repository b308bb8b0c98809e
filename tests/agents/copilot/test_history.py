"""What GitHub Copilot CLI keeps on disk, and what of it counts."""

import json
from typing import Any

from nightrook.adapter.history import Call, Finding, Session
from nightrook.agents.copilot.history import HISTORY
from tests.agents.histories import counted, read, read_all, tokens, transcript
from tests.rules import each

FILE = ".copilot/session-state/s1/events.jsonl"
SUM = {"input": 200, "output": 34, "cache_read": 1000, "reasoning": 7}
USAGE = {
    "inputTokens": 1200,
    "outputTokens": 34,
    "cacheReadTokens": 1000,
    "cacheWriteTokens": 0,
    "reasoningTokens": 7,
}


def event(type: str, data: Any, **fields: Any) -> dict[str, Any]:
    return {"type": type, "data": data, "timestamp": "2026-11-15T18:12:25.202Z"} | fields


def start(**data: Any) -> dict[str, Any]:
    context = {"cwd": "/home/dev/app", "branch": "main"}
    facts = {"sessionId": "s1", "copilotVersion": "1.0.102", "context": context}
    return event("session.start", facts | data)


def record(call: str | None = "c1", *, agent: str | None = None, **usage: Any) -> dict[str, Any]:
    use = {"model": "gpt-5", "apiCallId": call, "cost": 0.0} | USAGE | usage
    line = event("session.usage_record", {"usage": use}, id=f"e-{call}")
    return line if agent is None else line | {"agentId": agent}


def end(id: str | None = "e1", *, times: int = 1, **data: Any) -> dict[str, Any]:
    usage = {name: times * count for name, count in USAGE.items()}
    metrics = {"gpt-5": {"requests": {"count": times, "cost": 1}, "usage": usage}}
    return event("session.shutdown", {"modelMetrics": metrics} | data, id=id)


def stored(*lines: dict[str, Any], path: str = FILE) -> list[Finding]:
    return read(HISTORY, path, b"".join(json.dumps(each).encode() + b"\n" for each in lines))


@each(("name", "calls"), [("text", 1), ("thinking", 1), ("shell_ok", 2)])
def test_a_transcript_has_the_tokens_that_the_model_reported(name: str, calls: int) -> None:
    sums = {key: count * calls for key, count in SUM.items()}
    assert tokens(read_all(HISTORY, transcript("copilot", name))) == {"calls": calls} | sums


@each(("name", "calls"), [("text", 1), ("thinking", 1), ("shell_ok", 2)])
def test_the_end_of_a_transcript_has_the_same_sum(name: str, calls: int) -> None:
    files = {
        path: b"\n".join(
            line for line in data.split(b"\n") if b'"session.usage_record"' not in line
        )
        for path, data in transcript("copilot", name).items()
    }
    sums = {key: count * calls for key, count in SUM.items()}
    assert tokens(read_all(HISTORY, files)) == {"calls": 1} | sums


def test_a_session_has_its_id_project_branch_version_start_and_title() -> None:
    findings = read_all(HISTORY, transcript("copilot", "text"))
    assert findings == [
        Session(
            id="874b6a74-f95c-407d-b489-d2c5160a4545",
            at=1794766343.666,
            project="/home/dev/project",
            branch="master",
            version="1.0.102",
        ),
        Session(id="874b6a74-f95c-407d-b489-d2c5160a4545", at=1794766344.213, title="Do the thing"),
        Call(
            id="chatcmpl-280068ee8efa",
            session="874b6a74-f95c-407d-b489-d2c5160a4545",
            at=1794766345.202,
            model="fake-model",
            input=200,
            output=34,
            cache_read=1000,
            reasoning=7,
            project="/home/dev/project",
            branch="master",
        ),
    ]


def test_input_is_without_what_the_cache_read_and_stored() -> None:
    (call,) = counted(stored(start(), record(cacheWriteTokens=150)))
    assert (call.input, call.cache_read, call.cache_write_5m) == (50, 1000, 150)


def test_premium_requests_are_not_dollars() -> None:
    (call,) = counted(stored(start(), record(cost=3.0)))
    assert call.cost_usd is None


def test_a_record_that_is_repeated_counts_once() -> None:
    assert tokens(stored(start(), record(), record())) == {"calls": 1} | SUM


def test_servers_that_number_their_responses_repeat_the_numbers() -> None:
    first, second = record("chatcmpl-17") | {"id": "e1"}, record("chatcmpl-17") | {"id": "e2"}
    assert len(counted(stored(start(), first, second, first))) == 2


def test_a_record_without_the_id_of_its_call_is_identified_by_its_event() -> None:
    first, second = record(None) | {"id": "e1"}, record(None) | {"id": "e2"}
    assert [call.id for call in counted(stored(start(), first, second))] == ["e1", "e2"]


def test_the_sums_of_ends_are_not_added_to_records() -> None:
    snapshot: dict[str, Any] = {"accountingSnapshot": {}}
    resumed = event("session.resume", {"context": {"cwd": "/home/dev/app"}})
    findings = stored(
        start(), record("c1"), end("e1", **snapshot), resumed, record("c2"), end("e2", times=2)
    )
    assert [call.id for call in counted(findings)] == ["c1", "c2"]


def test_a_record_after_an_end_replaces_the_sum_of_the_end() -> None:
    assert tokens(stored(start(), end(), record())) == {"calls": 1} | SUM


def test_processes_of_versions_without_records_are_added() -> None:
    findings = stored(start(), end("e1"), event("session.resume", {}), end("e2"))
    assert tokens(findings) == {"calls": 2} | {key: 2 * count for key, count in SUM.items()}


def test_an_end_with_the_sum_of_the_whole_session_adds_what_is_new() -> None:
    snapshot: dict[str, Any] = {"accountingSnapshot": {}}
    findings = stored(start(), end("e1", **snapshot), end("e2", times=3, **snapshot))
    assert [(call.output, call.summed) for call in counted(findings)] == [(34, True), (68, True)]


def test_an_end_without_use_is_not_a_call() -> None:
    assert stored(start(), end(times=0), end(modelMetrics=None), end(modelMetrics={"a": {}})) == [
        stored(start())[0]
    ]


def test_ends_without_an_id_are_identified_by_their_place() -> None:
    assert len(counted(stored(start(), end(None), end(None)))) == 2


def test_a_subagent_has_its_name_and_its_sum_is_not_added() -> None:
    findings = stored(
        start(),
        event("subagent.started", {"agentName": "general-purpose"}, agentId="a1"),
        record("c1", agent="a1"),
        record("c2", agent="a2"),
        event("subagent.completed", {"agentName": "general-purpose", "totalTokens": 1234}),
        record("c3"),
    )
    assert [(call.id, call.subagent) for call in counted(findings)] == [
        ("c1", "general-purpose"),
        ("c2", "a2"),
        ("c3", None),
    ]


def test_the_title_is_the_first_prompt_of_the_user() -> None:
    findings = stored(
        event("user.message", {"content": "a task"}, agentId="a1"),
        event("user.message", {"content": " \n"}),
        event("user.message", {"content": "Fix\nthe tests"}),
        event("user.message", {"content": "And more"}),
    )
    assert findings == [Session(id="s1", at=1794766345.202, title="Fix the tests")]


def test_a_call_is_of_the_folder_and_branch_at_its_time() -> None:
    moved = event("session.context_changed", {"cwd": "/home/dev/other", "branch": "fix"})
    calls = counted(stored(start(), record("c1"), moved, record("c2")))
    assert [(call.project, call.branch) for call in calls] == [
        ("/home/dev/app", "main"),
        ("/home/dev/other", "fix"),
    ]


def test_a_line_without_a_time_has_that_of_the_line_before() -> None:
    late = record()
    del late["timestamp"]
    (call,) = counted(stored(start(), late))
    assert call.at == 1794766345.202


def test_a_session_without_its_start_has_the_name_of_its_folder_or_file() -> None:
    (call,) = counted(stored(record()))
    assert call.session == "s1"
    (call,) = counted(stored(record(), path=".copilot/session-state/s7.jsonl"))
    assert call.session == "s7"


def test_invalid_counts_are_left_out() -> None:
    findings = stored(start(), record(inputTokens=-1, reasoningTokens="many"))
    assert tokens(findings) == {"calls": 1, "output": 34, "cache_read": 1000}
