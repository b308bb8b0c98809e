"""What Kimi Code keeps on disk, and what of it counts."""

import json
from typing import Any

from nightrook.adapter.history import Call, Finding, Session
from nightrook.agents.kimi.history import HISTORY
from tests.agents.histories import counted, read, read_all, tokens, transcript
from tests.rules import each

FOLDER = ".kimi-code/sessions/wd_app_1/session_s1/agents"
USAGE = {"inputOther": 200, "output": 34, "inputCacheRead": 1000, "inputCacheCreation": 5}


def usage(model: str | None = "fast", **fields: Any) -> dict[str, Any]:
    return {"type": "usage.record", "model": model, "usage": USAGE, "time": 1794766596133} | fields


def request(model: str, alias: str | None = "fast") -> dict[str, Any]:
    return {"type": "llm.request", "model": model, "modelAlias": alias, "time": 1794766595824}


def stored(*lines: dict[str, Any], agent: str = "main") -> list[Finding]:
    data = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    return read(HISTORY, f"{FOLDER}/{agent}/wire.jsonl", data)


@each(("name", "calls"), [("text", 1), ("thinking", 1), ("shell_ok", 2)])
def test_a_transcript_has_the_tokens_that_the_model_reported(name: str, calls: int) -> None:
    assert tokens(read_all(HISTORY, transcript("kimi", name))) == {
        "calls": calls,
        "input": 200 * calls,
        "output": 34 * calls,
        "cache_read": 1000 * calls,
    }


def test_a_session_has_its_id_project_and_title() -> None:
    session = "session_2b8ea26a-eb33-4420-b283-864023dea1ca"
    assert read_all(HISTORY, transcript("kimi", "thinking")) == [
        Session(id=session, at=1794766595.472, project="/home/dev/project"),
        Session(id=session, at=1794766595.598, title="Do the thing"),
        Call(
            id=f"{session}/main/1",
            session=session,
            at=1794766596.133,
            model="fake-model",
            input=200,
            output=34,
            cache_read=1000,
            project="/home/dev/project",
        ),
    ]


def test_equal_records_are_different_calls() -> None:
    assert [call.id for call in counted(stored(usage(), usage()))] == [
        "session_s1/main/1",
        "session_s1/main/2",
    ]


def test_a_file_that_is_read_twice_counts_once() -> None:
    assert len(counted(stored(usage(), usage()) + stored(usage(), usage()))) == 2


def test_repetitions_of_usage_are_not_calls() -> None:
    findings = stored(
        usage(),
        {"type": "context.append_loop_event", "event": {"type": "step.end", "usage": USAGE}},
        {"type": "agent.message.appended", "message": {"meta": {"usage": USAGE}}},
        {"type": "subagent.completed", "usage": USAGE, "time": 1794766597000},
    )
    assert len(counted(findings)) == 1


def test_the_model_is_the_one_that_the_request_before_names() -> None:
    findings = stored(
        request("kimi-k2"),
        usage(),
        request("kimi-k3"),
        usage(),
        request("other", "slow"),
        usage(),
        usage("unknown"),
    )
    models = [call.model for call in counted(findings)]
    assert models == ["kimi-k2", "kimi-k3", "kimi-k3", "unknown"]


def test_a_request_without_an_alias_names_the_model_as_well() -> None:
    findings = stored(usage(None), request("kimi-k2", None), usage())
    assert [call.model for call in counted(findings)] == [None, "kimi-k2"]


def test_a_subagent_has_its_own_file_and_the_name_of_its_profile() -> None:
    profile = {"type": "profile.bind", "profileName": "explore", "time": 1794766595472}
    findings = stored(usage()) + stored(profile, usage(), agent="a1") + stored(usage(), agent="a2")
    assert [(call.id, call.session, call.subagent) for call in counted(findings)] == [
        ("session_s1/main/1", "session_s1", None),
        ("session_s1/a1/1", "session_s1", "explore"),
        ("session_s1/a2/1", "session_s1", "a2"),
    ]


def test_the_title_is_the_first_prompt_of_the_user() -> None:
    def prompt(*texts: str | None) -> dict[str, Any]:
        parts = [{"type": "text", "text": text} for text in texts]
        return {"type": "turn.prompt", "input": parts, "time": 1794766595598}

    findings = stored(prompt(None), prompt("Fix\nthe", "tests"), prompt("And more"))
    assert findings == [Session(id="session_s1", at=1794766595.598, title="Fix the tests")]
    assert stored(prompt("A task"), agent="a1") == []


def test_a_line_without_a_time_has_that_of_the_line_before() -> None:
    late = usage()
    del late["time"]
    (call,) = counted(stored(request("kimi-k2"), late))
    assert call.at == 1794766595.824


def test_a_record_without_usage_keeps_its_place() -> None:
    findings = stored(usage(usage=None), usage())
    assert [call.id for call in counted(findings)] == ["session_s1/main/2"]


def test_invalid_counts_are_left_out() -> None:
    findings = stored(usage(usage=USAGE | {"inputOther": -1, "output": "many"}))
    assert tokens(findings) == {"calls": 1, "cache_read": 1000, "cache_write_5m": 5}
