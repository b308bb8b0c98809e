"""Requests for permission: the question for the user, and the option that an answer selects."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.agents.acp import calls, shapes
from nightrook.model.events import ToolStarted
from nightrook.model.questions import Ask, Decision
from nightrook.model.text import one_line

MOST_SHOWN = 1024 * 1024
"""The longest request that is shown as a whole, in bytes; of a longer one a part is left out."""

_MOST_LINES = 400
_LONGEST_RULE = 300
_DIGITS = 16  # of the digest of what a rule is too short for
_FILES = ("file_path", "filePath", "filepath", "path", "fileName")
_FOLDERS = ("cwd", "workdir", "directory", "dir_path")
_COMMAND, _WORDS = "command", "description"
_FILE = "any later change to this file"
_SAME = "the same call again"
_CUT = "it is too long to be shown as a whole"
_ONLY_ALWAYS = "the agent does not ask again after a yes"
_object = msgspec.json.Decoder(dict[str, Any])

_ORDER = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}
"""The kinds of options for an answer, those with the least effect first."""


def ask_of(
    id: str,
    call: shapes.Call,
    started: ToolStarted | None,
    options: Sequence[shapes.Option] = (),
    *,
    is_whole: bool = True,
) -> Ask:
    """Return the question for the user: the call as in the request, or as its start reported it.

    If that is not the whole call, it can only be allowed once.
    """
    if started is not None and started.input is not None and len(started.input) > MOST_SHOWN:
        started, is_whole = msgspec.structs.replace(started, input=None), False
    kind = calls.kind_of(call, call.name)
    if started is not None:
        kind = started.kind if kind == "other" else kind
    name = call.name or (started.name if started else kind)
    fields = _fields(call, started)
    file = _only_file(call, fields) if kind == "edit" else None
    decisive = file or calls.described(call)
    if decisive is None and started is not None and started.input is not None:
        decisive = started.title
    title = decisive or (started.title if started else None) or call.title
    lines = _shown(call, kind, fields, title)
    # Not by the name from the start of the call, which may come too late (kilo 7.7.9).
    subject = call.name or kind
    # guards: always-all-input
    exact = _exact(subject, name, _decisive_words(call, fields, title)) if is_whole else None
    file = file if is_whole else None  # guards: always-only-seen-whole
    return Ask(
        id=id,
        name=name,
        kind=kind,
        title=title,
        cwd=_folder(fields) if kind == "execute" else None,
        notes=(*_notes(options), *(() if is_whole else (_CUT,))),
        detail=_bounded(lines),
        always=f"{subject}({file})" if file else exact,  # guards: always-this-call
        scope=_FILE if file else _SAME if exact and exact != f"{subject}({title})" else None,
    )


def _fields(call: shapes.Call, started: ToolStarted | None) -> Mapping[str, Any]:
    """The input of a call, by the request or by its start."""
    raw = calls.input_of(call) or (started.input if started else None)
    return (salvage.decode_part(raw, _object) if raw is not None else None) or {}


def _folder(fields: Mapping[str, Any]) -> str | None:
    """The folder that a command runs in, if its input names one."""
    return next((fields[name] for name in _FOLDERS if isinstance(fields.get(name), str)), None)


def _only_file(call: shapes.Call, fields: Mapping[str, Any]) -> str | None:
    """The one file that a call changes; None if it may change another one, too."""
    named = [fields[name] for name in _FILES if isinstance(fields.get(name), str)]
    changed = [part.path or "" for part in calls.parts_of(call) if part.type == "diff"]
    files = {*named, *calls.places_of(call), *changed}  # guards: always-one-file
    return files.pop() or None if len(files) == 1 else None


def _decisive_words(
    call: shapes.Call, fields: Mapping[str, Any], title: str | None
) -> Sequence[str]:
    """Return everything that identifies a call: if one word differs, it is another call."""
    words = [title or "", *(place for place in calls.places_of(call) if place != title)]
    if title is not None and fields.get(_COMMAND) == title:
        # A command does what it does, in whatever words it is described.
        rest = {name: value for name, value in fields.items() if name not in (_COMMAND, _WORDS)}
        return [*words, *_input_lines(rest, None)]
    prose = [call.title] if call.title and call.title != title else []
    return [*words, *prose, *_input_lines(fields, None), *_detail(call)]


def _exact(subject: str, name: str, words: Sequence[str]) -> str | None:
    """The rule for this call again. The name of a tool alone would be all its calls."""
    text = "\n".join(words)
    if not text.strip() or text.strip().lower() == name.lower():
        return None
    if len(text) <= _LONGEST_RULE and " ".join(text.split()) == text:
        return f"{subject}({text})"
    digest = sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{subject}({one_line(text, _LONGEST_RULE)} #{digest})"


def _notes(options: Sequence[shapes.Option]) -> tuple[str, ...]:
    """Return a note if the only way to allow a call is to always allow it."""
    kinds = {one.kind for one in options if one.option_id}
    return (_ONLY_ALWAYS,) if "allow_always" in kinds and "allow_once" not in kinds else ()


def _bounded(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines that are shown; what is left out is said."""
    rest = len(lines) - _MOST_LINES
    return (*lines[:_MOST_LINES], *((f" … {rest} more lines",) if rest > 0 else ()))


def _detail(call: shapes.Call) -> Iterator[str]:
    """The lines that a change adds and removes, and what else the agent says about the call."""
    for part in calls.parts_of(call):
        if part.type == "diff":
            yield f" {part.path}:"
            yield from calls.changed_lines(part)
        elif part.content is not None and part.content.text:
            yield from (f" {line}" for line in part.content.text.split("\n"))


def _shown(call: shapes.Call, kind: str, fields: Mapping[str, Any], title: str | None) -> list[str]:
    """The lines that a person sees; those of the input that a change shows are left out."""
    lines = [*_detail(call)]
    places = [f" {place}" for place in calls.places_of(call) if place != title]
    if lines and kind == "edit":
        return [*places, *lines]
    said = {line.strip() for line in lines}
    more = {name: value for name, value in fields.items() if str(value).strip() not in said}
    return [*places, *lines, *_input_lines(more, title)]


def _input_lines(fields: Mapping[str, Any], title: str | None) -> Iterator[str]:
    """The rest of the input, for agents that do not show all of it (goose 1.52.0)."""
    for name, value in fields.items():
        if value == title:
            continue
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        first, *others = text.split("\n")
        yield f" {name}: {first}"
        yield from (f"   {line}" for line in others)


def choice(options: Sequence[shapes.Option], decision: Decision) -> str | None:
    """The id of the option for a decision, by kind; None if there is none.

    Options of the same kind can differ in their effects (qwen 0.24.4: `Allow`, and `Switch to
    Default Mode and allow once`), so the shortest name is chosen. What is always allowed is
    remembered by rook, because an agent may write it to the user's settings.
    """
    for kind in _ORDER[decision.allow]:
        # guards: option-chosen-by-kind
        found = [one for one in options if one.kind == kind and one.option_id]
        if found:
            return min(found, key=lambda one: len(one.name or "")).option_id
    return None
