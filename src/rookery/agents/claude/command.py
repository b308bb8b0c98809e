"""Claude Code's command line: flags, permission modes, standard input, environment."""

import re
import signal
from collections.abc import Mapping, Sequence

import msgspec

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import asks_about_program, fits_argument, options_of, value_of

PROGRAMS = ("claude",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json", "--verbose")
"""Makes it write a message per line; without `--verbose` the CLI refuses `stream-json`."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "ask": ("--input-format", "stream-json", "--permission-prompt-tool", "stdio"),
    "edit": ("--permission-mode", "acceptEdits"),
    "plan": ("--permission-mode", "plan"),
    "all": ("--dangerously-skip-permissions",),
}

# What a Claude Code that we run in would tell its own children; inherited, it makes ours believe
# that it is one of them. Settings such as CLAUDE_CODE_USE_BEDROCK are the user's and stay.
_NESTED = re.compile(
    r"CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|ANTHROPIC_LOG"
    r"|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|SESSION.*|REMOTE.*|CHILD.*|PARENT.*|TASK.*|AGENT.*"
    r"|CONTAINER_ID|EXECPATH|TMPDIR|WORKER.*|MESSAGING_SOCKET)"
)


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; a long prompt goes by standard input.

    So does any prompt of a task that may ask: there standard input is a stream of messages.
    """
    asks = task.permission == "ask"
    by_stdin = asks or not fits_argument(task.prompt)
    flags = [
        *(OUTPUT_FLAGS if task.stream else ()),
        *(("--include-partial-messages",) if task.partial and task.stream else ()),
        *(("--model", task.model) if task.model else ()),
        *_PERMISSIONS[task.permission],
        *(("--max-budget-usd", f"{task.max_cost:g}") if task.max_cost is not None else ()),
        *(("--max-turns", str(task.max_turns)) if task.max_turns is not None else ()),
        *(("--resume", task.resume) if task.resume else ()),
        *(("--allowedTools", *task.allow) if task.allow else ()),
        *task.args,
    ]
    words: list[str] = [] if by_stdin else [task.prompt]
    # Options that take many values would swallow the prompt, and a prompt may look like an option.
    if words and (task.allow or task.args or task.prompt.startswith("-")):
        words.insert(0, "--")
    return Invocation(
        command=("claude", "-p", *flags, *words),
        stdin=_stdin(task) if by_stdin else None,
        keep_stdin_open=asks,
        stop_signal=signal.SIGINT,  # 2.1 writes a result then
    )


def _stdin(task: Task) -> bytes:
    if task.permission != "ask":
        return task.prompt.encode()
    message = {"role": "user", "content": task.prompt}
    return msgspec.json.encode({"type": "user", "message": message}) + b"\n"


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a command line of the user's write messages, right after the program.

    None if it is no `-p`, for that may be anything, or if it asks for an output that is no
    messages: then that is what the user wants.
    """
    options = options_of(command)
    form = value_of(command, "--output-format")
    headless = form is not None or any(word in ("-p", "--print") for word in options)
    if form not in (None, "stream-json", "json") or not headless or asks_about_program(command):
        return None
    added = [*(OUTPUT_FLAGS[:2] if form is None else ())]
    if form != "json" and "--verbose" not in options:
        added.append("--verbose")
    return [command[0], *added, *command[1:]]


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
