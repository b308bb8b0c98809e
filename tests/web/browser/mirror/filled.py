"""Values of any struct with a text in every field that can hold one, a field added later too."""

from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from nightrook.events import Event, ToolStarted
from nightrook.model.questions import About, Ask
from tests.web.browser.mirror.nightrook_mirror import TABLE

_CALLS = ("parent", "tool_id")  # fields that refer to a call
_FIRST = ("session_started", "turn_started", "tool_started", "task_started")
_LAST = ("task_finished", "tool_finished", "turn_finished")


def filled(kind: type[msgspec.Struct], text: str, number: int = 0, /, **given: Any) -> Any:
    """Return a value with a text in every field, and the numbered one of every choice."""
    hints = get_type_hints(kind, include_extras=True)
    made = {name: _value(hints[name], text, number) for name in kind.__struct_fields__}
    return kind(**{**made, **given})


def _value(hint: Any, text: str, number: int) -> Any:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _value(parts[0], text, number)
    if origin is Literal:
        return parts[number % len(parts)]
    if origin is tuple:
        return tuple(_value(part, text, number) for part in parts if part is not ...)
    if origin is list:
        return [_value(parts[0], text, number)]
    if origin is dict:
        return {_value(parts[0], text, number): _value(parts[1], text, number)}
    if parts:  # a union
        return _value(_likeliest(parts), text, number)
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return filled(hint, text, number)
    return _SIMPLE[hint](text, number)


def _likeliest(parts: tuple[Any, ...]) -> Any:
    """The member of a union that has a text, else the first that is something."""
    given = [part for part in parts if part not in (type(None), msgspec.UnsetType)]
    return next((part for part in given if part is str), given[0])


_SIMPLE: dict[Any, Any] = {
    Any: lambda text, number: text,
    str: lambda text, number: text,
    bool: lambda text, number: number % 2 == 0,
    int: lambda text, number: 1,
    float: lambda text, number: 0.5,
    msgspec.Raw: lambda text, number: msgspec.Raw(
        msgspec.json.encode({"command": text, "file_path": text, text: [text]})
    ),
}


def events(text: str, number: int = 0) -> list[Event]:
    """One event of each kind that an agent can cause; every other number belongs to a call."""
    made = []
    for kind in TABLE:
        fields = kind.__struct_fields__
        given: dict[str, Any] = {}
        if "id" in fields:
            given["id"] = _id(text, number)
        if kind is ToolStarted and number % 4 == 0:
            given["kind"] = "subagent"
        for name in _CALLS:
            if name in fields:
                is_own = number % 2 == 0 and kind is not ToolStarted
                given[name] = _id(text, number) if is_own else None
        made.append(filled(kind, text, number, **given))
    return sorted(made, key=_place)


def _id(text: str, number: int) -> str:
    return f"{text} {number}"


def _place(event: Any) -> int:
    tag = event.__struct_config__.tag
    return -1 if tag in _FIRST else 1 + _LAST.index(tag) if tag in _LAST else 0


def lines(text: str, number: int = 0) -> list[bytes]:
    """Those events as lines, and beside them what is not a known message."""
    made = [msgspec.json.encode(event) for event in events(text, number)]
    return [
        *made,
        msgspec.json.encode({"type": f"{text}.", "text": text}),
        msgspec.json.encode({"type": "notice", "level": "info", "text": text, text: text}),
        text.replace("\n", " ").encode("utf-8", "surrogatepass"),
    ]


def requests(text: str, number: int = 0) -> list[bytes]:
    """A line for each kind of question, with a text in all of its fields."""
    made = []
    for choice, about in enumerate(get_args(About)):
        id = f"{text} {number} {choice}"
        ask = filled(Ask, text, choice, id=id, seq=None, about=about)
        request = {"type": "permission_requested", "id": id, "name": text, "reason": text}
        made.append(msgspec.json.encode({**request, "input": ask, "tool_id": id}))
    return made
