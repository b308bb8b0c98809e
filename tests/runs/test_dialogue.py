"""An agent that asks is answered: by a function, by nobody, in time or not at all."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook import Ask, Decision, agents
from nightrook.adapter.agent import ControlChannel
from nightrook.model.errors import NightrookError
from nightrook.model.events import Event, PermissionDenied, PermissionRequested, ToolFinished
from nightrook.model.records import Record
from nightrook.runs.dialogue import Dialogue, OnPermission
from nightrook.runs.run import Run
from nightrook.store import decisions
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo
from nightrook.story.tail import log_size
from tests.runs.scripted import make, play

ALLOWED = "ran: rm -r build"


def stdin_of(run: Run) -> list[dict[str, Any]]:
    """What was said to the agent."""
    lines = (run.folder.path / "stdin.raw").read_text().split("\n")
    return [json.loads(line) for line in lines if line]


def decided(run: Run) -> list[Decision]:
    return [one.decision for one in decisions.read(run.folder).values()]


async def yes(ask: Ask) -> Decision:
    return Decision(allow=True)


def test_a_function_can_answer_what_an_agent_asks(tmp_path: Path) -> None:
    seen: list[Ask] = []

    async def answer(ask: Ask) -> Decision:
        seen.append(ask)
        return Decision(allow=True)

    run = play(tmp_path, "ask-permission", permission="ask", on_permission=answer)
    assert run.exit_code == 0
    (ask,) = seen
    assert (ask.name, ask.title, ask.purpose) == ("Bash", "rm -r build", "Ask first")
    assert ask.seq is not None
    assert ALLOWED.encode() in run.stdout()
    assert decided(run) == [Decision(allow=True, by="program")]


def test_what_is_said_to_the_agent_is_kept_byte_for_byte_and_private(tmp_path: Path) -> None:
    prompt = "Fix\n\u2028 the “tests”"
    run = play(tmp_path, "ask-permission", permission="ask", on_permission=yes, prompt=prompt)
    first, answer = stdin_of(run)
    assert first == {"type": "user", "message": {"role": "user", "content": prompt}}
    assert answer["response"]["response"]["behavior"] == "allow"
    assert (run.folder.path / "stdin.raw").stat().st_mode & 0o777 == 0o600


def test_a_prompt_larger_than_a_pipe_reaches_an_agent_that_reads_late(tmp_path: Path) -> None:
    prompt = "x" * 1_000_000
    run = play(tmp_path, "say=hi", permission="ask", on_permission=yes, prompt=prompt)
    assert run.exit_code == 0
    assert stdin_of(run)[0]["message"]["content"] == prompt


def test_without_anybody_to_answer_nothing_is_allowed(tmp_path: Path) -> None:
    run = play(tmp_path, "ask-permission", permission="ask")
    assert run.exit_code == 4
    assert b"No user is available to approve this." in run.stdout()
    assert decided(run) == [Decision(allow=False, by="nobody")]


ELICITS = """
import json, sys
def say(**message): print(json.dumps(message), flush=True)
sys.stdin.readline()
say(type="system", subtype="init", session_id="s", model="m")
say(type="control_request", request_id="1", request={"subtype": "elicitation", "message": "Key?"})
sys.stdin.readline()
text = {"type": "text", "text": "Done."}
say(type="assistant", message={"id": "m", "content": [text], "stop_reason": "end_turn"})
say(type="result", subtype="success", is_error=False, result="Done.", stop_reason="end_turn")
sys.stdin.read()
"""


def test_what_no_person_can_answer_is_denied_without_a_question(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(ELICITS)
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S {tmp_path}/agent.py\n")
    program.chmod(0o755)
    asked: list[Ask] = []

    async def answer(ask: Ask) -> Decision:
        asked.append(ask)
        return Decision(allow=True)

    run = play(tmp_path, "", permission="ask", on_permission=answer)
    assert (run.exit_code, asked) == (0, [])
    assert decided(run) == [Decision(allow=False, by="nobody")]
    assert stdin_of(run)[1]["response"]["subtype"] == "error"


def test_an_answer_that_does_not_come_in_time_is_no(tmp_path: Path) -> None:
    cancelled: list[bool] = []

    async def never(ask: Ask) -> Decision:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        raise AssertionError

    run = play(tmp_path, "ask-permission", permission="ask", on_permission=never, ask_timeout=0.2)
    assert run.exit_code == 4
    assert cancelled == [True]
    assert decided(run) == [Decision(allow=False, by="timeout")]


def test_a_function_that_fails_allows_nothing_and_is_told_of(tmp_path: Path) -> None:
    told: list[Any] = []

    async def listen(run: Run) -> None:
        handler = asyncio.get_running_loop().set_exception_handler
        handler(lambda _, context: told.append(context["exception"]))

    async def fails(ask: Ask) -> Decision:
        raise ZeroDivisionError

    run = play(tmp_path, "ask-permission", listen, permission="ask", on_permission=fails)
    assert run.exit_code == 4
    assert [type(error) for error in told] == [ZeroDivisionError]


def test_a_person_who_thinks_is_not_a_silence_of_the_agent(tmp_path: Path) -> None:
    async def slowly(ask: Ask) -> Decision:
        await asyncio.sleep(1.5)  # what is tested is that time passes
        return Decision(allow=True)

    run = play(tmp_path, "ask-permission", permission="ask", on_permission=slowly, idle_timeout=0.5)
    assert run.exit_code == 0, run.verdict


def test_what_was_answered_is_not_waited_for_any_more(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def answer(ask: Ask) -> Decision:
        asyncio.get_running_loop().call_soon(lambda: seen.append(going.state.asked))
        seen.append(going.state.asked)
        return Decision(allow=True)

    async def whole() -> None:
        async with going:
            await going.wait()

    going = make(tmp_path, "ask-permission", permission="ask", on_permission=answer)
    asyncio.run(whole())
    assert [asked is None for asked in seen] == [False, True]


def test_stopping_a_run_ends_the_question(tmp_path: Path) -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def never(ask: Ask) -> Decision:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError

    async def stop(run: Run) -> None:
        await asked.wait()
        run.stop()
        await ended.wait()

    run = play(
        tmp_path, "ask-permission sigint-result", stop, permission="ask", on_permission=never
    )
    assert run.exit_code == 130
    assert decided(run) == []
    _, interrupt = stdin_of(run)
    assert interrupt["request"] == {"subtype": "interrupt"}


def test_the_one_who_is_asked_can_stop_the_run(tmp_path: Path) -> None:
    async def stop(ask: Ask) -> Decision:
        going.stop()
        await asyncio.Event().wait()
        raise AssertionError

    async def whole() -> None:
        async with going:
            await going.wait()

    script = "ask-permission sigint-result"
    going = make(tmp_path, script, permission="ask", on_permission=stop)
    asyncio.run(whole())
    assert going.exit_code == 130
    assert decided(going) == []


def test_the_agent_ends_by_itself_when_it_has_nothing_more_to_ask(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi", permission="ask", on_permission=yes)
    exit = run.folder.exit()
    assert exit is not None
    assert (exit.exit_code, exit.stopped_for) == (0, None)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_run_leaves_no_pipe_open(tmp_path: Path) -> None:
    play(tmp_path, "say=hi", permission="ask", on_permission=yes)  # some are opened once and kept
    before = open_files()
    play(tmp_path, "ask-permission", permission="ask", on_permission=yes)
    assert open_files() == before


def test_a_run_that_cannot_be_recorded_leaves_no_pipe_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails() -> None:
        async with make(tmp_path, "say=hi", permission="ask"):
            raise AssertionError

    before = open_files()
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(NightrookError, match=r"the recorder cannot start: .*/nowhere/python"):
        asyncio.run(fails())
    assert open_files() == before


class Wire:
    """A dialogue, and what an agent wrote in it so far; nobody reads what it is answered."""

    def __init__(self, home: Path, answer: OnPermission) -> None:
        self.folder = create_run(home, RunInfo(command=["x"], cwd="/", started_at=0.0))
        self.dialogue = Dialogue(control(), answer, None)
        self.dialogue.begin(self.folder, b"")
        self._seq = 0

    def ask(self, id: str, command: str, **more: Any) -> None:
        input = {"command": command, **more}
        request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": input}
        told = {"type": "control_request", "request_id": id, "request": request}
        line = json.dumps(told).encode() + b"\n"
        offset = log_size(self.folder.path, "stdout")
        file = self.folder.open_log("stdout")
        os.write(file, line)
        os.close(file)
        self.tell(PermissionRequested(id=id, tool_id=f"tool-{id}"), offset, len(line))

    def tell(self, event: Event, offset: int = 0, length: int = 0) -> None:
        self._seq += 1
        record = Record(self._seq, None, offset, length, event)
        self.dialogue.take(record, lambda _: None)


def control() -> ControlChannel:
    found = agents.agent("claude").control
    assert found is not None
    return found


def test_what_is_asked_at_once_and_is_always_allowed_with_another_is_not_asked(
    tmp_path: Path,
) -> None:
    async def first(ask: Ask) -> Decision:
        if ask.id != "1":
            await asyncio.Event().wait()
        return Decision(allow=True, always=True)

    async def whole() -> list[tuple[str, bool, str]]:
        wire = Wire(tmp_path, first)
        for id, command in (("1", "ls"), ("2", "ls"), ("3", "rm")):
            wire.ask(id, command)
        async with asyncio.timeout(30):
            while len(decisions.read(wire.folder)) < 2:
                await asyncio.sleep(0)
        assert wire.dialogue.waits
        wire.ask("4", "ls")
        await wire.dialogue.close()
        found = decisions.read(wire.folder)
        return [(id, one.decision.allow, one.decision.by) for id, one in found.items()]

    told = asyncio.run(whole())
    assert told == [("1", True, "program"), ("2", True, "rule"), ("4", True, "rule")]


def test_always_does_not_cover_the_same_command_under_other_conditions(tmp_path: Path) -> None:
    asked: list[str] = []

    async def always(ask: Ask) -> Decision:
        asked.append(ask.id)
        return Decision(allow=True, always=True)

    async def whole() -> None:
        wire = Wire(tmp_path, always)
        calls: list[dict[str, Any]] = [
            {},
            {"description": "harmless"},  # the same call in other words
            {"dangerouslyDisableSandbox": True},
        ]
        for number, more in enumerate(calls, 1):
            wire.ask(str(number), "ls", **more)
            async with asyncio.timeout(30):
                while wire.dialogue.waits:
                    await asyncio.sleep(0)
        await wire.dialogue.close()

    asyncio.run(whole())
    assert asked == ["1", "3"]


def test_what_settles_itself_is_asked_no_longer(tmp_path: Path) -> None:
    cancelled: list[str] = []

    async def never(ask: Ask) -> Decision:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(ask.id)
        raise AssertionError

    async def whole() -> None:
        wire = Wire(tmp_path, never)
        for id in ("1", "2", "3"):
            wire.ask(id, "ls")
        await asyncio.sleep(0)
        wire.tell(ToolFinished(id="tool-1", status="ok"))
        wire.tell(PermissionDenied(tool_id="tool-3"))
        await asyncio.sleep(0.01)
        assert cancelled == ["1", "3"]
        await wire.dialogue.close()
        assert decisions.read(wire.folder) == {}

    asyncio.run(whole())
    assert cancelled == ["1", "3", "2"]


def test_plain_text_cannot_be_answered(tmp_path: Path) -> None:
    with pytest.raises(NightrookError, match="plain text cannot be answered"):
        nightrook.run("claude", "x", permission="ask", stream=False)
