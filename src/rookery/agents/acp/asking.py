"""Requests for permission: what a person is asked, and which option an answer selects."""

from collections.abc import Iterator, Sequence

from rookery.agents.acp import calls, shapes
from rookery.model.questions import Ask, Decision

_LONGEST_REASON = 1000
_MOST_LINES = 400

_ORDER = {True: ("allow_once", "allow_always"), False: ("reject_once", "reject_always")}
"""The kinds of options for an answer, those with the least effect first."""


def ask_of(message: shapes.PermissionRequest) -> Ask:
    """What a person is asked."""
    call = message.params.tool_call or shapes.Call()
    kind = calls.kind_of(call)
    title = calls.title_of(call)
    name = call.name or kind
    return Ask(
        id=str(message.id),
        name=name,
        kind=kind,
        title=title,
        detail=tuple(_detail(call)),
        reason=None,
        always=f"{name}({title})" if title else None,
        scope="this call again",
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
