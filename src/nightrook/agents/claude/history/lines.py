"""Decodes lines of a stored session, even if they are damaged."""

import re
from collections.abc import Sequence

import msgspec

from nightrook.adapter import salvage
from nightrook.agents.claude.history.shapes import Line

_START = re.compile(rb'\{\s*"(?:parentUuid|type|timestamp|sessionId|uuid)"')

_decoder = msgspec.json.Decoder(Line)


def decode(lines: Sequence[bytes]) -> Sequence[Line]:
    """Decode what lines have: a message each, unless one is damaged or a newline is missing."""
    try:
        return _decoder.decode_lines(b"\n".join(lines))
    except (ValueError, RecursionError):
        return [message for line in lines for message in _decode(line)]


def _decode(line: bytes) -> list[Line]:
    try:
        return [_decoder.decode(line)]
    except (ValueError, RecursionError):
        found = map(_decode_damaged, salvage.whole_messages(line))
        return [message for message in found if message is not None]


def _decode_damaged(line: bytes) -> Line | None:
    return (
        salvage.decode_part(line, _decoder)
        or salvage.decode_after_cut(line, _decoder, _START)
        or _without_content(line)
    )


def _without_content(line: bytes) -> Line | None:
    """The message without its content, which is all that is lost of most long or damaged lines."""
    content, usage = line.find(b'"content"'), line.rfind(b'"usage"')
    if not 0 < content < usage:
        return None
    before = line[:content]
    end = line.rfind(b"],", content, usage)  # of the content, if other fields follow it
    whole = salvage.decode_part(before + line[end + 2 :], _decoder) if end > 0 else None
    return whole or salvage.decode_part(before + line[usage:], _decoder)
