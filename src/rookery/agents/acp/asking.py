"""Requests for permission: what a person is asked, and which option an answer selects."""

from collections.abc import Iterator, Sequence
from itertools import islice

from rookery.agents.acp import calls, shapes
from rookery.model.events import ToolStarted
from rookery.model.questions import Ask, Decision

_MOST_LINES = 400

_ORDER = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}
"""The kinds of options for an answer, those with the least effect first."""


def ask_of(id: str, call: shapes.Call, started: ToolStarted | None) -> Ask:
    """What a person is asked: the call as the request has it, or as its start reported it."""
    kind = calls.kind_of(call, call.name)
    title = calls.described(call) or (started.title if started else None) or call.title
    if started is not None:
        kind = started.kind if kind == "other" else kind
    name = call.name or (started.name if started else kind)
    return Ask(
        id=id,
        name=name,
        kind=kind,
        title=title,
        detail=tuple(islice(_detail(call), _MOST_LINES)),
        always=f"{name}({title})" if title else None,
        scope="any later change to this file" if kind == "edit" else None,
    )


def _detail(call: shapes.Call) -> Iterator[str]:
    """The lines that a change adds and removes, and what else the agent says about the call."""
    for part in call.content or ():
        if part.type == "diff":
            yield f" {part.path}:"
            yield from calls.changed_lines(part)
        elif part.content is not None and part.content.text:
            yield from (f" {line}" for line in part.content.text.split("\n"))


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
