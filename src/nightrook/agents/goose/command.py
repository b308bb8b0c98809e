"""Goose's command line: flags, modes, stdin and environment."""

import signal
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import as_typed, option, options_of, with_format
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("goose",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--output-format", "stream-json")
"""Makes `goose run` write one message per line, after a banner that names the session.

`-q` would hide the banner, and with it the only mention of the session (1.52.0 quiet).
"""

_MODES: Mapping[Permission, str | None] = {"agent": None, "plan": "chat", "all": "auto"}
"""The values of GOOSE_MODE; there is none that allows edits but no commands."""

_INTERACTIVE = frozenset({"-s", "--interactive", "--explain", "--render-recipe"})

# What Goose sets for the commands that it runs. All other variables are the user's settings.
_NESTED = frozenset({"AGENT_SESSION_ID", "GOOSE_TERMINAL"})


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    mode = _mode(task)
    own = (
        "goose",
        "run",
        *(OUTPUT_FLAGS if task.stream else ("--quiet",)),
        *option("--model", task.model),
        *option("--max-turns", None if task.max_turns is None else str(task.max_turns)),
        *(("--resume", f"--session-id={task.resume}") if task.resume else ()),
    )
    return Invocation(
        command=(*own, *task.args, "--instructions", "-"),
        typed=as_typed(own, task.args, "--text", task.prompt),
        stdin=task.prompt.encode(),
        stop_signal=signal.SIGINT,  # it then writes that it was interrupted; SIGTERM kills it
        environment={
            # Without this, it asks the model for a title, in a request that it does not report.
            "GOOSE_DISABLE_SESSION_NAMING": "true",
            **({} if mode is None else {"GOOSE_MODE": mode}),
        },
    )


def _mode(task: Task) -> str | None:
    if task.permission == "ask":
        raise UnsupportedError(
            "goose",
            "cannot ask for approval when it runs headless",
            "use --via acp, or another --permission: agent, plan or all",
        )
    if task.permission not in _MODES:
        raise UnsupportedError(
            "goose",
            "has no mode that allows edits alone",
            "use --permission agent, plan or all",
        )
    if task.allow:
        raise UnsupportedError(
            "goose",
            "has no rules for single tools on its command line",
            "leave out --allow, or set them with `goose configure`",
        )
    return _MODES[task.permission]


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after `run`.

    None if it isn't a `run`, if that is interactive, or if it asks for another output format.
    """
    if not _INTERACTIVE.isdisjoint(options_of(command)):
        return None
    return with_format(command, flag=OUTPUT_FLAGS, after="run")


def resumes(command: Sequence[str]) -> bool:
    """True if a command line resumes a session, whose totals then continue."""
    return not {"-r", "--resume"}.isdisjoint(options_of(command))


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return name not in _NESTED
