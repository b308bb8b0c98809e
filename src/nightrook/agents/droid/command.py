"""Droid's command line: flags, levels of autonomy, stdin and environment."""

import re
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import (
    as_typed,
    option,
    options_of,
    permission_of,
    value_of,
    with_format,
)
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("droid",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes `droid exec` write one message per line."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--auto", "low"),
    "plan": ("--use-spec",),
    "all": ("--skip-permissions-unsafe",),
}

# Variables that an outer Droid sets for its children: its session, its level of autonomy, and where
# its settings of that run are. Settings such as FACTORY_API_KEY are the user's and stay.
_NESTED = re.compile(
    r"DROID_(PARENT_SESSION_ID|SANDBOXED)|FACTORY_(BACKGROUND_PID|DISABLE_SETTINGS_PERSISTENCE"
    r"|DROID_BINARY|EXEC_TARGET_AUTONOMY|PROJECT_DIR|RUNTIME_SETTINGS_PATH)"
)


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin.

    A session is resumed as a fork, which has a new id: without a login, Droid cannot continue a
    session itself, and fails without a word (0.215.0 two_turn_resume_turn2, fork).
    """
    mode = permission_of("droid", _PERMISSIONS, task.permission)
    if task.max_turns is not None:
        raise UnsupportedError(
            "droid", "has no flag for the number of turns", "leave out --max-turns"
        )
    own = (
        *("droid", "exec"),
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *mode,
        *option("--add-tools", ",".join(task.allow)),
        *option("--fork", task.resume),
    )
    return Invocation(
        command=(*own, *task.args),
        typed=as_typed(
            own, task.args, *(("--",) if task.prompt.startswith("-") else ()), task.prompt
        ),
        stdin=task.prompt.encode(),
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after `exec`.

    None if it isn't an `exec` of a prompt, or if the user asks for another output format.
    """
    if value_of(command, "--input-format") is not None or "--list-tools" in options_of(command):
        return None
    return with_format(command, flag=OUTPUT_FLAGS, short="-o", also=("debug",), after="exec")


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
