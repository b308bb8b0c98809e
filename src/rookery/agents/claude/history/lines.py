"""Decodes a line of a stored session, even if it is damaged."""

import re

import msgspec

from rookery.adapter import salvage
from rookery.agents.claude.history.shapes import Line

_START = re.compile(rb'\{\s*"(?:parentUuid|type|timestamp|sessionId|uuid)"')

_decoder = msgspec.json.Decoder(Line)


def decode(line: bytes) -> Line | None:
    """Decode a line; None if it cannot be read."""
    try:
        return _decoder.decode(line)
    except RecursionError:
        return _without_content(line)
    except ValueError:
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
    return salvage.decode_part(line[:content] + line[usage:], _decoder)
