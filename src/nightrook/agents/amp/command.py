"""Amp's command line: flags, permissions, stdin and environment."""

import re
import signal
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import fits_argument, options_of, permission_of
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("amp",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--stream-json", "--stream-json-thinking")
"""Makes `amp -x` write one message per line, thoughts included."""

_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "all": ("--dangerously-allow-all",),
}

# Variables that an outer Amp sets for its children. AMP_API_KEY and AMP_URL are the user's.
_NESTED = re.compile(r"AMP_(CURRENT_THREAD_ID|THREAD_ID|PWD)|AGENT_THREAD_ID")


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin.

    Options that Amp does not have are refused instead of ignored.
    """
    if task.allow:
        raise UnsupportedError(
            "amp",
            "reads rules only from its settings",
            "leave out --allow, and set amp.permissions in its settings",
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "amp", "has no flag for the number of turns", "leave out --max-turns, or use --timeout"
        )
    before = ("amp", *(("threads", "continue", task.resume) if task.resume else ()), "-x")
    flags = (
        *(OUTPUT_FLAGS if task.stream else ()),
        *(("-m", task.model) if task.model else ()),
        *permission_of("amp", _PERMISSIONS, task.permission),
        *task.args,
    )
    # As an argument, the prompt would have to follow `-x` directly.
    prompt = (task.prompt,) if fits_argument(task.prompt) else ()
    return Invocation(
        command=(*before, *flags),
        typed=(*before, *prompt, *flags),
        stdin=task.prompt.encode(),
        stop_signal=signal.SIGINT,  # it writes a result
    )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, after its options.

    None if it has no `-x`: nothing else writes messages.
    """
    options = options_of(command)
    if not any(word in ("-x", "--execute") for word in options):
        return None
    has_flags = any(word in OUTPUT_FLAGS for word in options)
    end = 1 + len(options)
    return [*command[:end], *(() if has_flags else OUTPUT_FLAGS), *command[end:]]


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
