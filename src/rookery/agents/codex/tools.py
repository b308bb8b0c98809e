"""What Codex calls its tools, and what a call is about."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from rookery.agents.codex import shapes
from rookery.model.events import Change, Status
from rookery.model.text import one_line

SHELL, PATCH, SEARCH = "shell", "apply_patch", "web_search"
"""The names of its tools; the stream has only the types of its items."""

STATUSES: Mapping[str | None, Status] = {
    "completed": "ok",
    "failed": "error",
    "declined": "denied",
}
"""How a call ended; any other word is no good end."""

CHANGES: Mapping[str | None, Change] = {"add": "add", "delete": "delete", "update": "modify"}
"""What was done to a file; a move is told as an update of its old path."""

AGENT_ENDS: Mapping[str | None, Status] = {
    "completed": "ok",
    "errored": "error",
    "interrupted": "cancelled",
    "shutdown": "cancelled",
    "not_found": "error",
}
"""How a subagent ended; in any other state it is still at work."""

_LONGEST_TITLE = 1000
_LONGEST_COMMAND = 10_000  # a longer one is not taken apart: its beginning says enough

# A command is told as the words of a shell: /bin/bash -lc 'echo hi'.
_USUAL = "/bin/bash -lc "
_SHELL = re.compile(r"(?:/\S*/)?(?:ba|z|da|k)?sh -l?c ")
_DOUBLE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\$`])')


def script(command: str) -> str:
    """What a command really does: the script of a shell that does nothing but run it."""
    if command.startswith(_USUAL):
        start = len(_USUAL)
    elif found := _SHELL.match(command):
        start = found.end()
    else:
        return command
    quote = command[start : start + 1]
    plain = quote == "'" or (quote == '"' and "\\" not in command)
    if plain and command.find(quote, start + 1) == len(command) - 1:  # no other quote is between
        return command[start + 1 : -1]
    words = command[start:]
    if _DOUBLE.fullmatch(words):
        return _ESCAPED.sub(r"\1", words[1:-1])
    return _unquoted(words) or command


def _unquoted(words: str) -> str | None:
    """The one word that several quoted parts make; None if it is not one."""
    if len(words) > _LONGEST_COMMAND:
        return None
    try:
        found = shlex.split(words)
    except ValueError:
        return None
    return found[0] if len(found) == 1 else None


def command_title(command: str) -> str | None:
    """What a command does, on one line."""
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
    """What was searched for, or the page that was looked at."""
    action = item.action or shapes.Search()
    if action.pattern and action.url:
        return one_line(f"{action.pattern} in {action.url}", _LONGEST_TITLE)
    queries = ", ".join(query for query in action.queries or () if query)
    words = item.query or action.query or queries or action.url
    return one_line(words, _LONGEST_TITLE) if words else None


def text_of(blocks: Iterable[shapes.Block]) -> str:
    """The text of an MCP tool's answer, with a word in brackets for each part that is no text."""
    parts = (b.text if b.type == "text" else f"[{b.type or 'part'}]" for b in blocks)
    return "\n".join(part for part in parts if part)
