"""What Qwen Code keeps on disk, and what of it counts."""

import json
from typing import Any

import msgspec

from nightrook.adapter.history import Call, Finding, Session
from nightrook.agents.qwen.history import HISTORY
from tests.agents.histories import counted, read, read_all, tokens, transcript, transcripts
from tests.rules import each

FILE = ".qwen/projects/-home-dev-app/chats/s1.jsonl"
FORK = ".qwen/projects/-home-dev-app/chats/s2.jsonl"
SUM = {"input": 200, "output": 34, "cache_read": 1000, "reasoning": 7}
TIME = "2026-11-15T18:06:48.708Z"


def line(kind: str, uuid: str, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": TIME,
        "type": kind,
        "cwd": "/home/dev/app",
        "version": "0.15.10",
    } | fields


def telemetry(response: str | None = "r1", uuid: str = "t1", **fields: Any) -> dict[str, Any]:
    event = {
        "event.name": "qwen-code.api_response",
        "response_id": response,
        "model": "qwen3-coder",
        "input_token_count": 1200,
        "output_token_count": 34,
        "cached_content_token_count": 1000,
        "thoughts_token_count": 7,
    } | fields
    payload = {"uiEvent": event}
    return line("system", uuid, subtype="ui_telemetry", systemPayload=payload)


def answer(uuid: str = "a1", **fields: Any) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 1200,
        "candidatesTokenCount": 34,
        "thoughtsTokenCount": 7,
        "cachedContentTokenCount": 1000,
    }
    return line("assistant", uuid, model="qwen3-coder", usageMetadata=usage, **fields)


def stored(*lines: dict[str, Any], path: str = FILE) -> list[Finding]:
    return read(HISTORY, path, b"".join(msgspec.json.encode(each) + b"\n" for each in lines))


# The agent itself reports 2400 tokens of input for the texts: it counts the hidden call, too.
@each(("name", "calls"), [("text", 2), ("thinking", 2), ("shell_ok", 2)])
def test_a_transcript_has_the_tokens_that_the_model_reported(name: str, calls: int) -> None:
    sums = {key: count * calls for key, count in SUM.items()}
    assert tokens(read_all(HISTORY, transcript("qwen", name))) == {"calls": calls} | sums


# The usage of the agent's own last result: `input_tokens` and `output_tokens`.
@each(
    ("name", "calls", "input", "output"),
    [("subagent_0.24.4", 4, 74796, 77), ("two_turn_resume_0.24.4", 4, 400, 20)],
)
def test_a_transcript_has_the_tokens_that_the_agent_reported(
    name: str, calls: int, input: int, output: int
) -> None:
    sums = {"calls": calls, "input": input, "output": output}
    assert tokens(read_all(HISTORY, transcript("qwen", name))) == sums


def test_servers_that_number_their_responses_repeat_the_numbers() -> None:
    again = [telemetry("chatcmpl-17", "t1"), telemetry("chatcmpl-17", "t2")]
    assert len(counted(stored(*again, *again))) == 2


def test_a_session_has_its_id_project_version_and_start() -> None:
    findings = read_all(HISTORY, transcript("qwen", "text"))
    facts = Session(
        id="cc5cbde2-7839-43b0-89a5-0df9ba4981f6",
        at=1794766008.306,
        project="/home/dev/project",
        version="0.15.10",
    )
    assert [finding for finding in findings if isinstance(finding, Session)] == [
        facts,
        msgspec.structs.replace(facts, title="Do the thing"),
    ]
    assert counted(findings)[1] == Call(
        id="chatcmpl-062d0d1ead72",
        session="cc5cbde2-7839-43b0-89a5-0df9ba4981f6",
        at=1794766009.005,
        model="fake-model",
        input=200,
        output=34,
        cache_read=1000,
        reasoning=7,
        subagent="managed-auto-memory-extractor",
        project="/home/dev/project",
    )


def test_a_call_that_telemetry_and_answer_report_counts_once() -> None:
    assert tokens(stored(telemetry(), answer())) == {"calls": 1} | SUM
    assert tokens(stored(answer(), telemetry())) == {"calls": 1} | SUM
    assert not any(
        isinstance(each, Call) and each.fallback for each in stored(telemetry(), answer())
    )


def test_answers_count_in_a_file_without_telemetry() -> None:
    findings = stored(line("user", "u1"), answer("a1"), answer("a2"))
    assert [call.id for call in counted(findings)] == ["a1", "a2"]
    assert tokens(findings) == {"calls": 2} | {key: 2 * count for key, count in SUM.items()}


def test_telemetry_of_tools_is_not_a_call() -> None:
    tool = telemetry(**{"event.name": "qwen-code.tool_call"})
    assert tokens(stored(tool, answer())) == {"calls": 1} | SUM


def test_calls_of_a_subagent_count_by_their_telemetry_and_not_by_its_sum() -> None:
    result = line(
        "tool_result",
        "x1",
        toolCallResult={
            "resultDisplay": {
                "type": "task_execution",
                "executionSummary": {"totalTokens": 1234, "inputTokens": 1200},
            }
        },
        usageMetadata={"promptTokenCount": 1200},
    )
    findings = stored(telemetry("r1"), telemetry("r2", subagent_name="looker"), result)
    assert [(call.id, call.subagent) for call in counted(findings)] == [
        ("r1", None),
        ("r2", "looker"),
    ]


def test_telemetry_without_a_response_id_is_identified_by_its_line() -> None:
    findings = stored(telemetry(None, "t1"), telemetry(None, "t2"), telemetry(None, "t1"))
    assert [call.id for call in counted(findings)] == ["t1", "t2"]


def test_the_copies_at_the_beginning_of_a_fork_count_once() -> None:
    copy = {"sessionId": "s2", "forkedFrom": {"sessionId": "s1", "messageUuid": "t1"}}
    fork = stored(telemetry() | copy, telemetry("r2") | {"sessionId": "s2"}, path=FORK)
    assert fork[0] == Session(
        id="s2",
        at=1794766008.708,
        project="/home/dev/app",
        version="0.15.10",
        forked_from="s1",
    )
    assert [call.copied for call in fork if isinstance(call, Call)] == [True, False]
    assert [call.id for call in counted(stored(telemetry()) + fork)] == ["r1", "r2"]


def test_a_line_without_a_time_has_that_of_the_line_before() -> None:
    late = telemetry()
    del late["timestamp"]
    (call,) = counted(stored(line("user", "u1"), late))
    assert call.at == 1794766008.708


def test_a_line_without_a_session_is_of_the_session_that_names_the_file() -> None:
    lost = telemetry()
    del lost["sessionId"]
    (call,) = counted(stored(lost))
    assert call.session == "s1"


def test_a_session_that_changes_its_branch_is_reported_again() -> None:
    findings = stored(line("user", "u1", gitBranch="main"), line("user", "u2", gitBranch="fix"))
    assert [each.branch for each in findings if isinstance(each, Session)] == ["main", "fix"]


def titles(*lines: dict[str, Any]) -> list[str]:
    findings = stored(*lines)
    return [each.title for each in findings if isinstance(each, Session) and each.title]


def prompt(*texts: str | None, **fields: Any) -> dict[str, Any]:
    return line("user", "u1", message={"parts": [{"text": text} for text in texts]}, **fields)


def test_the_title_is_the_first_prompt_of_the_user_or_the_one_that_was_set() -> None:
    titled = line("system", "u1", subtype="custom_title", systemPayload={"customTitle": "My tests"})
    notice = prompt("It is done", subtype="notification")
    first, second = prompt("Fix\nthe", None, "tests"), prompt("And more")
    assert titles(notice, prompt(None), first, second, titled) == ["Fix the tests", "My tests"]
    assert titles(titled, first) == ["My tests"]


def test_an_archived_session_is_read_and_a_file_beside_it_is_not() -> None:
    data = json.dumps(telemetry()).encode()
    assert read(HISTORY, ".qwen/projects/-home-dev-app/chats/archive/s1.jsonl", data)
    assert not read(HISTORY, ".qwen/projects/-home-dev-app/chats/s1.worktree.json", data)


def test_invalid_counts_are_left_out() -> None:
    wrong = telemetry(input_token_count=-1, thoughts_token_count="many")
    assert tokens(stored(wrong)) == {"calls": 1, "output": 34, "cache_read": 1000}


def test_the_results_of_tools_are_passed_over_by_how_they_begin() -> None:
    assert HISTORY.bulk is not None
    before, after = HISTORY.bulk
    lines = [line for _, data in transcripts("qwen") for line in data.splitlines()]
    passed = [line for line in lines if line.partition(before)[2].startswith(after)]
    assert passed == [line for line in lines if json.loads(line)["type"] == "tool_result"] != []
