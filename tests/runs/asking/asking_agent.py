"""An agent that asks what a test wants, and a run of it."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nightrook
from nightrook.model.questions import ClosedQuestion, Decision, OpenQuestion
from nightrook.runs.asking import client
from nightrook.runs.run import Run
from nightrook.store import decisions
from nightrook.store.run_folder import RunFolder

_AGENT = """
import json, os, subprocess, sys
def say(**message): print(json.dumps(message), flush=True)
def ask(number, request):
    call = {"type": "tool_use", "id": f"call-{number}", "name": request["tool_name"],
        "input": request["input"]}
    say(type="assistant", message={"id": f"m{number}", "content": [call]})
    say(type="control_request", request_id=f"ask-{number}",
        request={"subtype": "can_use_tool", "tool_use_id": f"call-{number}", **request})
def answered():
    response = json.loads(sys.stdin.readline())["response"]
    answer, number = response["response"], response["request_id"].removeprefix("ask-")
    result = {"type": "tool_result", "tool_use_id": f"call-{number}",
        "content": json.dumps(answer), "is_error": answer["behavior"] != "allow"}
    say(type="user", message={"role": "user", "content": [result]})
with open(os.environ["STEPS"]) as file: steps = json.load(file)
sys.stdin.readline()
say(type="system", subtype="init", session_id="s", model="m", claude_code_version="2.1.325")
for number, step in enumerate(steps):
    if "run" in step:
        done = subprocess.run(step["run"], capture_output=True, text=True)
        say(type="assistant", message={"id": f"m{number}", "content": [
            {"type": "text", "text": done.stdout + done.stderr}]})
    elif "together" in step:
        for n, request in enumerate(step["together"]): ask(f"{number}.{n}", request)
        for request in step["together"]: answered()
    else:
        ask(step.pop("id", number), step)
        if "meanwhile" in step: subprocess.Popen(step["meanwhile"])
        answered()
say(type="assistant", message={"id": "m", "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn"})
say(type="result", subtype="success", is_error=False, result="Done.", stop_reason="end_turn")
sys.stdin.read()
"""


def command(text: str = "rm -r build") -> dict[str, Any]:
    """A request to run a command."""
    return {"tool_name": "Bash", "input": {"command": text, "description": "clean"}}


def install(folder: Path) -> str:
    """Put the agent into a folder, and return its path."""
    (folder / "agent.py").write_text(_AGENT)
    program = folder / "claude"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {folder}/agent.py "$@"\n')
    program.chmod(0o755)
    return str(program)


def make(folder: Path, *steps: dict[str, Any], **options: Any) -> Run:
    """A run of the agent that waits for other processes to decide."""
    (folder / "steps.json").write_text(json.dumps(steps))
    made: Run = nightrook.run(
        "claude",
        "Clean up",
        cwd=folder,
        home=folder / "home",
        program=install(folder),
        permission="ask",
        env={"STEPS": str(folder / "steps.json")},
        **options,
    )
    made.others.waited_for = True
    return made


def play(
    run: Run, during: Callable[[RunFolder], Awaitable[None]], *, patience_s: float = 60.0
) -> Run:
    """Run to the end, doing something meanwhile."""

    async def whole() -> None:
        async with asyncio.timeout(patience_s), run:
            await during(run.folder)
            await run.wait()

    asyncio.run(whole())
    return run


async def first_question(folder: RunFolder) -> OpenQuestion:
    """Wait for a question of a run."""
    async with client.watching(folder) as changes:
        async for change in changes:
            match change:
                case client.Listed(questions=(question, *_)) | client.Opened(question=question):
                    return question
    raise AssertionError("the run asked nothing")


def yes(**more: Any) -> Decision:
    """A person's yes from a test."""
    return Decision(allow=True, by="person", through="test", **more)


def decided(folder: RunFolder) -> list[Decision]:
    """The decisions that were recorded, in order; each line counts."""
    text = (folder.path / "decisions.jsonl").read_text()
    assert len(text.splitlines()) == len(decisions.read(folder))
    return [one.decision for one in decisions.read(folder).values()]


def without_time(closed: ClosedQuestion | None) -> tuple[str, Decision | None] | None:
    """A closed question, but for when it was closed."""
    return None if closed is None else (closed.id, closed.decision)
