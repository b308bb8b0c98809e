"""Gemini CLI's command line: flags, approval modes, standard input, environment."""

import re
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import needs_stdin, permission_of, with_format
from rookery.model.errors import UnsupportedError

PROGRAMS = ("gemini",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes it write a message per line."""

# In a folder that nobody trusted it refuses to work (0.61.0 untrusted). That check is the user's
# safety, so it stays: `-- --skip-trust` switches it off.
_PROMPTS = ("-p", "--prompt")
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--approval-mode", "auto_edit"),
    "plan": ("--approval-mode", "plan"),
    "all": ("--approval-mode", "yolo"),
}

# Else the program starts itself once more, and the process that we know does nothing but wait.
_ENVIRONMENT = {"GEMINI_CLI_NO_RELAUNCH": "true"}

# What a Gemini CLI that we run in tells its own children. Settings such as GEMINI_CLI_HOME and keys
# are the user's and stay.
_NESTED = re.compile(r"GEMINI_CLI|GEMINI_CLI_(IDE_.*|NO_RELAUNCH|ACTIVITY_LOG_TARGET)")


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; a long prompt, or one like an option, goes by stdin."""
    mode = permission_of("gemini", _PERMISSIONS, task.permission)
    if task.max_turns is not None:
        raise UnsupportedError(
            "gemini",
            "has no flag for a number of turns",
            "leave out --max-turns, or set model.maxSessionTurns in its settings.json",
        )
    by_stdin = needs_stdin(task.prompt)
    return Invocation(
        command=(
            "gemini",
            *(OUTPUT_FLAGS if task.stream else ()),
            *(("--model", task.model) if task.model else ()),
            *mode,
            *(f"--allowed-tools={rule}" for rule in task.allow),
            *(("--resume", task.resume) if task.resume else ()),
            *task.args,
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
    return with_format(command, flag=OUTPUT_FLAGS, short="-o", prompts=_PROMPTS)


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
