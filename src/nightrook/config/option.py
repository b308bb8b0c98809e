"""An option: its name, type, default and help, and the reading of its values."""

import math
import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from nightrook.config.units import seconds, size
from nightrook.model.errors import OptionError

PREFIX = "ROOK_"
"""The prefix of the environment variables that set options."""

Completion = Literal[
    "agents",
    "batches",
    "changed",
    "cost_keys",
    "files",
    "folders",
    "histories",
    "loops",
    "profiles",
    "resumable",
    "running",
    "runs",
    "sessions",
    "shown",
    "stored",
    "ways",
]
"""Kinds of completion that a shell offers for an option or an argument."""

# What begins with a dash would be an option of the agent on its command line.
_NO_OPTION = "^[^-]"
# guards: name-no-dash
Name = Annotated[str, Meta(min_length=1, pattern=_NO_OPTION, title="a name")]
Text = Annotated[str, Meta(title="a text")]
Texts = Annotated[
    tuple[Annotated[str, Meta(min_length=1, title="a text")], ...], Meta(title="a list of texts")
]
Rules = Annotated[  # guards: rule-no-dash
    tuple[Annotated[str, Meta(min_length=1, pattern=_NO_OPTION, title="a rule")], ...],
    Meta(title="a list of rules"),
]
Dollars = Annotated[float, Meta(ge=0, le=1e9, title="a number of dollars")]
Count = Annotated[int, Meta(ge=1, title="a whole number above 0")]
Seconds = Annotated[float, Meta(gt=0, lt=1e9, title="a time such as 90s, 5m or 2h")]
Share = Annotated[float, Meta(gt=0, le=1, title="a share such as 80% or 0.8")]
Bytes = Annotated[int, Meta(ge=1, title="a size such as 500MB or 10GB")]
Folder = Annotated[str, Meta(min_length=1, title="a folder")]
File = Annotated[str, Meta(min_length=1, title="a file")]
Folders = Annotated[tuple[Folder, ...], Meta(title="a list of folders")]

FOR_AGENT = "options for the agent go after --, or in args"
"""Advice when an option of the agent is passed as a value."""

_TIME, _SHARE, _SIZE = (str(get_args(kind)[1].title) for kind in (Seconds, Share, Bytes))


Loosens = Literal["always", "higher", "never"]
"""Condition under which a value loosens: allows or costs more, or shows less, than without it.

Such a value of a project's file applies only after `rook trust`.
"""


Group = Literal[
    "Agent",
    "Prompt and folder",
    "Goal",
    "Tasks",
    "Iterations",
    "Limits",
    "Output",
    "Background",
    "At the end",
    "Fleet",
]
"""The headings of `--help`, in its order; options without a group come before the last one."""


class Flag(msgspec.Struct, frozen=True):
    """The properties of an option besides its type and its default.

    In a struct that derives from another one, an option that is declared again keeps what its
    type, its default and its flag do not change.
    """

    help: str = ""
    """One sentence; `{run}` is a run, a loop or a task, as the command has it."""

    group: Group | None = None
    commands: tuple[str, ...] = ()
    """The commands that have it; empty means all that take the struct."""

    words: tuple[str, ...] = ()
    """Spellings on a command line; empty means `--` and its name."""

    metavar: str | None = None
    default: str | None = None
    """Default shown in the help, if it is not the field's own default."""

    setting: bool = False
    """True if `rook.toml` and a `ROOK_…` variable can set it, by its name."""

    secret: bool = False
    """True if its values may have secrets, so that `rook config` shows only how they begin."""

    loosens: Loosens = "always"  # guards: loosens-by-default
    strict: tuple[Any, ...] = ()
    """The values that loosen nothing, the strictest first."""

    not_by_setting: tuple[str, ...] = ()
    """The words that a setting cannot choose for a command, only its command line."""

    only_users: bool = False
    """True if only the user's own settings can have it: no project's, profile's or command's."""

    yields_to: tuple[str, ...] = ()
    """The options that turn it off when they are on the command line and it is a setting."""

    completes: Completion | None = None


def variable(name: str) -> str:
    """The name of a setting in the environment."""
    return PREFIX + name.upper()


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of options."""

    name: str
    type: Any
    """Type without None."""

    default: Any
    flag: Flag

    @property
    def variable(self) -> str:
        """Name in the environment, if it is a setting."""
        return variable(self.name)

    @property
    def choices(self) -> tuple[str, ...]:
        """The words it takes; empty if it takes others too."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def is_list(self) -> bool:
        """True if it can be given several times."""
        return get_origin(_bare(self.type)) is tuple

    @property
    def is_time(self) -> bool:
        """True if it is a length of time."""
        return _title(self.type) == _TIME

    @property
    def is_size(self) -> bool:
        """True if it is a number of bytes."""
        return _title(self.type) == _SIZE

    @property
    def takes(self) -> str:
        """A description of its values."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return "true or false" if self.type is bool else _title(self.type)

    def takes_instead(self, raw: Any) -> str:
        """A description of its values, for an error about a wrong one."""
        if not self.is_like_option(raw):
            return self.takes
        verb = "don't" if self.is_list else "doesn't"
        return f"{self.takes} that {verb} begin with '-' ({FOR_AGENT})"

    def is_like_option(self, raw: Any) -> bool:
        """True if a value is refused because the agent would take it for one of its options."""
        metas = getattr(self.element.type, "__metadata__", ())
        refused = any(isinstance(meta, Meta) and meta.pattern == _NO_OPTION for meta in metas)
        words = raw if isinstance(raw, (list, tuple)) else [raw]
        return refused and any(isinstance(word, str) and word.startswith("-") for word in words)

    @property
    def element(self) -> "Option":
        """The option for a single value: of a list, for one of its elements."""
        kind = get_args(_bare(self.type))[0] if self.is_list else self.type
        return Option(name=self.name, type=kind, default=None, flag=self.flag)

    def read(self, raw: Any) -> Any:
        """Return the value that a typed value means; a ValueError if it has the wrong type."""
        return _checked(msgspec.convert(_prepared(raw, self.type), self.type))

    def read_word(self, word: str) -> Any:
        """Return the value that a word of a command line means."""
        return _checked(msgspec.convert(_prepared(word, self.type), self.type, strict=False))

    def read_variable(self, text: str) -> Any:
        """Return the value that a variable means; of a list, each line is an element."""
        if not self.is_list:
            return self.read_word(text.strip())
        return self.read([line.strip() for line in text.split("\n") if line.strip()])


_Options = TypeVar("_Options", bound=msgspec.Struct)


@cache
def rows(struct: type[msgspec.Struct], noun: str = "run") -> tuple[Option, ...]:
    """The options among the fields of a struct, in the order in which it lists them."""
    found = []
    for field in msgspec.structs.fields(struct):
        if (flag := _flag(struct, field.name)) is not None:
            kind, _ = _without_flag(field.type)
            flag = msgspec.structs.replace(flag, help=flag.help.replace("{run}", noun))
            found.append(Option(name=field.name, type=kind, default=field.default, flag=flag))
    return tuple(found)


def _flag(struct: type[msgspec.Struct], name: str) -> Flag | None:
    """The flag of a field: what the struct itself says of it, and otherwise what its bases say."""
    changes: dict[str, Any] = {}
    for cls in reversed(struct.__mro__):
        annotation = getattr(cls, "__annotations__", {}).get(name)
        _, own = _without_flag(annotation)
        if own is not None:
            changes |= {
                field.name: getattr(own, field.name)
                for field in msgspec.structs.fields(Flag)
                if getattr(own, field.name) != field.default
            }
    return Flag(**changes) if changes else None


def checked(struct: type[_Options], values: Mapping[str, Any]) -> _Options:
    """Make options from a caller's values; an OptionError names the first wrong one.

    Accepts what people write in Python: `Path`s, lists, `timedelta`s and times such as "5m".
    """
    fields = {field.name: field for field in msgspec.structs.fields(struct)}
    made = {}
    for name, raw in values.items():
        kind, _ = _without_flag(fields[name].type)
        try:
            value = _prepared(_plain(raw), kind)
            made[name] = _checked(msgspec.convert(value, fields[name].type))
        except (ValueError, TypeError):
            option = Option(name=name, type=kind, default=None, flag=Flag(help=""))
            raise OptionError(name, option.takes_instead(_plain(raw)), raw) from None
    return struct(**made)


def _plain(raw: Any) -> Any:
    """Turn paths, mappings and sequences of any class into plain ones."""
    if isinstance(raw, os.PathLike):
        return os.fspath(raw)
    if isinstance(raw, Mapping):
        return dict(raw)
    if isinstance(raw, Sequence) and not isinstance(raw, (str, bytes)):
        return tuple(raw)
    return raw


def _prepared(raw: Any, kind: Any) -> Any:
    """Convert a time or a share, as people write it, to a number."""
    title = _title(kind)
    if title == _TIME:
        if isinstance(raw, timedelta):
            return raw.total_seconds()
        length = seconds(str(raw)) if type(raw) in (int, float, str) else None
        return raw if length is None else length
    if title == _SIZE and isinstance(raw, str):
        number = size(raw)
        return raw if number is None else number
    if title == _SHARE and isinstance(raw, str) and raw.endswith("%"):
        return float(raw[:-1]) / 100
    return raw


def _without_flag(annotation: Any) -> tuple[Any, Flag | None]:
    """Take apart the annotation of a field: its type without None, and its flag."""
    flag = None
    if get_origin(annotation) is Annotated:
        flag = next((part for part in annotation.__metadata__ if isinstance(part, Flag)), None)
        if flag is not None:
            rest = [part for part in annotation.__metadata__ if part is not flag]
            annotation = Annotated[annotation.__origin__, *rest] if rest else annotation.__origin__
    if get_origin(annotation) in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        annotation = parts[0] if len(parts) == 1 else annotation
    return annotation, flag


def _bare(kind: Any) -> Any:
    return kind.__origin__ if get_origin(kind) is Annotated else kind


def _title(kind: Any) -> str:
    """The name of a type; that of an annotated one is in its metadata."""
    metas = kind.__metadata__ if get_origin(kind) is Annotated else ()
    return next((meta.title for meta in metas if isinstance(meta, Meta) and meta.title), str(kind))


def _checked(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a number")
    return value
