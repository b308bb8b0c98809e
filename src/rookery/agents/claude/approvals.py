"""Reads and answers Claude Code's requests for approval in its control protocol.

With `--permission-prompt-tool stdio` it writes a `control_request` and waits for a
`control_response` with the same id (2.1.325 s31_control_permissions, s16b_plan_mode_stdio_prompt).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.shapes import NOTHING
from rookery.agents.claude import shapes, tools
from rookery.model.events import ToolKind
from rookery.model.questions import Ask, By, Decision, Option, Question

_PLAN, _QUESTIONS = "ExitPlanMode", "AskUserQuestion"
_EDITS = "acceptEdits"
_REFUSALS: Mapping[By, str] = {
    "timeout": "The user did not answer in time, so this is denied.",
    "nobody": "No user is available to approve this.",
}
_UNAVAILABLE = "No user is available to answer this."  # cancels a form (2.1.325)

INTERRUPT = (
    b'{"type":"control_request","request_id":"interrupt","request":{"subtype":"interrupt"}}\n'
)
"""Stops the turn: a result followed in 15 of 15 trials (2.1.325), after SIGINT in 7 of 10."""


class _Change(msgspec.Struct):
    """The input of the tools that change files."""

    old_string: str | None = None
    new_string: str | None = None
    content: str | None = None
    new_source: str | None = None
    edits: "list[_Change] | None" = None


class _Plan(msgspec.Struct):
    plan: str | None = None


class _Choice(msgspec.Struct):
    label: str | None = None
    description: str | None = None


class _Asked(msgspec.Struct, rename="camel"):
    question: str | None = None
    options: list[_Choice] | None = None
    multi_select: bool | None = None


class _Questions(msgspec.Struct):
    questions: list[_Asked] | None = None


class _Command(msgspec.Struct):
    command: str | None = None
    description: str | None = None


_line_decoder = msgspec.json.Decoder(shapes.ControlRequest)
_change_decoder = msgspec.json.Decoder(_Change)
_plan_decoder = msgspec.json.Decoder(_Plan)
_questions_decoder = msgspec.json.Decoder(_Questions)
_command_decoder = msgspec.json.Decoder(_Command)
_parts_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read(line: bytes) -> Ask | None:
    """Read a request; None if the line isn't one that can be answered."""
    message = salvage.decode_part(line, _line_decoder)
    request = message.request if message else None
    if message is None or request is None or message.request_id is None:
        return None
    if request.subtype != "can_use_tool":
        return Ask(
            id=message.request_id, about="other", name=request.subtype, title=request.message
        )
    name = request.tool_name or ""
    if name == _PLAN:
        plan = _decoded(request.input, _plan_decoder)
        lines = plan.plan.strip().split("\n") if plan and plan.plan else ()
        return Ask(id=message.request_id, about="plan", name=name, detail=tuple(lines))
    if name == _QUESTIONS:
        questions = tuple(_questions(request.input))
        return Ask(
            id=message.request_id, about="questions", name=name, kind="ask", questions=questions
        )
    kind = tools.kind(name)
    update = _update(request)
    rule = tools.allow_rule(name, request.input) if name else None
    return Ask(
        id=message.request_id,
        name=request.tool_name,
        kind=kind,
        title=_whole_title(kind, request.input),
        detail=tuple(_changed_lines(request.input)) if kind == "edit" else (),
        purpose=_purpose(request.input) if kind == "execute" else None,
        reason=request.decision_reason,
        always=_scope(update) if update else rule,
        remembers=update is not None,
    )


def answer(line: bytes, decision: Decision) -> bytes:
    """Return the line that answers a request which `read` accepted."""
    message = salvage.decode_part(line, _line_decoder) or shapes.ControlRequest()
    request = message.request or shapes.Request()
    response: dict[str, Any]
    if request.subtype != "can_use_tool":
        error = {"subtype": "error", "request_id": message.request_id, "error": _UNAVAILABLE}
        return _line(error)
    if decision.allow:
        response = {"behavior": "allow", "updatedInput": _input(request, decision)}
        if decision.always and (update := _update(request)):
            response["updatedPermissions"] = [update]
    else:
        refusal = _REFUSALS.get(decision.by, "The user denied this.")
        reason = f"The user denied this: {decision.reason}" if decision.reason else refusal
        response = {"behavior": "deny", "message": reason}
    return _line({"subtype": "success", "request_id": message.request_id, "response": response})


def _line(response: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"type": "control_response", "response": response}) + b"\n"


def _input(request: shapes.Request, decision: Decision) -> Any:
    """The input for the tool: the one in the request, with the answers to its questions."""
    parts = _decoded(request.input, _parts_decoder) or {}
    input = {name: salvage.raw_copy(part) for name, part in parts.items()}
    return {**input, "answers": decision.answers} if request.tool_name == _QUESTIONS else input


def _update(request: shapes.Request) -> dict[str, Any] | None:
    """The permission that Claude Code offers to remember, limited to this session.

    Its other offers allow more than the request: for a command in this folder, also the whole
    folder and all edits; for a file elsewhere, a folder for which it would ask again anyway.
    """
    offers = request.permission_suggestions or ()
    rules = [rule for offer in offers if offer.behavior == "allow" for rule in offer.rules or ()]
    if named := [_rule(rule) for rule in rules if rule.toolName]:
        update = {"type": "addRules", "rules": named, "behavior": "allow"}
        return {**update, "destination": "session"}
    if [(offer.type, offer.mode) for offer in offers] == [("setMode", _EDITS)]:
        return {"type": "setMode", "mode": _EDITS, "destination": "session"}
    return None


def _rule(rule: shapes.Rule) -> dict[str, str | None]:
    content = {"ruleContent": rule.ruleContent} if rule.ruleContent else {}
    return {"toolName": rule.toolName, **content}


def _scope(update: Mapping[str, Any]) -> str:
    """What an update allows, for the user who decides about it."""
    if update["type"] == "setMode":
        return "all edits in this folder"
    rules: Sequence[Mapping[str, str]] = update["rules"]
    return ", ".join(
        f"{rule['toolName']}({rule['ruleContent']})" if "ruleContent" in rule else rule["toolName"]
        for rule in rules
    )


def _whole_title(kind: ToolKind, input: msgspec.Raw) -> str | None:
    """The title of a call in full length: a user decides by it."""
    if kind == "execute":
        execution = _decoded(input, _command_decoder)
        title = execution.command if execution else None
    elif kind in ("read", "edit"):
        title = tools.path_of(input)
    elif kind == "fetch":
        title = tools.title(kind, input)
    else:
        title = None
    return title or (None if input is NOTHING else bytes(input).decode("utf-8", "replace"))


def _purpose(input: msgspec.Raw) -> str | None:
    execution = _decoded(input, _command_decoder)
    return execution.description if execution else None


def _changed_lines(input: msgspec.Raw) -> Iterator[str]:
    change = _decoded(input, _change_decoder)
    for edit in (change.edits or (change,)) if change else ():
        new = edit.new_string or edit.content or edit.new_source or ""
        yield from _difference(_lines(edit.old_string or ""), _lines(new))


def _difference(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The removed and added lines, without the lines that both have at their start or end."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    return [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of lines that both start with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _questions(input: msgspec.Raw) -> Iterator[Question]:
    form = _decoded(input, _questions_decoder)
    for asked in (form.questions or ()) if form else ():
        if asked.question:
            choices = [choice for choice in asked.options or () if choice.label]
            yield Question(
                text=asked.question,
                options=tuple(
                    Option(label=choice.label or "", description=choice.description)
                    for choice in choices
                ),
                several=asked.multi_select is True,
            )


def _decoded(input: msgspec.Raw, decoder: msgspec.json.Decoder[Any]) -> Any:
    return None if input is NOTHING else salvage.decode_part(input, decoder)
