"""What is special about Copilot's stream: one envelope, subagents by id, the session at the end."""

from pathlib import Path

import pytest

import nightrook
from nightrook.adapter.agent import Replacement
from nightrook.agents import agent, detect
from nightrook.agents.copilot import tools
from nightrook.agents.copilot.adapter import recognises
from nightrook.agents.copilot.reader import read_error
from nightrook.agents.copilot.shapes import ErrorData
from nightrook.model.answer import final_text
from nightrook.model.events import (
    Event,
    PermissionDenied,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
)
from nightrook.model.fold import fold
from nightrook.model.permissions import PERMIT_ALL
from nightrook.model.verdict import judge
from tests.recorded import cases, folded, messages, name_of, results
from tests.rules import each

STREAMS = cases("copilot")
WHOLE = [path for path in STREAMS if not name_of(path).startswith("output_limit")]


def events(path: Path) -> list[Event]:
    return [record.event for record in nightrook.decode(path, agent="copilot")]


def case(name: str) -> Path:
    (path,) = [path for path in cases("copilot") if name_of(path).startswith(f"{name}-")]
    return path


@each("path", [path for path in STREAMS if results(path)], ids=name_of)
def test_the_session_is_that_of_the_result_and_tokens_are_unknown(path: Path) -> None:
    state = folded(path)
    assert state.session == results(path)[-1]["sessionId"]
    assert state.ledger.has_usage == (name_of(path) == "noise-and-news")
    assert state.ledger.cost.usd is None


@each("path", WHOLE, ids=name_of)
def test_every_whole_text_is_reported_and_the_last_one_is_the_answer(path: Path) -> None:
    said = [
        (message["data"]["content"], message.get("agentId"))
        for message in messages(path)
        if message.get("type") == "assistant.message" and message["data"]["content"]
    ]
    found = [event for event in events(path) if isinstance(event, Text)]
    if name_of(path).startswith(("sigint", "sigterm_text")):
        assert said == []  # what it had written when it was interrupted is a text, too
        assert len(found) == 1
        return
    assert [event.text for event in found] == [text for text, _ in said]
    assert [event.parent is not None for event in found] == [bool(of) for _, of in said]
    state = folded(path)
    if state.results and state.results[-1].ok:
        assert final_text(state) == [text for text, of in said if not of][-1]


@each("path", STREAMS, ids=name_of)
def test_a_command_that_failed_is_an_error_with_its_exit_code(path: Path) -> None:
    codes = {
        message["data"]["toolCallId"]: message["data"]["shellExecution"]["exitCode"]
        for message in messages(path)
        if message.get("type") == "tool.execution_complete" and "shellExecution" in message["data"]
    }
    found = {event.id: event for event in events(path) if isinstance(event, ToolFinished)}
    assert {id: found[id].exit_code for id in codes} == codes
    assert {id for id in codes if codes[id]} <= {
        id for id, event in found.items() if event.status == "error"
    }


def test_a_denied_call_names_the_rule_that_would_allow_it() -> None:
    denied = [event for event in events(case("perm_denied")) if isinstance(event, PermissionDenied)]
    assert [event.fix for event in denied] == ["shell(touch)", "write"]
    planned = [event for event in events(case("plan")) if isinstance(event, PermissionDenied)]
    assert [event.fix for event in planned] == [None, None]


def test_only_the_code_of_an_error_makes_it_a_denial() -> None:
    wire = case("plan").read_bytes()
    assert wire.count(b'"code":"denied"') == 2
    changed = wire.replace(b'"code":"denied"', b'"code":"failure"')
    found = [record.event for record in nightrook.decode([changed], agent="copilot")]
    ended = [event.status for event in found if isinstance(event, ToolFinished)]
    assert (ended.count("error"), ended.count("denied")) == (2, 0)


@pytest.mark.parametrize(
    ("started", "rule"),
    [
        (None, PERMIT_ALL),
        (
            ToolStarted(id="a", name="bash", kind="execute", title="git push origin"),
            "shell(git push)",
        ),
        (ToolStarted(id="a", name="bash", kind="execute", title="make test"), "shell(make)"),
        (ToolStarted(id="a", name="bash", kind="execute", title="cd x && rm y"), "shell"),
        (ToolStarted(id="a", name="bash", kind="execute"), "shell"),
        (ToolStarted(id="a", name="edit", kind="edit"), "write"),
        (ToolStarted(id="a", name="web_fetch", kind="fetch"), PERMIT_ALL),
        (
            ToolStarted(id="a", name="t-echo", kind="other", server="t", tool="echo"),
            "t(echo)",
        ),
        (ToolStarted(id="a", name="t-echo", kind="other", server="t"), "t"),
    ],
)
def test_a_rule_is_as_narrow_as_is_certain(started: ToolStarted | None, rule: str) -> None:
    assert tools.rule(started) == rule


@pytest.mark.parametrize(
    ("type", "status", "kind"),
    [
        ("authentication", 401, "auth"),
        ("quota", 402, "quota"),
        ("rate_limit", 429, "rate"),
        ("context_limit", 400, "context"),
        ("query", 400, "config"),
        ("query", 503, "overload"),
        ("query", None, "internal"),
    ],
)
def test_an_error_has_the_kind_of_its_type_or_status(
    type: str, status: int | None, kind: str
) -> None:
    found = read_error(ErrorData(error_type=type, message="no", status_code=status))
    assert (found.kind, found.needs_payment) == (kind, True if status == 402 else None)


@pytest.mark.parametrize(
    ("code", "status"),
    [(b"0", "success"), (b"1", "failed"), (b'"1"', "failed"), (b"null", "failed")],
)
def test_only_the_exit_code_0_is_a_success(code: bytes, status: str) -> None:
    wire = case("text").read_bytes()
    assert wire.count(b'"exitCode":0') == 1
    changed = wire.replace(b'"exitCode":0', b'"exitCode":' + code)
    assert judge(fold(nightrook.decode([changed], agent="copilot"))).status == status


def test_an_interrupted_run_has_no_session() -> None:
    started = [e for e in events(case("sigterm_tool")) if isinstance(e, SessionStarted)]
    assert started == [SessionStarted(model="scripted")]


@each("path", [path for path in STREAMS if path.read_bytes()], ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "copilot"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "result", "session_id": "a", "exitCode": 0},
        {"type": "user.message", "data": {}},
        {"type": "thread.started", "thread_id": "a"},
        {"type": ["abort"], "data": {}, "id": "a", "timestamp": "b", "parentId": "c"},
    ],
)
def test_messages_of_others_are_not_its_own(message: dict[str, object]) -> None:
    assert not recognises(message)


def test_the_text_of_an_edit_is_read_from_its_call() -> None:
    found: dict[str, tuple[Replacement, ...]] = {}
    for path in cases("copilot"):
        for event in events(path):
            if isinstance(event, ToolStarted):
                found.setdefault(event.name, agent("copilot").replacements(event))
    assert found["edit"] == (Replacement("return a - b", "return a + b"),)
    assert found["create"][0].before == ""
    assert found["view"] == found["apply_patch"] == ()
