"""Gets what can be had out of a message that strict, typed reading refused. Slow, never raises."""

import json
import re
from math import isfinite
from typing import Any, TypeVar

import msgspec

from rookery.model.events import Unreadable

T = TypeVar("T")

_MOST_DROPS = 64
_MOST_DIGITS = 4000  # Python refuses to read longer integers
_LONG_NUMBER = re.compile(rb"(?<![0-9])[0-9]{%d}" % _MOST_DIGITS)
_DIGIT = re.compile(rb"[0-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PATH = re.compile(r"`\$(.*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")

_load = msgspec.json.Decoder().decode
_dump = msgspec.json.Encoder().encode


class Mended(msgspec.Struct):
    """A line's JSON value, and JSON text of it that anybody can read."""

    value: Any
    json: bytes


def parse(line: bytes) -> Mended | Unreadable:
    """Read a line as JSON, mending what can be mended, or say why it is no JSON.

    Mended are invalid UTF-8 and lone surrogates (U+FFFD), a BOM, raw control characters, and
    numbers nobody can hold (null).
    """
    try:
        line.decode()
        value = _load(line)
        _dump(value)
        return Mended(value, line.strip())
    except RecursionError:
        return unreadable(line, "too_deep")
    except (ValueError, OverflowError):
        # msgspec's message does not tell a lone surrogate from a cut line: try again by hand.
        return _parse_leniently(line)


def unreadable(line: bytes, reason: Any) -> Unreadable:
    """Say that a line is no message, with its beginning to look at."""
    return Unreadable(reason=reason, preview=line[:200].rstrip().decode("utf-8", "replace"))


def own(raw: bytes | msgspec.Raw) -> msgspec.Raw | None:
    """Make a raw part fit for an event: by itself, not a view that keeps its line in memory.

    msgspec does not look at the UTF-8 and the numbers of what it keeps raw; here they are looked
    at and mended. A part that the message does not have is None.
    """
    json = bytes(raw).strip()
    if not json:
        return None
    short = len(json) < _MOST_DIGITS
    if (json.isascii() or _is_utf8(json)) and (short or not _has_long_number(json)):
        return msgspec.Raw(json)
    mended = parse(json)
    return None if isinstance(mended, Unreadable) else msgspec.Raw(mended.json)


def decode(data: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Decode a part of a message; None if nothing of it fits the type."""
    try:
        return decoder.decode(data)
    except RecursionError:
        return None
    except ValueError:
        mended = parse(bytes(data))
        return None if isinstance(mended, Unreadable) else fit(mended.value, decoder).value


class Fitted(msgspec.Struct):
    """A value fitted to a type: which fields were dropped, or whose unknown kind forbade it."""

    value: Any
    dropped: list[str]
    stranger: str | None = None


def fit(value: Any, decoder: msgspec.json.Decoder[Any]) -> Fitted:
    """Fit a JSON value to a type by dropping the fields that do not fit."""
    dropped: list[str] = []
    while True:
        try:
            return Fitted(decoder.decode(_dump(value)), dropped)
        except msgspec.ValidationError as error:
            steps = _steps(error)
            if steps[-1:] == ["type"] and isinstance(kind := _at(value, steps), str):
                return Fitted(None, dropped, kind)
            if len(dropped) >= _MOST_DROPS:
                steps = steps[:1]
            if not steps or not _drop(value, steps):
                return Fitted(None, dropped)
            dropped.append("".join(f".{s}" if isinstance(s, str) else "[]" for s in steps)[1:])
        except (ValueError, RecursionError):
            return Fitted(None, dropped)


def _parse_leniently(line: bytes) -> Mended | Unreadable:
    text = line.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        value = json.loads(
            text,
            strict=False,
            parse_constant=lambda _: None,
            parse_float=_finite,
            parse_int=_holdable,
        )
        clean = _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()
        return Mended(_load(clean), clean)
    except RecursionError:
        return unreadable(line, "too_deep")
    except ValueError:
        return unreadable(line, "not_json")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _has_long_number(json: bytes) -> bool:
    # So long a number covers one of these places: most texts need no second look.
    places = json[_MOST_DIGITS - 1 :: _MOST_DIGITS]
    return _DIGIT.search(places) is not None and _LONG_NUMBER.search(json) is not None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


def _holdable(digits: str) -> int | None:
    # Beyond 64 bits other JSON readers disagree about a number; a mended line has none of them.
    number = int(digits) if len(digits) < _MOST_DIGITS else None
    return number if number is not None and -(2**63) <= number < 2**64 else None


def _steps(error: msgspec.ValidationError) -> list[str | int]:
    """The path that a validation error names, up to the first step it leaves open."""
    found = _PATH.search(str(error))
    steps: list[str | int] = []
    for step in _STEP.finditer(found[1] if found else ""):
        if step[1] is not None:
            steps.append(step[1])
        elif step[2] is not None:
            steps.append(int(step[2]))
        else:
            break
    return steps


def _at(value: Any, steps: list[str | int]) -> Any:
    for step in steps:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _drop(value: Any, steps: list[str | int]) -> bool:
    *way, last = steps
    holder = _at(value, way)
    if isinstance(holder, dict):
        return holder.pop(last, holder) is not holder
    if isinstance(holder, list) and isinstance(last, int) and last < len(holder):
        del holder[last]
        return True
    return False
