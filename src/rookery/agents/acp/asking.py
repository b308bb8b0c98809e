"""Requests for permission: what a person is asked, and which option an answer selects."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.agents.acp import calls, shapes
from rookery.model.events import ToolStarted
from rookery.model.questions import Ask, Decision

_MOST_LINES = 400
_object = msgspec.json.Decoder(dict[str, Any])

_ORDER = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}
"""The kinds of options for an answer, those with the least effect first."""


def ask_of(id: str, call: shapes.Call, started: ToolStarted | None) -> Ask:
    """What a person is asked: the call as the request has it, or as its start reported it."""
    kind = calls.kind_of(call, call.name)
    if started is not None:
        kind = started.kind if kind == "other" else kind
    name = call.name or (started.name if started else kind)
    decisive = calls.described(call)
    if decisive is None and started is not None and started.input is not None:
        decisive = started.title
    title = decisive or (started.title if started else None) or call.title
    lines = [*_detail(call)] or [*_input_lines(call, started, decisive)]
    return Ask(
        id=id,
        name=name,
        kind=kind,
        title=title,
        detail=_bounded(lines),
        # Not by the name from the start of the call, which may come too late (kilo 7.7.9).
        always=_rule(name, call.name or kind, decisive or " ".join([title or "", *lines])),
        scope="any later change to this file" if kind == "edit" and decisive else None,
    )


def _rule(name: str, subject: str, text: str) -> str | None:
    """What is always allowed: this call again. The name of a tool alone would be all its calls."""
    words = " ".join(text.split())
    return f"{subject}({words})" if words and words.lower() != name.lower() else None


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


def _input_lines(
    call: shapes.Call, started: ToolStarted | None, title: str | None
) -> Iterator[str]:
    """The rest of the input, for agents that show neither a change nor a text (goose 1.52.0)."""
    raw = calls.input_of(call) or (started.input if started else None)
    fields = salvage.decode_part(raw, _object) if raw is not None else None
    for name, value in (fields or {}).items():
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
        found = [one for one in options if one.kind == kind and one.option_id]
        if found:
            return min(found, key=lambda one: len(one.name or "")).option_id
    return None
