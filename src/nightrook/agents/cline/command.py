"""Cline's command line: flags, approval, stdin and environment."""

import re
import signal
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import (
    as_typed,
    asks_about_program,
    has_prompt,
    option,
    options_of,
    permission_of,
)
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("cline",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--json",)
"""Makes it write one message per line."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "plan": ("--plan",),
    "all": ("--auto-approve", "true"),
}

# With `--json`, Cline wants a prompt as an argument, and takes one without a blank for a mistyped
# command. A blank alone passes both checks, and the prompt is then what comes on stdin (3.0.65).
_BLANK = " "

# Otherwise it leaves a daemon behind that would serve later runs, too, outside of theirs (3.0.65).
_ENVIRONMENT = {"CLINE_SESSION_BACKEND_MODE": "local"}

# Variables that an outer Cline sets for its children. Settings such as CLINE_API_KEY are the user's
# and stay.
_NESTED = re.compile(
    r"CLINE_(HOOK_AGENT_RESUME|RUN_AS_HUB_DAEMON|WRAPPER_PATH|CONNECTOR_SUPERVISED"
    r"|TELEGRAM_CONNECT_CHILD|HUB_(ADDRESS|PORT)|RPC_ADDRESS|TOOL_APPROVAL_(DIR|MODE))"
)
_OTHER_MODES = frozenset({"-i", "--tui", "-z", "--zen", "--acp", "--id", "--update", "--kanban"})


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    _refuse(task)
    own = (
        "cline",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *permission_of("cline", _PERMISSIONS, task.permission),
    )
    return Invocation(
        command=(*own, *task.args, _BLANK),
        typed=as_typed(own, task.args, task.prompt),
        stdin=task.prompt.encode(),
        stdin_is_pipe=True,  # it takes a file for an empty input (3.0.65)
        stop_signal=signal.SIGINT,  # after SIGTERM, it finishes its run (3.0.65 sigterm_group_text)
        environment=_ENVIRONMENT,
    )


def _refuse(task: Task) -> None:
    if task.allow:
        raise UnsupportedError(
            "cline", "has no rules for single tools", "leave out --allow, or use --permission all"
        )
    if task.resume is not None:
        raise UnsupportedError(
            "cline", "resumes sessions only in a terminal", "run `cline --id SESSION`"
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "cline", "has no flag for the number of turns", "leave out --max-turns"
        )


def prompt_above_stdin(prompt: str, data: str) -> str:
    """Join a prompt and piped text, as Cline does: with a blank line between them."""
    return f"{prompt}\n\n{data}"


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flag for JSON messages to a command line of the user, right after the program.

    None if it has no prompt, or if it does something else.
    """
    options = options_of(command)
    names = {word.partition("=")[0] for word in options}
    if asks_about_program(command) or not names.isdisjoint(_OTHER_MODES):
        return None
    if "--json" in names:
        return [*command]
    return [command[0], "--json", *command[1:]] if has_prompt(command, ()) else None


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
