"""Decodes a line of a stored session, even if it is damaged."""

import re
from collections.abc import Iterator

import msgspec

from rookery.adapter import salvage
from rookery.agents.claude.history.shapes import Line

_MOST_ATTEMPTS = 64
_START = re.compile(rb'\{\s*"(?:parentUuid|type|timestamp|sessionId|uuid)"')


_decoder = msgspec.json.Decoder(Line)


def decode(line: bytes) -> Line | None:
    """Decode a line; None if it cannot be read."""
    try:
        return _decoder.decode(line)
    except RecursionError:
        return _without_content(line)
    except ValueError:
        repaired = salvage.decode_part(line, _decoder)
        return _after_a_cut_line(line) or _without_content(line) if repaired is None else repaired


def _after_a_cut_line(line: bytes) -> Line | None:
    """The message that follows a line whose end was never written, on the same line."""
    for attempt in _suffixes(line):
        try:
            found = _decoder.decode(attempt)
        except (ValueError, RecursionError):
            continue
        if found.type is not None:
            return found
    return None


def _suffixes(line: bytes) -> Iterator[bytes]:
    for count, start in enumerate(_START.finditer(line, 1)):
        if count == _MOST_ATTEMPTS:
            return
        yield line[start.start() :]


def _without_content(line: bytes) -> Line | None:
    """The message without its content, which is all that is lost of most long or damaged lines."""
    content, usage = line.find(b'"content"'), line.rfind(b'"usage"')
    if not 0 < content < usage:
        return None
    return salvage.decode_part(line[:content] + line[usage:], _decoder)
