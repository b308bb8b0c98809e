"""Qwen Code's command line: flags, approval modes, stdin and environment."""

import re
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, option, options_of, permission_of, with_format
from nightrook.model.permissions import Permission

PROGRAMS = ("qwen",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes it write one message per line."""

_PROMPTS = ("-p", "--prompt")
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--approval-mode", "auto-edit"),
    "plan": ("--approval-mode", "plan"),
    "all": ("--approval-mode", "yolo"),
}

# Without this, Qwen Code may start itself again, and the process that rook started only waits.
_ENVIRONMENT = {"QWEN_CODE_NO_RELAUNCH": "true"}

# Variables that an outer Qwen Code sets for its children. Settings and keys are the user's.
_NESTED = re.compile(
    r"QWEN_CODE|QWEN_CODE_("
    r"AGENT_ID|CLI|ENTRYPOINT|IDE_.*|LAUNCHER_(PATH|PID)|MANAGED_NPM_.*|MODEL|MODEL_IDENTITY"
    r"|NO_RELAUNCH|PROJECT_DIR|PROMPT_ID|SESSION_ID|SIMPLE|STARTUP_VERSION)"
)


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    mode = permission_of("qwen", _PERMISSIONS, task.permission)
    own = (
        "qwen",
        *(OUTPUT_FLAGS if task.stream else ()),
        *(("--include-partial-messages",) if task.partial and task.stream else ()),
        *option("--model", task.model),
        *mode,
        *(f"--allowed-tools={rule}" for rule in task.allow),
        *(("--max-session-turns", str(task.max_turns)) if task.max_turns is not None else ()),
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
    return with_format(command, flag=OUTPUT_FLAGS, short="-o", also=("json",), prompts=_PROMPTS)


def resumes(command: Sequence[str]) -> bool:
    """True if a command line resumes a session."""
    return any(
        word in ("-r", "-c") or word.partition("=")[0] in ("--resume", "--continue")
        for word in options_of(command)
    )


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
