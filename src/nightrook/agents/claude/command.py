"""Claude Code's command line: flags, permission modes, stdin and environment."""

import re
import signal
from collections.abc import Mapping, Sequence

import msgspec

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import (
    as_typed,
    asks_about_program,
    option,
    options_of,
    value_of,
)
from nightrook.model.permissions import Permission

PROGRAMS = ("claude",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json", "--verbose")
"""Makes it write one message per line; without `--verbose` it refuses `stream-json`."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "ask": ("--input-format", "stream-json", "--permission-prompt-tool", "stdio"),
    "edit": ("--permission-mode", "acceptEdits"),
    "plan": ("--permission-mode", "plan"),
    "all": ("--dangerously-skip-permissions",),
}

# Variables that an outer Claude Code sets for its children: they would make a new one behave like
# one of them. Settings such as CLAUDE_CODE_USE_BEDROCK are the user's and stay.
_NESTED = re.compile(
    r"CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|ANTHROPIC_LOG"
    r"|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION.*|REMOTE.*|CHILD.*|PARENT.*|TASK.*|AGENT.*"
    r"|CONTAINER_ID|EXECPATH|TMPDIR|WORKER.*|MESSAGING_SOCKET)"
)


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin.

    With the permission `ask`, stdin is a stream of messages.
    """
    asks = task.permission == "ask"
    own = (
        "claude",
        "-p",
        *(OUTPUT_FLAGS if task.stream else ()),
        *(("--include-partial-messages",) if task.partial and task.stream else ()),
        *option("--model", task.model),
        *_PERMISSIONS[task.permission],
        *(("--max-budget-usd", f"{task.max_cost:g}") if task.max_cost is not None else ()),
        *(("--max-turns", str(task.max_turns)) if task.max_turns is not None else ()),
        *option("--resume", task.resume),
        *(f"--allowedTools={rule}" for rule in task.allow),  # guards: rule-one-word
    )
    # Options with several values would consume a prompt, and a prompt may look like an option.
    dashes = ("--",) if task.allow or task.args or task.prompt.startswith("-") else ()
    return Invocation(
        command=(*own, *task.args),  # guards: prompt-off-command-line
        typed=None if asks else as_typed(own, task.args, *dashes, task.prompt),
        stdin=_stdin(task),
        keep_stdin_open=asks,
        stop_signal=signal.SIGINT,  # 2.1 writes a result then
    )


def _stdin(task: Task) -> bytes:
    if task.permission != "ask":
        return task.prompt.encode()
    message = {"role": "user", "content": task.prompt}
    return msgspec.json.encode({"type": "user", "message": message}) + b"\n"


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after the program.

    None if it has no `-p`, or if the user asks for another output format.
    """
    options = options_of(command)
    chosen = value_of(command, "--output-format")
    headless = chosen is not None or any(word in ("-p", "--print") for word in options)
    if chosen not in (None, "stream-json", "json") or not headless or asks_about_program(command):
        return None
    added = [*(OUTPUT_FLAGS[:2] if chosen is None else ())]
    if chosen != "json" and "--verbose" not in options:
        added.append("--verbose")
    return [command[0], *added, *command[1:]]


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
