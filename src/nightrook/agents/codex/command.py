"""Codex's command line: flags, permission modes, stdin and environment."""

import re
import signal
from collections.abc import Mapping, Sequence

from nightrook.adapter.agent import Invocation, Task
from nightrook.adapter.command_line import (
    as_typed,
    asks_about_program,
    option,
    options_of,
    permission_of,
)
from nightrook.agents.codex.app_server import client
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

PROGRAMS = ("codex",)
"""The name of the program, without folder and `.exe`."""

OUTPUT_FLAGS = ("--json",)
"""Makes `codex exec` write one message per line."""

# Outside a git repository Codex refuses to work. That check protects the user, so it stays on;
# `-- --skip-git-repo-check` turns it off.
_PERMISSIONS: Mapping[Permission, tuple[str, ...]] = {
    "agent": (),
    "edit": ("--sandbox", "workspace-write"),
    "plan": ("--sandbox", "read-only"),
    "all": ("--dangerously-bypass-approvals-and-sandbox",),
}

# Without this it waits forever for a missing network. It is a setting and not `--disable`, because
# versions without the feature ignore a setting but refuse a flag.
_BOUNDED = ("-c", "features.unbounded_connection_retries=false")

_EXEC = ("exec", "e")

# Variables that an outer Codex sets for its children: they would make a new one believe that it is
# in the outer one's sandbox or behind its proxy. CODEX_HOME, keys and URLs are the user's.
_NESTED = re.compile(
    r"CODEX_(THREAD_ID|TOOL_CALL_ID|SESSION_ID|SANDBOX.*|PERMISSION_PROFILE|NETWORK_.*|SNAPSHOT_.*"
    r"|EXEC_SERVER_.*|INTERNAL_.*|MANAGED_.*|NON_INTERACTIVE|CI|STARTING_DIFF"
    r"|PLUGIN_METRICS_OUTPUT)|_*CODEX_SHELL_SNAPSHOT_.*"
)


APP_SERVER = "app-server"
"""The preferred way to run it, which reports more and can ask for approval."""

_SETTINGS = ("-c", "--config", "--enable", "--disable")
"""The options that both ways take, each with a value."""


def serves(way: str, task: Task) -> bool:
    """True if a task can be done this way: the app server takes neither exec's flags nor text."""
    if way != APP_SERVER:
        return True
    words = iter(task.args)
    for word in words:
        name, equals, _ = word.partition("=")
        if name not in _SETTINGS or (not equals and next(words, None) is None):
            return False
    return task.stream


def invoke(task: Task) -> Invocation:
    """Return the command line for a task; the prompt goes to stdin."""
    _refuse(task)
    if task.via == APP_SERVER:
        return client.invoke(task, _BOUNDED)
    own = (
        "codex",
        "exec",
        *(OUTPUT_FLAGS if task.stream else ()),
        *option("--model", task.model),
        *permission_of("codex", _PERMISSIONS, task.permission),
        *_BOUNDED,
    )
    rest = (*task.args, *(("resume", task.resume) if task.resume else ()))
    # Options with several values would consume a prompt, and a prompt may look like an option or a
    # command.
    is_unsafe = task.args or task.prompt.startswith("-") or " " not in task.prompt
    return Invocation(
        command=(*own, *rest, "-"),
        typed=as_typed(own, rest, *(("--",) if is_unsafe else ()), task.prompt),
        stdin=task.prompt.encode(),
        stop_signal=signal.SIGINT,  # it ends its commands and its session, but reports nothing
    )


def _refuse(task: Task) -> None:
    """Refuse options that Codex does not have, instead of ignoring them."""
    if task.allow:
        raise UnsupportedError(
            "codex", "has no rules for single tools", "leave out --allow, or use --permission all"
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            "codex", "does not count its steps", "leave out --max-turns, or use --timeout"
        )


def with_output_flags(command: Sequence[str]) -> list[str] | None:
    """Add the flags for JSON messages to a command line of the user, right after `exec`.

    None if it isn't `codex exec`: other subcommands don't write messages.
    """
    options = options_of(command)
    at = next((n for n, word in enumerate(options, 2) if word in _EXEC), None)
    is_other = bool(options) and options[0] not in _EXEC and not options[0].startswith("-")
    if at is None or is_other or asks_about_program(command):
        return None
    added = () if "--json" in options or "--experimental-json" in options else OUTPUT_FLAGS
    return [*command[:at], *added, *command[at:]]


def with_stdin(prompt: str, data: str) -> str:
    """Join a prompt and piped text, as `codex exec` does (0.166.0)."""
    end = "" if data.endswith("\n") else "\n"
    return f"{prompt}\n\n<stdin>\n{data}{end}</stdin>"


def resumes(command: Sequence[str]) -> bool:
    """True if a command line resumes a thread, or a copy of one."""
    return any(word in ("resume", "fork") for word in options_of(command))


def keeps_variable(name: str) -> bool:
    """True if a variable may be inherited."""
    return _NESTED.fullmatch(name) is None
