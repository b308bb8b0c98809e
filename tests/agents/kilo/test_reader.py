"""What Kilo CLI's messages mean, beyond the recorded cases and what other agents write too."""

import json
from typing import Any

import nightrook
from nightrook.agents import detect
from nightrook.model.events import Error, PermissionDenied, ToolStarted
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.recorded import cases, name_of

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
