"""Gemini CLI's command line: flags, approval modes, stdin and environment."""

import re
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, option, permission_of, with_format
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("gemini",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes it write one message per line."""

# It refuses to work in an untrusted folder (0.61.0 untrusted). That check protects the user, so it
# stays on; `-- --skip-trust` turns it off.
_PROMPTS = ("-p", "--prompt")
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--approval-mode", "auto_edit"),
    "plan": ("--approval-mode", "plan"),
    "all": ("--approval-mode", "yolo"),
}

# Without this, Gemini CLI starts itself again, and the process that rook started only waits.
_ENVIRONMENT = {"GEMINI_CLI_NO_RELAUNCH": "true"}

# Variables that an outer Gemini CLI sets for its children. Settings such as GEMINI_CLI_HOME and
# keys are the user's and stay.
_NESTED = re.compile(r"GEMINI_CLI|GEMINI_CLI_(IDE_.*|NO_RELAUNCH|ACTIVITY_LOG_TARGET)")


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    mode = permission_of("gemini", _PERMISSIONS, task.permission)
    if task.max_turns is not None:
        raise UnsupportedError(
            "gemini",
            "has no flag for the number of turns",
            "leave out --max-turns, or set model.maxSessionTurns in its settings.json",
        )
    own = (
        "gemini",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *mode,
        *(f"--allowed-tools={rule}" for rule in task.allow),
        *option("--resume", task.resume),
    )
    return Invocation(
        command=(*own, *task.args),
        typed=as_typed(own, task.args, "--prompt", task.prompt),
        stdin=task.prompt.encode(),
        environment=_ENVIRONMENT,
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after the program.

    None if it has no prompt, or if the user asks for another output format.
    """
    return with_format(command, flag=OUTPUT_FLAGS, short="-o", prompts=_PROMPTS)


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
