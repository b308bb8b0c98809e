"""Codex's tools: their names, statuses and titles of calls."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from nightrook.agents.codex import shapes
from nightrook.model.events import Change, Status
from nightrook.model.text import one_line

SHELL, PATCH, SEARCH, IMAGE = "shell", "apply_patch", "web_search", "view_image"
"""Names for its tools; the stream has only the types of items."""

STATUSES: Mapping[str | None, Status] = {
    "completed": "ok",
    "failed": "error",
    "declined": "denied",
}
"""The statuses of ended calls; any other value is an error."""

_MOST_SEARCHED = 64 * 1024  # characters at the end of an output
_READ_ONLY = re.compile(r": Read-only file system$", re.MULTILINE)


def is_blocked(output: str | None) -> bool:
    """True if the sandbox made a command fail; no field says so (0.166.0 sandbox_denied_cmd)."""
    return output is not None and _READ_ONLY.search(output[-_MOST_SEARCHED:]) is not None


CHANGES: Mapping[str | None, Change] = {"add": "add", "delete": "delete", "update": "modify"}
"""The kinds of changes to a file; a move is reported as an update of its old path."""

AGENT_ENDS: Mapping[str | None, Status] = {
    "completed": "ok",
    "errored": "error",
    "interrupted": "cancelled",
    "shutdown": "cancelled",
    "not_found": "error",
}
"""The statuses of ended subagents; in any other state, a subagent is still running."""

_LONGEST_TITLE = 1000
_LONGEST_COMMAND = 10_000  # a longer one is not parsed: its beginning is enough for a title

# Commands are reported as arguments of a shell: /bin/bash -lc 'echo hi'.
_IN_DOUBLE_QUOTES, _IN_QUOTES = '/bin/bash -lc "', "/bin/bash -lc '"  # as most are
# A shell from elsewhere may be a program of the agent's: then the whole command is shown.
# guards: own-shell-shown
_SHELL = re.compile(r"(?:/(?:usr/|usr/local/|opt/homebrew/)?bin/)?(?:ba|z|da|k)?sh -l?c ")
_DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\$`])')


def script(command: str) -> str:
    """The script that a command passes to a shell, or the command itself."""
    start = len(_IN_QUOTES)
    if command.startswith(_IN_DOUBLE_QUOTES):
        if command.find('"', start) == len(command) - 1 and "\\" not in command:
            return command[start:-1]
    elif command.startswith(_IN_QUOTES) and command.find("'", start) == len(command) - 1:
        return command[start:-1]
    match = _SHELL.match(command)
    return _argument(command[match.end() :]) or command if match else command


def _argument(argument: str) -> str | None:
    """The argument of a shell without its quotes; None if it isn't a single one."""
    if _DOUBLE.fullmatch(argument):
        return _ESCAPED.sub(r"\1", argument[1:-1])
    return _unquoted(argument)


def _unquoted(argument: str) -> str | None:
    """The argument without its quotes; None if it isn't a single one."""
    if len(argument) > _LONGEST_COMMAND:
        return None
    try:
        parts = shlex.split(argument)
    except ValueError:
        return None
    return parts[0] if len(parts) == 1 else None


def command_title(command: str) -> str | None:
    """The script of a command, on one line."""
    return one_line(script(command), _LONGEST_TITLE) if command else None


def patch_title(changes: Sequence[shapes.Change]) -> str | None:
    """The file that a patch changes, or the first of several."""
    return title_of([change.path for change in changes if change.path])


def title_of(paths: Sequence[str]) -> str | None:
    """The one path, or the first of several."""
    if not paths:
        return None
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return one_line(paths[0], _LONGEST_TITLE) + more


def search_title(item: shapes.WebSearch) -> str | None:
    """The search term, or the page that was opened."""
    action = item.action or shapes.Search()
    if action.pattern and action.url:
        return one_line(f"{action.pattern} in {action.url}", _LONGEST_TITLE)
    queries = ", ".join(query for query in action.queries or () if query)
    title = item.query or action.query or queries or action.url
    return one_line(title, _LONGEST_TITLE) if title else None


def text_of(blocks: Iterable[shapes.Block]) -> str:
    """The text of an MCP tool's result, with the type in brackets for parts that aren't text."""
    parts = (b.text if b.type == "text" else f"[{b.type or 'part'}]" for b in blocks)
    return "\n".join(part for part in parts if part)
