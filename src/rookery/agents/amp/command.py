"""Amp's command line: flags, permissions, standard input, environment."""

import re
import signal
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import needs_stdin, options_of, permission_of
from rookery.model.errors import UnsupportedError

PROGRAMS = ("amp",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--stream-json", "--stream-json-thinking")
"""Makes `amp -x` write a message per line, thoughts included."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "all": ("--dangerously-allow-all",),
}

# What an Amp that we run in tells its own children. AMP_API_KEY and AMP_URL are the user's.
_NESTED = re.compile(r"AMP_(CURRENT_THREAD_ID|THREAD_ID|PWD)|AGENT_THREAD_ID")


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; a long prompt, or one like an option, goes by stdin.

    The prompt must follow `-x` at once.
    """
    _refuse(task)
    by_stdin = needs_stdin(task.prompt)
    return Invocation(
        command=(
            "amp",
            *(("threads", "continue", task.resume) if task.resume else ()),
            *(("-x",) if by_stdin else ("-x", task.prompt)),
            *(OUTPUT_FLAGS if task.stream else ()),
            *(("-m", task.model) if task.model else ()),
            *permission_of("amp", _PERMISSIONS, task.permission),
            *task.args,
        ),
        stdin=task.prompt.encode() if by_stdin else None,
        stop_signal=signal.SIGINT,  # it writes a result then
    )


def _refuse(task: Task) -> None:
    """Say what Amp cannot be asked for, rather than to leave it out in silence."""
    if task.allow:
        raise UnsupportedError(
            "amp",
            "takes rules from its settings only",
            "leave out --allow, and write amp.permissions in its settings",
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "amp", "has no flag for a number of turns", "leave out --max-turns, or use --timeout"
        )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a command line of the user's write messages, at the end of its options.

    None if it is no `-x`: nothing else writes messages.
    """
    options = options_of(command)
    if not any(word in ("-x", "--execute") for word in options):
        return None
    told = any(word in OUTPUT_FLAGS for word in options)
    end = 1 + len(options)
    return [*command[:end], *(() if told else OUTPUT_FLAGS), *command[end:]]


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
