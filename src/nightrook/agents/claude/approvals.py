"""Reads and answers Claude Code's requests for approval in its control protocol.

With `--permission-prompt-tool stdio` it writes a `control_request` and waits for a
`control_response` with the same id (2.1.325 s31_control_permissions, s16b_plan_mode_stdio_prompt).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes, tools
from nightrook.agents.claude.memory import Memory
from nightrook.model.events import Error, Event, PermissionRequested, ToolKind, Unknown
from nightrook.model.questions import Ask, By, Decision, Option, Question

_PLAN, _QUESTIONS = "ExitPlanMode", "AskUserQuestion"
_EDITS = "acceptEdits"
_REFUSALS: Mapping[By, str] = {
    "timeout": "The user did not answer in time, so this is denied.",
    "nobody": "No user is available to approve this.",
}
_UNAVAILABLE = "No user is available to answer this."  # cancels a form (2.1.325)

_FOR_PROGRAMS = frozenset({"hook_callback", "mcp_message"})  # to programs that registered for them
_FOR_PEOPLE = frozenset({"elicitation", "request_user_dialog"})

INTERRUPT = (
    b'{"type":"control_request","request_id":"interrupt","request":{"subtype":"interrupt"}}\n'
)
"""Stops the turn: a result followed in 15 of 15 trials (2.1.325), after SIGINT in 7 of 10."""


_CHANGES: Mapping[str, tuple[str, str]] = {
    "Edit": ("old_string", "new_string"),
    "Write": ("", "content"),
    "NotebookEdit": ("", "new_source"),
}
"""The inputs of the tools that change a file: the text they replace, and its replacement."""

_PHRASES = {
    "dangerouslyDisableSandbox": "outside its sandbox",
    "run_in_background": "in the background",
    "replace_all": "everywhere in the file",
}
"""Descriptions of inputs that matter for the decision, used when they are true."""


class _Choice(msgspec.Struct):
    label: str | None = None
    description: str | None = None


class _Asked(msgspec.Struct, rename="camel"):
    question: str | None = None
    options: list[_Choice] | None = None
    multi_select: bool | None = None


class _Questions(msgspec.Struct):
    questions: list[_Asked] | None = None


_line_decoder = msgspec.json.Decoder(shapes.ControlRequest)
_questions_decoder = msgspec.json.Decoder(_Questions)
_parts_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_fields_decoder = msgspec.json.Decoder(dict[str, Any])


class _Shown(msgspec.Struct):
    """The parts of a request that are shown: a title, details, and the names of inputs in them."""

    fields: set[str]
    title: str | None = None
    detail: Sequence[str] = ()


def control_request(memory: Memory, message: shapes.ControlRequest, line: bytes) -> Sequence[Event]:
    """Read a request to the user or program that started the agent."""
    request = message.request or shapes.Request()
    if request.subtype in _FOR_PROGRAMS:
        return ()
    if request.subtype != "can_use_tool":
        name = f"control_request/{request.subtype}" if request.subtype else "control_request"
        known = request.subtype in _FOR_PEOPLE
        asked = PermissionRequested(
            id=message.request_id, name=request.subtype, reason=request.message
        )
        return (asked,) if known else (Unknown(name=name, raw=salvage.raw_copy(line)), asked)
    return (
        PermissionRequested(
            id=message.request_id,
            tool_id=request.tool_use_id,
            name=request.tool_name,
            input=salvage.raw_copy(request.input),
            reason=request.decision_reason,
            fix=_suggested_rule(request),
        ),
    )


def _suggested_rule(request: shapes.Request) -> str | None:
    for suggestion in request.permission_suggestions or ():
        for rule in suggestion.rules or ():
            if rule.toolName:
                return f"{rule.toolName}({rule.ruleContent})" if rule.ruleContent else rule.toolName
    return tools.allow_rule(request.tool_name, request.input) if request.tool_name else None


def control_response(
    memory: Memory, message: shapes.ControlResponse, line: bytes
) -> Sequence[Event]:
    """Read the response to a request of ours; only an error is an event."""
    response = message.response or shapes.Response()
    if response.subtype != "error":
        return ()
    return (Error(kind="config", message=response.error, retryable=False),)


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
    fields: Mapping[str, Any] = _decoded(request.input, _fields_decoder) or {}
    if name == _PLAN:
        return _plan(message.request_id, fields)
    if name == _QUESTIONS:
        questions = tuple(_questions(request.input))
        return Ask(
            id=message.request_id, about="questions", name=name, kind="ask", questions=questions
        )
    return _call(message.request_id, request, fields)


def _plan(id: str, fields: Mapping[str, Any]) -> Ask:
    plan = _text(fields, "plan")
    lines = plan.strip().split("\n") if plan else ()
    notes = _notes(fields, {"plan", "planFilePath"} if plan else set())
    return Ask(id=id, about="plan", name=_PLAN, detail=tuple(lines), notes=notes)


def _call(id: str, request: shapes.Request, fields: Mapping[str, Any]) -> Ask:
    name = request.tool_name or ""
    kind = tools.kind(name)
    update = _update(request)
    rule = tools.allow_rule(name, request.input) if name else None
    shown = _shown(name, kind, fields)
    purpose = _text(fields, "description") if kind == "execute" and shown.title else None
    if purpose:
        shown.fields.add("description")
    input = None if request.input is NOTHING else bytes(request.input).decode("utf-8", "replace")
    return Ask(
        id=id,
        name=request.tool_name,
        kind=kind,
        title=shown.title or input,
        detail=tuple(shown.detail),
        notes=_notes(fields, shown.fields) if shown.title else (),
        purpose=purpose,
        reason=request.decision_reason,
        always=_update_scope(update) if update else rule,
        scope=None if update else _rule_scope(rule, name, kind),
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


def _update_scope(update: Mapping[str, Any]) -> str:
    """Describe what an update allows, for the user who decides about it."""
    if update["type"] == "setMode":
        return "all file changes in this folder, rm and mv too"
    rules: Sequence[Mapping[str, str]] = update["rules"]
    return ", ".join(
        f"{rule['toolName']}({rule['ruleContent']})" if "ruleContent" in rule else rule["toolName"]
        for rule in rules
    )


def _rule_scope(rule: str | None, name: str, kind: ToolKind) -> str | None:
    """Describe what a rule that rook remembers allows, if that is more than the rule says."""
    if rule == name:
        return f"any call of {name}"
    return {"edit": "any change to this file", "read": "reading this file"}.get(kind)


def _shown(name: str, kind: ToolKind, fields: Mapping[str, Any]) -> _Shown:
    """The title of a call in full length, and the lines it changes: a user decides by them."""
    names: Mapping[ToolKind, tuple[str, ...]] = {
        "execute": ("command",),
        "read": ("file_path", "notebook_path"),
        "edit": ("file_path", "notebook_path"),
        "fetch": ("url", "query"),
    }
    field = next((field for field in names.get(kind, ()) if _text(fields, field)), None)
    if field is None:
        return _Shown(set())
    shown = _Shown({field}, _text(fields, field))
    if kind == "edit":
        old, new = _CHANGES.get(name, ("", ""))
        edits = fields.get("edits") if name == "MultiEdit" else None
        if isinstance(edits, list) and all(isinstance(edit, dict) for edit in edits):
            shown.fields.add("edits")
            shown.detail = [line for edit in edits for line in _edit_lines(edit)]
        elif isinstance(fields.get(new), str):
            shown.fields |= {old, new}
            shown.detail = _difference(_lines(_text(fields, old) or ""), _lines(fields[new]))
    return shown


def _edit_lines(edit: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one of several changes, after notes about its other inputs."""
    shown = {"old_string", "new_string"}
    yield from (f" {note}:" for note in _notes(edit, shown))
    old, new = (_text(edit, name) or "" for name in ("old_string", "new_string"))
    yield from _difference(_lines(old), _lines(new))


def _notes(fields: Mapping[str, Any], shown: set[str]) -> tuple[str, ...]:
    """Return the inputs that are not shown otherwise, starting with those that have a phrase."""
    left = {name: value for name, value in fields.items() if name not in shown}
    phrases = [_PHRASES[name] for name, value in left.items() if name in _PHRASES and value is True]
    others = [
        f"with {name}: {msgspec.json.encode(value).decode()}"
        for name, value in left.items()
        if value is not None and (name not in _PHRASES or not isinstance(value, bool))
    ]
    return (*phrases, *others)  # guards: decisive-inputs


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


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
