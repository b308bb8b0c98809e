"""Every setting there is: what it takes, and what it is for."""

import math
from collections.abc import Mapping
from types import MappingProxyType, NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta

from rookery.adapter.agent import Permission
from rookery.config.durations import seconds

PREFIX = "ROOKERY_"
"""What the name of a setting has before it in the environment, where it is in capitals."""


class Duration(float):
    """A length of time in seconds; written as a number of them, or as 90s, 5m or 2h."""


Name = Annotated[str, Meta(min_length=1, title="a name")]
Rules = Annotated[list[Name], Meta(title="a list of rules")]
Money = Annotated[float, Meta(ge=0, le=1e9, title="a number of dollars")]
Count = Annotated[int, Meta(ge=1, title="a whole number from 1")]

_PHRASES: dict[Any, str] = {
    bool: "true or false",
    Duration: "a time such as 90s, 5m or 2h",
}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of `rookery.toml`; each is called like the option that it is a default for."""

    agent: Annotated[
        Name | None, Meta(description="The agent to run: one that rook knows, or one of your own.")
    ] = None
    model: Annotated[Name | None, Meta(description="The model to ask for.")] = None
    permission: Annotated[
        Permission | None, Meta(description="What the agent may do unasked, or whether it asks.")
    ] = None
    ask_timeout: Annotated[
        Duration | None, Meta(description="After so long without an answer, it is no.")
    ] = None
    allow: Annotated[
        Rules | None,
        Meta(description="Tools it may use unasked; in the environment one on each line."),
    ] = None
    max_cost: Annotated[Money | None, Meta(description="Stop a run beyond this.")] = None
    max_tokens: Annotated[Count | None, Meta(description="Stop a run beyond so many tokens.")] = (
        None
    )
    max_turns: Annotated[Count | None, Meta(description="Stop a run beyond so many steps.")] = None
    timeout: Annotated[Duration | None, Meta(description="Stop a run after this long.")] = None
    idle_timeout: Annotated[
        Duration | None, Meta(description="Stop a run after such a silence.")
    ] = None
    stream: Annotated[
        bool | None,
        Meta(description="Messages as they come; false for the agent's plain text alone."),
    ] = None
    verbose: Annotated[
        bool | None, Meta(description="Show outputs, retries, limits and notices too.")
    ] = None
    quiet: Annotated[bool | None, Meta(description="Show the final answer alone.")] = None
    no_text: Annotated[bool | None, Meta(description="Leave out what the agent says.")] = None


class Setting(msgspec.Struct, frozen=True):
    """One row of the table: a setting's name, type and meaning."""

    name: str
    type: Any
    description: str

    @property
    def variable(self) -> str:
        """What it is called in the environment."""
        return PREFIX + self.name.upper()

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it takes; nothing if there are too many to list."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def takes(self) -> str:
        """What it takes, in words."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if get_origin(self.type) is Annotated:
            return str(get_args(self.type)[1].title)
        return _PHRASES[self.type]

    def read(self, raw: Any) -> Any:
        """Give the value that a file's value means; a ValueError if it is none."""
        return _checked(msgspec.convert(raw, self.type, dec_hook=_duration))

    def read_text(self, text: str) -> Any:
        """Give the value that a text of the environment means; a ValueError if it is none."""
        many = get_origin(get_args(self.type)[0]) is list if get_args(self.type) else False
        raw = [line.strip() for line in text.split("\n") if line.strip()] if many else text.strip()
        return _checked(msgspec.convert(raw, self.type, strict=False, dec_hook=_duration))


def _table() -> dict[str, Setting]:
    rows = {}
    for field in msgspec.structs.fields(Settings):
        optional, meta = get_args(field.type)
        (kind,) = (part for part in get_args(optional) if part is not NoneType)
        rows[field.name] = Setting(field.name, kind, meta.description)
    return rows


def _duration(kind: type, raw: Any) -> Any:
    length = seconds(str(raw)) if type(raw) in (int, float, str) else None
    if length is None:
        raise ValueError("no time")
    return kind(length)


def _checked(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no number")
    return value


SETTINGS: Mapping[str, Setting] = MappingProxyType(_table())
"""All settings by name."""
