"""Makes the keywords of `nightrook.run` and `nightrook.loop` from the table of options."""

import ast
import inspect
import re
from collections.abc import Iterator
from textwrap import fill, indent, wrap
from typing import Any, Literal, get_origin

import msgspec

from nightrook.config import options
from nightrook.config.option import Option, rows
from nightrook.config.options import LoopOptions, RunOptions

_TYPES = {
    "a name": "str",
    "a text": "str",
    "wait, stop or switch:AGENT": "str",
    "a list of texts": "Sequence[str]",
    "a list of rules": "Sequence[str]",
    "a number of dollars": "float",
    "a whole number above 0": "int",
    "a time such as 90s, 5m or 2h": "Duration",
    "a share such as 80% or 0.8": "float | str",
    "a size such as 500MB or 10GB": "int | str",
    "a folder": "StrPath",
    "a file": "StrPath",
    "true or false": "bool",
}
"""What Python may pass for each kind of option."""

_MORE = {
    "stdin": "str | None",
    "args": "Sequence[str]",
    "env": "Mapping[str, str] | None",
    "partial": "bool | None",
    "program": "StrPath | Sequence[str] | None",
    "called": "str | None",
    "home": "StrPath | None",
    "loop": "tuple[str, int] | None",
}
"""What only programs can pass; the table has no options for it."""

_OF_LOOP = ("stdin", "args", "env", "program", "called", "home")
_NOT_HERE = frozenset({"agent", "stdin_mode", "format", "quiet", "detach"})
_CHOICES = ("Permission", "FeedMode", "OnStuck")
_WIDTH = 92

_HEAD = '''\
"""The keywords of `nightrook.run`, `run_sync` and `loop`.

Generated from the table of options, `nightrook.config.options`, by `make docs`; do not edit.
"""

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypedDict

from nightrook.config.options import FeedMode, OnStuck
from nightrook.model.permissions import Permission

Duration = float | str | timedelta
"""A length of time: seconds, a `timedelta`, or a text such as "90s", "5m" or "2h"."""

StrPath = str | os.PathLike[str]
'''


def module() -> str:
    """The text of `nightrook/keywords.py`."""
    run = list(_keywords(RunOptions, "run", tuple(_MORE)))
    loop = [each for each in _keywords(LoopOptions, "loop", _OF_LOOP) if each[0] != "resume"]
    of_run = "The options of `nightrook.run` and `run_sync`."
    of_loop = "The options of `nightrook.loop`; limits are those of all its runs together."
    classes = (_class("RunKeywords", of_run, run), _class("LoopKeywords", of_loop, loop))
    return "\n\n".join((_HEAD, *classes))


def _keywords(
    struct: type[msgspec.Struct], noun: str, more: tuple[str, ...]
) -> Iterator[tuple[str, str, str]]:
    """Each keyword, with its type and its meaning."""
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    for row in rows(struct, noun):
        if row.name not in _NOT_HERE:
            is_optional = row.default is None and row.name != "permission"
            # A limit on the cost of a loop that is not given is not refused if it cannot hold.
            is_optional |= row.name == "max_cost" or type(None) in _parts(fields[row.name].type)
            is_optional &= row.name != "permission"
            yield row.name, _type(row) + (" | None" if is_optional else ""), _words(row.flag.help)
    documented = _documented()
    for name in more:
        yield name, _MORE[name], _words(documented[name])


def _parts(kind: Any) -> tuple[Any, ...]:
    parts: tuple[Any, ...] = getattr(getattr(kind, "__origin__", kind), "__args__", ())
    return parts


def _type(row: Option) -> str:
    if get_origin(row.type) is Literal:
        return next(name for name in _CHOICES if getattr(options, name) == row.type)
    return _TYPES[row.takes]


def _words(text: str) -> str:
    """The help of an option in terms of Python: `max_cost`, not --max-cost."""
    text = text.replace(" Can be repeated.", "").replace("; - is standard input", "")
    return re.sub(r"--([a-z][a-z-]*)", lambda m: f"`{m[1].replace('-', '_')}`", text)


def _documented() -> dict[str, str]:
    """The docstrings of the fields of a run's options."""
    found = {}
    for struct in RunOptions.__mro__[:3]:
        body = ast.parse(inspect.getsource(struct)).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
                found[field.target.id] = str(text.value.value)  # type: ignore[attr-defined]
    return found


def _class(name: str, summary: str, keywords: list[tuple[str, str, str]]) -> str:
    lines = [f"class {name}(TypedDict, total=False):", f'    """{summary}', "", "    Args:"]
    for keyword, _, words in keywords:
        lines += wrap(
            f"{keyword}: {words}",
            _WIDTH,
            initial_indent=" " * 8,
            subsequent_indent=" " * 12,
            break_on_hyphens=False,
        )
    lines += ['    """', ""]
    for keyword, kind, words in keywords:
        text = fill(f'"""{words}"""', _WIDTH, break_on_hyphens=False)
        lines += [f"    {keyword}: {kind}", indent(text, "    "), ""]
    return "\n".join(lines).rstrip() + "\n"
