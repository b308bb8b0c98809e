"""Reads as much as possible of a message that strict typed decoding refused; never raises."""

import re
from itertools import islice
from math import isfinite
from typing import Any, TypeVar

import msgspec

from nightrook.model.events import Unreadable

T = TypeVar("T")

_MOST_DROPS = 64
_MOST_STARTS = 64
DEEPEST_PART = 200
"""The most nested arrays and objects in a part of a message, the same in every Python version."""

DEEPEST_LINE = 400
"""The same for a line; every parser reads that deep, wherever it is called."""

_BRACKET = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_MOST_DIGITS = 4000  # Python refuses to read longer integers
_LONG_NUMBER = re.compile(rb"(?<![0-9])[0-9]{%d}" % _MOST_DIGITS)
_DIGIT = re.compile(rb"[0-9]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_GLUED = re.compile(rb"\}\s*\{")
_PATH = re.compile(r"`\$(.*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")

_load = msgspec.json.Decoder().decode
_dump = msgspec.json.Encoder().encode


class Repaired(msgspec.Struct):
    """The JSON value of a line, and valid JSON text of it."""

    value: Any
    json: bytes


def parse(line: bytes) -> Repaired | Unreadable:
    """Read a line as JSON, with repairs if needed, or return why that is not possible.

    Invalid UTF-8 and lone surrogates become U+FFFD, numbers that are too large become null, and
    a BOM and raw control characters are accepted.
    """
    if shallow(line, DEEPEST_LINE) is not line:  # guards: json-depth
        return unreadable(line, "too_deep")
    try:
        line.decode()
        value = _load(line)
        _dump(value)
        return Repaired(value, line.strip())
    except RecursionError:
        return unreadable(line, "too_deep")
    except (ValueError, OverflowError):
        # msgspec's message is the same for a lone surrogate and a cut line: try the slow way.
        return _parse_leniently(line)


def unreadable(line: bytes, reason: Any) -> Unreadable:
    """Return an `Unreadable` for a line, with a preview of it."""
    return Unreadable(reason=reason, preview=line[:200].rstrip().decode("utf-8", "replace"))


def shallow(json: bytes, deepest: int) -> bytes:
    """Replace values nested deeper than that by null; the same object if there are none."""
    if json.count(b"[") + json.count(b"{") <= deepest:
        return json
    depth, done, start, pieces = 0, 0, 0, list[bytes]()
    for match in _BRACKET.finditer(json):
        byte = json[match.start()]
        if byte in b"[{":
            depth += 1
            if depth == deepest + 1:
                start = match.start()
        elif byte in b"]}":
            depth -= 1
            if depth == deepest:
                pieces += [json[done:start], b"null"]
                done = match.end()
    if depth > deepest:  # it is cut off in there
        pieces += [json[done:start], b"null"]
        done = len(json)
    return b"".join([*pieces, json[done:]]) if pieces else json


def raw_copy(raw: bytes | msgspec.Raw) -> msgspec.Raw | None:
    """Copy a raw part for use in an event, so that it does not keep its line in memory.

    msgspec does not check the UTF-8 and the numbers of raw parts; here they are checked and
    repaired. Returns None for a part that the message does not have.
    """
    json = bytes(raw).strip()
    if len(json) <= 2 * DEEPEST_PART:  # cannot be too deep
        if json.isascii():
            return msgspec.Raw(json) if json else None  # as most are
    else:
        json = shallow(json, DEEPEST_PART)
    is_short = len(json) < _MOST_DIGITS
    if (json.isascii() or _is_utf8(json)) and (is_short or not _has_long_number(json)):
        return msgspec.Raw(json)
    repaired = parse(json)
    return None if isinstance(repaired, Unreadable) else msgspec.Raw(repaired.json)


def decode_part(data: bytes | msgspec.Raw, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Decode a part of a message; None if none of it fits the type."""
    try:
        return decoder.decode(data)
    except RecursionError:
        return None
    except ValueError:
        repaired = parse(bytes(data))
        return None if isinstance(repaired, Unreadable) else fit(repaired.value, decoder).value


def decode_after_cut(
    line: bytes, decoder: msgspec.json.Decoder[T], start: re.Pattern[bytes]
) -> T | None:
    """Decode the message that follows one whose end was never written, in the same line.

    `start` matches how messages begin. Returns None if no whole message ends the line.
    """
    for match in islice(start.finditer(line, 1), _MOST_STARTS):
        try:
            return decoder.decode(line[match.start() :])  # guards: after-unfinished-line
        except (ValueError, RecursionError):
            continue
    return None


def whole_messages(line: bytes) -> list[bytes]:
    """The messages of a line that has several, because a newline between them is missing."""
    if _GLUED.search(line) is None:
        return [line]
    from json import JSONDecoder  # as below

    loose = JSONDecoder(strict=False)
    text = line.decode("utf-8", "replace")
    found, end = list[bytes](), 0
    while rest := text[end:].lstrip():
        try:
            _, size = loose.raw_decode(rest)
        except (ValueError, RecursionError):
            found.append(rest.encode())
            break
        found.append(rest[:size].encode())
        end = len(text) - len(rest) + size
    return found if len(found) > 1 else [line]


class Fitted(msgspec.Struct):
    """A value that was made to fit a type, with the fields that had to be dropped.

    `unknown_type` is the `type` of a part that no shape is known for; `value` is None then.
    """

    value: Any
    dropped: list[str]
    unknown_type: str | None = None


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
            if len(dropped) >= _MOST_DROPS:  # guards: bad-items-bounded
                steps = steps[:1]
            if not steps or not _drop(value, steps):
                return Fitted(None, dropped)
            dropped.append("".join(f".{s}" if isinstance(s, str) else "[]" for s in steps)[1:])
        except (ValueError, RecursionError):
            return Fitted(None, dropped)


def _parse_leniently(line: bytes) -> Repaired | Unreadable:
    import json  # slow to import, and only for lines that msgspec refuses

    text = line.decode("utf-8", "replace").lstrip("\ufeff")
    try:
        value = json.loads(
            text,
            strict=False,
            parse_constant=lambda _: None,
            parse_float=_finite,
            parse_int=_holdable,  # guards: json-readers-agree
        )
        clean = _SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)).encode()
        return Repaired(_load(clean), clean)
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
    # A number that long covers one of these places, so most texts need no search.
    places = json[_MOST_DIGITS - 1 :: _MOST_DIGITS]
    return _DIGIT.search(places) is not None and _LONG_NUMBER.search(json) is not None


def _finite(digits: str) -> float | None:
    number = float(digits)
    return number if isfinite(number) else None


def _holdable(digits: str) -> int | None:
    # JSON parsers disagree about numbers beyond 64 bits; a repaired line contains none of them.
    number = int(digits) if len(digits) < _MOST_DIGITS else None
    return number if number is not None and -(2**63) <= number < 2**64 else None


def _steps(error: msgspec.ValidationError) -> list[str | int]:
    """The path in a validation error, up to its first unspecified step."""
    path = _PATH.search(str(error))
    steps: list[str | int] = []
    for step in _STEP.finditer(path[1] if path else ""):
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
    *outer, last = steps
    holder = _at(value, outer)
    if isinstance(holder, dict):
        return holder.pop(last, holder) is not holder
    if isinstance(holder, list) and isinstance(last, int) and last < len(holder):
        del holder[last]
        return True
    return False
