"""The options of a run as fields of a flat JSON object, beside those of a loop or a task."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from nightrook.config.options import RunOptions

_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def with_run(struct: type[_Struct], fields: Mapping[str, Any]) -> _Struct:
    """Make a struct that has its options in `run`; a msgspec.ValidationError if one is wrong."""
    own = struct.__struct_encode_fields__
    run = {name: value for name, value in fields.items() if name not in own}
    rest = {name: value for name, value in fields.items() if name in own}
    return msgspec.convert({**rest, "run": run}, struct)


def flat(value: msgspec.Struct, run: RunOptions, always: Iterable[str]) -> dict[str, Any]:
    """All fields of a struct and of its `run` in one object.

    Fields of `run` that are not in `always` are left out if they have their default.
    """
    names = frozenset(always)
    options, default = msgspec.to_builtins(run), msgspec.to_builtins(RunOptions())
    fields = {
        name: option for name, option in options.items() if name in names or option != default[name]
    }
    rest = msgspec.to_builtins(value)
    del rest["run"]
    return {**fields, **rest}
