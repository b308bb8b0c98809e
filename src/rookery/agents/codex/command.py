"""Codex's command line: flags, permission modes, standard input, environment."""

import re
import signal
from collections.abc import Mapping, Sequence

from rookery.adapter.agent import Invocation, Permission, Task
from rookery.adapter.command_line import (
    asks_about_program,
    fits_argument,
    options_of,
    permission_of,
)
from rookery.agents.codex.app_server import client
from rookery.model.errors import UnsupportedError

PROGRAMS = ("codex",)
"""What the program is called, without folder and `.exe`."""

OUTPUT_FLAGS = ("--json",)
"""Makes `codex exec` write a message per line."""

# Outside a git repository Codex refuses to work. That check is the user's safety, so it stays:
# `-- --skip-git-repo-check` switches it off.
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--sandbox", "workspace-write"),
    "plan": ("--sandbox", "read-only"),
    "all": ("--dangerously-bypass-approvals-and-sandbox",),
}

# Without this it waits for a network that is away for ever. A setting, not `--disable`: versions
# that do not know the feature pass over a setting, but refuse a flag.
_BOUNDED = ("-c", "features.unbounded_connection_retries=false")

_EXEC = ("exec", "e")

# What a Codex that we run in tells its own children; inherited, it makes ours believe that it is
# in that one's sandbox, or behind its proxy. CODEX_HOME, keys and addresses are the user's.
_NESTED = re.compile(
    r"CODEX_(THREAD_ID|TOOL_CALL_ID|SESSION_ID|SANDBOX.*|PERMISSION_PROFILE|NETWORK_.*|SNAPSHOT_.*"
    r"|EXEC_SERVER_.*|INTERNAL_.*|MANAGED_.*|NON_INTERACTIVE|CI|STARTING_DIFF"
    r"|PLUGIN_METRICS_OUTPUT)|_*CODEX_SHELL_SNAPSHOT_.*"
)


APP_SERVER = "app-server"
"""The second way to run it, which tells more and can ask."""


def invoke(task: Task) -> Invocation:
    """Make the command line for a task; a long prompt goes by standard input."""
    _refuse(task)
    if task.via == APP_SERVER:
        return client.invoke(task, _BOUNDED)
    by_stdin = not fits_argument(task.prompt) or task.prompt == "-"
    flags = [
        *(OUTPUT_FLAGS if task.stream else ()),
        *(("--model", task.model) if task.model else ()),
        *permission_of("codex", _PERMISSIONS, task.permission),
        *_BOUNDED,
        *task.args,
        *(("resume", task.resume) if task.resume else ()),
    ]
    words = ["-"] if by_stdin else [task.prompt]
    # Options that take many values would swallow the prompt, and a prompt may look like an option
    # or a command.
    if not by_stdin and (task.args or task.prompt.startswith("-") or " " not in task.prompt):
        words.insert(0, "--")
    return Invocation(
        command=("codex", "exec", *flags, *words),
        stdin=task.prompt.encode() if by_stdin else None,
        stop_signal=signal.SIGINT,  # it ends its commands and its session then, but tells nothing
    )


def _refuse(task: Task) -> None:
    """Say what Codex cannot be asked for, rather than to leave it out in silence."""
    if task.allow:
        raise UnsupportedError(
            "codex", "takes no rules for single tools", "leave out --allow, or use --permission all"
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "codex", "does not count its steps", "leave out --max-turns, or use --timeout"
        )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add what makes a command line of the user's write messages, right after `exec`.

    None if it is not `codex exec`: nothing else writes messages.
    """
    options = options_of(command)
    at = next((n for n, word in enumerate(options, 2) if word in _EXEC), None)
    another = bool(options) and options[0] not in _EXEC and not options[0].startswith("-")
    if at is None or another or asks_about_program(command):
        return None
    added = () if "--json" in options or "--experimental-json" in options else OUTPUT_FLAGS
    return [*command[:at], *added, *command[at:]]


def resumes(command: Sequence[str]) -> bool:
    """Tell whether a command line goes on with a thread, or with a copy of one."""
    return any(word in ("resume", "fork") for word in options_of(command))


def keeps_variable(name: str) -> bool:
    """Tell whether a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
