"""Counts fields that an agent's checked versions did not write, to detect format drift."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from nightrook.model.events import UnknownField
from nightrook.model.text import cut

LOOKED_AT = 100
"""The number of lines of each type to check; checking all would cost a quarter of the speed."""

ALWAYS_LOOKED_AT = 20
"""The same for agents whose every stream is checked because it does not name its version."""

_MOST_FIELDS = 1000  # a hostile message may hold a million keys
_LONGEST_NAME = 200  # or one of a megabyte

_load = msgspec.json.Decoder().decode


class Drift:
    """Counts the unknown fields of messages, given the known ones of each type.

    These are dotted paths, separated by spaces: `type usage.input parts[].text`. `[]` stands for
    any item of a list. An object is checked only if a known path leads into it.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self._fields: dict[str, frozenset[str]] = {}  # the known ones of the types that were seen
        self._holders: dict[str, frozenset[str]] = {}  # and the objects that have them
        self._looked: Counter[str] = Counter()
        self._unknown: Counter[tuple[str, str]] = Counter()

    def look(self, type: str, line: bytes) -> bool:
        """Check one message of a known type; False if enough of that type were checked."""
        if type not in self._known or self._looked[type] >= LOOKED_AT:
            return False
        self._looked[type] += 1
        try:
            message = _load(line)
        except (ValueError, RecursionError):
            return True  # the decoder reports unreadable lines
        if type not in self._fields:
            known = self._fields[type] = frozenset(_with_holders(self._known[type].split()))
            self._holders[type] = frozenset(field.rpartition(".")[0] for field in known)
        self._walk(type, self._fields[type], "", message)
        return True

    def add(self, type: str, field: str) -> None:
        """Count a field that is new, or whose value has an unexpected shape."""
        name = cut(type, _LONGEST_NAME), cut(field, _LONGEST_NAME)  # guards: field-name-cut
        # guards: unknown-fields-bounded
        if name in self._unknown or len(self._unknown) < _MOST_FIELDS:
            self._unknown[name] += 1

    def fields(self) -> tuple[UnknownField, ...]:
        """The unknown fields, sorted by type and field."""
        counts = sorted(self._unknown.items())
        return tuple(UnknownField(type=t, field=f, count=n) for (t, f), n in counts)

    def _walk(self, type: str, known: frozenset[str], path: str, value: Any) -> None:
        if isinstance(value, list):
            path += "[]"
            for item in value:
                if isinstance(item, dict):
                    self._walk(type, known, path, item)
        elif isinstance(value, dict) and path in self._holders[type]:
            for key, item in value.items():
                inner = f"{path}.{key}" if path else key
                if inner in known:
                    self._walk(type, known, inner, item)
                else:
                    self.add(type, inner)


def _with_holders(fields: Iterable[str]) -> Iterator[str]:
    """The fields, and those of the objects that have them."""
    for field in fields:
        while field:
            yield field
            field = field.rpartition(".")[0].removesuffix("[]")


def type_name(shape: type[msgspec.Struct]) -> str:
    """The type of messages of a shape: its tag, or its class name if it has none."""
    tag = shape.__struct_config__.tag
    return shape.__name__.lower() if tag is None else str(tag)


_Read = Callable[[Any, Any, bytes], Any]


def watch(
    table: dict[type[msgspec.Struct], _Read],
    drift: Drift,
    *,
    most: int = LOOKED_AT,
    within: str = "",
) -> None:
    """Make the functions of a table check the first messages of each type for unknown fields.

    `within` is a prefix for the types, for tables of parts of messages.
    """

    def first(shape: type[msgspec.Struct], read: _Read) -> _Read:
        type, left = f"{within}{type_name(shape)}", most

        def looked(memory: Any, message: Any, line: bytes) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:
                table[shape] = read  # enough were checked
            drift.look(type, line)
            return read(memory, message, line)

        return looked

    table.update([(shape, first(shape, read)) for shape, read in table.items()])
