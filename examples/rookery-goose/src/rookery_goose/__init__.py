"""Goose for Rookery: its command line, and the one object that makes it known."""

import signal
from collections.abc import Mapping, Sequence

from rookery.core.agent import Agent, Capabilities, Invocation, Permission, Task
from rookery.core.errors import RookeryError
from rookery_goose.wire import decoder, recognises

FLAGS = ("-q", "--output-format", "stream-json")
MODES: Mapping[Permission, str] = {"all": "auto", "edit": "smart_approve", "plan": "chat"}


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; the prompt goes by standard input."""
    if task.allow:
        raise RookeryError("goose takes no rules for single tools: use --permission")
    model = {"GOOSE_MODEL": task.model} if task.model else {}
    mode = {"GOOSE_MODE": MODES[task.permission]} if task.permission in MODES else {}
    turns = ("--max-turns", str(task.max_turns)) if task.max_turns else ()
    resume = ("-r", "--session-id", task.resume) if task.resume else ()
    output = FLAGS if task.stream else ("-q",)
    return Invocation(
        command=("goose", "run", *output, *turns, *resume, *task.args, "-i", "-"),
        stdin=task.prompt.encode(),
        ask_signal=signal.SIGINT,  # it writes an error that says so
        environment={**model, **mode},
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a `goose run` of the user's write messages."""
    if list(command[1:2]) != ["run"]:
        return None
    if "--output-format" in command:
        return list(command) if "stream-json" in command else None
    return [*command[:2], *FLAGS[1:], *command[2:]]


AGENT = Agent(
    name="goose",
    programs=("goose",),
    install="npm install -g @aaif/goose",
    output_flags=FLAGS,
    checked_versions=("1.52.0",),
    capabilities=Capabilities(
        deltas="yes", thinking="yes", subagents="no", usage="partly", cost="no",
        denials="no", exit_codes="yes", resume="partly", end_event="partly",
        notes=("Tokens are the session's, told at the end. The session's name is not told.",),
    ),
    evidence="recordings",
    decoder=decoder,
    recognises=recognises,
    invoke=invoke,
    with_output_flags=with_output_flags,
    keeps_variable=lambda name: name != "GOOSE_SESSION_ID",
)  # fmt: skip
