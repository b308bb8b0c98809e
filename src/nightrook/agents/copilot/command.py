"""GitHub Copilot CLI's command line: flags, modes, stdin and environment."""

import re
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, option, options_of, with_format
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("copilot",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "json")
"""Makes it write one message per line."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--allow-tool=write",),
    "plan": ("--mode=plan",),
    "all": ("--allow-all",),
}
_PROMPTS = ("-p", "--prompt")
_OTHER_MODES = frozenset({"-i", "--interactive", "--acp", "--connect"})

# Variables that an outer Copilot sets for its children; settings such as COPILOT_MODEL are the
# user's and stay.
_NESTED = re.compile(
    r"COPILOT_(CLI|CLI_RESOLVED_DIST_DIR|CLI_BINARY_VERSION|LOADER_PID|AGENT_SESSION_ID)"
)


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin, which it reads without `-p`."""
    if task.permission not in _PERMISSIONS:
        raise UnsupportedError(
            "copilot",
            "cannot ask for approval when it runs headless",
            f"use --via acp, or another --permission: {', '.join(_PERMISSIONS)}",
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "copilot",
            "has no flag for the number of turns",
            "leave out --max-turns, or pass `-- --autopilot --max-autopilot-continues N`",
        )
    own = (
        "copilot",
        *(OUTPUT_FLAGS if task.stream else ("--silent",)),
        *option("--model", task.model),
        *_PERMISSIONS[task.permission],
        *(f"--allow-tool={rule}" for rule in task.allow),
        *option("--resume", task.resume),
    )
    return Invocation(
        command=(*own, *task.args),
        typed=as_typed(own, task.args, "--prompt", task.prompt),
        stdin=task.prompt.encode(),
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after the program.

    None if it has no prompt, or if the user asks for another output format.
    """
    words = {word.partition("=")[0] for word in options_of(command)}
    if not _OTHER_MODES.isdisjoint(words):
        return None
    return with_format(command, flag=OUTPUT_FLAGS, prompts=_PROMPTS)


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
