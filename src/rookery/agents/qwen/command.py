"""Qwen Code's command line: flags, approval modes, standard input, environment."""

import re
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import needs_stdin, options_of, permission_of, with_format

PROGRAMS = ("qwen",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes it write a message per line."""

_PROMPTS = ("-p", "--prompt")
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--approval-mode", "auto-edit"),
    "plan": ("--approval-mode", "plan"),
    "all": ("--approval-mode", "yolo"),
}

# Else the program may start itself once more, and the process that we know only waits.
_ENVIRONMENT = {"QWEN_CODE_NO_RELAUNCH": "true"}

# What a Qwen Code that we run in tells its own children. Settings and keys are the user's.
_NESTED = re.compile(
    r"QWEN_CODE|QWEN_CODE_("
    r"AGENT_ID|CLI|ENTRYPOINT|IDE_.*|LAUNCHER_(PATH|PID)|MANAGED_NPM_.*|MODEL|MODEL_IDENTITY"
    r"|NO_RELAUNCH|PROJECT_DIR|PROMPT_ID|SESSION_ID|SIMPLE|STARTUP_VERSION)"
)


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; a long prompt, or one like an option, goes by stdin."""
    mode = permission_of("qwen", _PERMISSIONS, task.permission)
    by_stdin = needs_stdin(task.prompt)
    return Invocation(
        command=(
            "qwen",
            *(OUTPUT_FLAGS if task.stream else ()),
            *(("--include-partial-messages",) if task.partial and task.stream else ()),
            *(("--model", task.model) if task.model else ()),
            *mode,
            *(f"--allowed-tools={rule}" for rule in task.allow),
            *(("--max-session-turns", str(task.max_turns)) if task.max_turns is not None else ()),
            *(("--resume", task.resume) if task.resume else ()),
            *task.args,
            # Options that take many values would swallow a bare prompt.
            *(() if by_stdin else ("--prompt", task.prompt)),
        ),
        stdin=task.prompt.encode() if by_stdin else None,
        environment=_ENVIRONMENT,
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a command line of the user's write messages, right after the program.

    None if it has no prompt, for that may be anything, or if it asks for an output that is no
    messages: then that is what the user wants.
    """
    return with_format(command, flag=OUTPUT_FLAGS, short="-o", also=("json",), prompts=_PROMPTS)


def resumes(command: Sequence[str]) -> bool:
    """Tell whether a command line goes on with a session."""
    return any(
        word in ("-r", "-c") or word.partition("=")[0] in ("--resume", "--continue")
        for word in options_of(command)
    )


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
