"""Kilo CLI: what differs from OpenCode in its command line, its messages and its store."""

import json
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook import agents
from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.history import Call, Session
from nightrook.agents import detect
from nightrook.agents.opencode.command import invoke_kilo, kilo_keeps_variable
from nightrook.agents.opencode.history import KILO_HISTORY
from nightrook.model.events import Error, PermissionDenied, ToolStarted
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.agents.histories import place_of, tokens
from tests.agents.stores import answer, findings, step, store_of, unpacked
from tests.recorded import cases, name_of

OUTPUT = ("--format", "json", "--thinking")


def test_a_plain_task_goes_to_stdin_and_never_to_a_daemon() -> None:
    assert invoke_kilo(Task(prompt='Say "hi" now')) == Invocation(
        command=("kilo", "run", *OUTPUT, "--title="),
        typed=("kilo", "run", *OUTPUT, "--title=", 'Say "hi" now'),
        stdin=b'Say "hi" now',
        environment={"KILO_NO_DAEMON": "1"},
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="openrouter/x",
        permission="all",
        resume="ses_1",
        args=("--variant", "high"),
    )
    assert invoke_kilo(task).command == (
        *("kilo", "run", *OUTPUT, "--model=openrouter/x", "--auto", "--session=ses_1"),
        *("--variant", "high"),
    )


def test_rules_have_a_variable_of_their_own() -> None:
    given = invoke_kilo(Task(prompt="go", permission="edit", allow=("bash(git *)",))).environment
    rules = json.loads(given["KILO_PERMISSION"])
    assert (rules["* *"], rules["edit *"], rules["bash *"]) == ("deny", "allow", {"git *": "allow"})
    assert given["KILO_NO_DAEMON"] == "1"


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["KILO", "KILO_PID", "KILO_PROCESS_ROLE", "KILO_BACKGROUND_PROCESS_ID", "PWD"]
    kept = ["PATH", "HOME", "KILO_CONFIG", "KILO_API_KEY", "KILO_PERMISSION", "KILO_ORG_ID"]
    assert [name for name in dropped + kept if kilo_keeps_variable(name)] == kept


def test_both_of_its_programs_are_known() -> None:
    for program in ("kilo", "/usr/bin/kilocode"):
        known = agents.agent_for(program)
        assert known is not None
        assert known.name == "kilo"


Json = dict[str, Any]
REJECTED = "run ended with an auto-rejected permission; pass --auto for autonomous use"


def message(type: str, /, **part: Any) -> Json:
    return {"type": type, "timestamp": 1, "sessionID": "ses_1", "part": part}


def finish(reason: str) -> Json:
    tokens = {"total": 10, "input": 7, "output": 3, "reasoning": 0, "cache": {}}
    return message("step_finish", id="e", messageID="m", reason=reason, cost=0.1, tokens=tokens)


def error(what: str | Json) -> Json:
    return {"type": "error", "timestamp": 1, "sessionID": "ses_1", "error": what}


def records(*stream: Json) -> list[nightrook.Record]:
    decoder = nightrook.decoder("kilo")
    wire = "".join(json.dumps(line) + "\n" for line in stream).encode()
    return decoder.feed(wire) + decoder.close()


def test_its_streams_are_told_apart_by_what_only_it_writes() -> None:
    names = {name_of(path): detect(path.read_bytes()) for path in cases("kilo")}
    detected = {name: found.name for name, found in names.items() if found is not None}
    alike = {name for name, agent in detected.items() if agent == "opencode"}
    assert alike == {
        *("api_401-7.7.9", "api_500-7.7.9", "cut_close-7.7.9"),
        *("sigint_direct_text-7.7.9", "sigint_tool-7.7.9", "sigterm_tool-7.7.9"),
    }
    assert set(detected.values()) == {"kilo", "opencode"}
    for line in (b'{"type":["x"]}', b'{"type":"text","sessionID":1}', b'{"type":"error"}'):
        assert detect(line) is None


def test_an_error_that_is_only_text_is_a_failure_with_its_words() -> None:
    told = records(message("step_start", id="s", messageID="m"), error("no such session"))
    assert [r.event for r in told if isinstance(r.event, Error)] == [
        Error(kind="internal", message="no such session")
    ]
    verdict = judge(fold(told))
    assert (verdict.status, verdict.sentence) == ("failed", "no such session")


def test_a_call_of_a_subagent_that_was_rejected_is_a_denial_though_it_is_not_reported() -> None:
    said = message("text", id="t", messageID="m", text="I could not.")
    told = records(message("step_start", id="s", messageID="m"), said, finish("stop"))
    assert judge(fold(told)).status == "success"
    told = records(
        message("step_start", id="s", messageID="m"), said, finish("stop"), error(REJECTED)
    )
    verdict = judge(fold(told))
    assert verdict.status == "denied"
    assert not any(isinstance(record.event, PermissionDenied) for record in told)


def test_a_tool_that_it_does_not_offer_is_denied_only_if_it_usually_does() -> None:
    text = "Model tried to call unavailable tool '{}'. Available tools: glob, read."
    for tool, denied in (("bash", True), ("invented", False)):
        state = {"status": "error", "input": {}, "error": text.format(tool)}
        told = records(message("tool_use", id="p", tool=tool, callID="c", state=state))
        assert any(isinstance(r.event, PermissionDenied) for r in told) == denied


def test_its_own_tools_have_kinds() -> None:
    state = {"status": "completed", "input": {"command": "npm start"}, "output": "", "title": ""}
    told = records(message("tool_use", id="p", tool="background_process", state=state))
    started = next(r.event for r in told if isinstance(r.event, ToolStarted))
    assert (started.kind, started.title) == ("execute", "npm start")


SUMS = {"calls": 2, "input": 400, "output": 68, "cache_read": 2000, "reasoning": 14}
"""Of two answers of the scripted model, of 1200 tokens with 1000 cached, and 34 with 7 thoughts."""


@pytest.mark.parametrize("case", ["shell_ok", "two_turn_resume"])
def test_a_store_has_what_the_model_reported(case: str, tmp_path: Path) -> None:
    found = findings(KILO_HISTORY, unpacked("kilo", case, tmp_path))
    assert tokens(found) == SUMS
    calls = [call for call in found if isinstance(call, Call)]
    assert {(call.model, call.cost_usd, call.subagent) for call in calls} == {
        ("fake-model", 0.000368, None)
    }


def test_a_session_has_its_facts(tmp_path: Path) -> None:
    found = findings(KILO_HISTORY, unpacked("kilo", "shell_ok", tmp_path))
    assert found[0] == Session(
        id="ses_e1c99f10affe8J2x1rAcsG76Io",
        at=1794816550.702,
        project="/home/dev/cap/w/others/work/kilo/shell_ok",
        title="New session - 2026-11-16T08:07:58.973Z",
    )


def test_the_cost_of_a_subagent_in_the_message_that_called_it_does_not_count(
    tmp_path: Path,
) -> None:
    store = store_of(
        tmp_path / "kilo.db",
        ("parent", "m1", answer(cost=0.001104), [step(cost=0.000368)]),
        ("parent", "m2", answer(cost=0.001104), []),
        ("child", "m3", answer(cost=0.000736), [step(cost=0.000736)]),
    )
    calls = [call for call in findings(KILO_HISTORY, store) if isinstance(call, Call)]
    assert sorted((call.session, call.cost_usd) for call in calls if call.cost_usd) == [
        ("child", 0.000736),
        ("parent", 0.000368),
    ]
    assert len(calls) == 3


def test_only_its_database_is_read() -> None:
    assert place_of(KILO_HISTORY, ".local/share/kilo/kilo.db") is not None
    assert place_of(KILO_HISTORY, ".local/share/kilo/kilo.db-wal") is None
