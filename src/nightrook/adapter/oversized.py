"""Shortens a message that is too long to be kept, so that its short fields can still be read."""

import re

from nightrook.adapter.lines import Oversized, is_escaped_after, quotes_in

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],:"]|[^{}\[\],:"]++', re.DOTALL)
_STRING_END = re.compile(rb'(?:[^"\\]|\\.)*+"', re.DOTALL)
_CLOSERS = {b"{": b"}", b"[": b"]"}
_DEEPEST = 64  # a message that is nested deeper is not worth the time
_LONGEST_ESCAPE = 6  # \\u0041


class Shortened(bytes):
    """The JSON of a message of which a part is left out."""


def shortened(line: Oversized) -> Shortened | None:
    """Return a message without its middle; None if its ends do not look like a JSON object.

    The string in which the head ends is cut there. If the tail begins in the same string, the end
    of the string follows; otherwise, the fields of the message that begin in the tail follow.
    """
    if not line.head.lstrip().startswith(b"{") or not line.tail.rstrip().endswith(b"}"):
        return None
    left_out = line.size - len(line.head) - len(line.tail)
    mark = b" [... %d bytes left out ...] " % left_out
    in_string = quotes_in(line.head) % 2 == 1
    if in_string and not line.quotes:
        return Shortened(_without_cut_end(line.head) + mark + _without_cut_start(line))
    head = _closed(line.head, mark)
    if head is None:
        return None
    fields = _last_fields(line, in_string=(in_string + line.quotes) % 2 == 1)
    return Shortened(head + (b"," if fields and not head.endswith(b"{") else b"") + fields + b"}")


def _without_cut_end(head: bytes) -> bytes:
    """Remove an escape sequence and a character that is cut at the end of a text."""
    escape = head.rfind(b"\\", max(0, len(head) - _LONGEST_ESCAPE))
    if escape >= 0:
        head = head[:escape]
        head = head[:-1] if is_escaped_after(head) else head
    end = len(head)
    while end and len(head) - end < 3 and 0x80 <= head[end - 1] < 0xC0:
        end -= 1
    return head[: end - 1] if end and head[end - 1] >= 0xC0 else head


def _without_cut_start(line: Oversized) -> bytes:
    """Remove the rest of an escape sequence or a character at the start of the tail."""
    tail = line.tail[line.escaped :]
    start = 0
    while start < min(3, len(tail)) and 0x80 <= tail[start] < 0xC0:
        start += 1
    return tail[start:]


def _closed(head: bytes, mark: bytes) -> bytes | None:
    """End what is open in the head, except for the message itself; None if it is too deep."""
    open_parts: list[bytes] = []
    complete, end, before = b"", 0, b""
    for token in _TOKEN.finditer(head):
        word = token[0]
        if word == b'"':  # a string that the head does not end
            if before in (b":", b"[") or (before == b"," and open_parts[-1:] == [b"]"]):
                return _without_cut_end(head) + mark + b'"' + _ends(open_parts)
            break
        if word in (b",", b"]", b"}"):
            complete, end = _ends(open_parts), token.start()
        if word in (b"{", b"["):
            open_parts.append(_CLOSERS[word])
            if len(open_parts) > _DEEPEST:
                return None
            complete, end = _ends(open_parts), token.end()
        elif word in (b"}", b"]"):
            if not open_parts or open_parts.pop() != word:
                return None
            complete, end = _ends(open_parts), token.end()
        before = word if word.strip() else before
    return head[:end] + complete if open_parts else None


def _ends(open_parts: list[bytes]) -> bytes:
    return b"".join(reversed(open_parts[1:]))


def _last_fields(line: Oversized, *, in_string: bool) -> bytes:
    """The fields of the message itself that begin in the tail; empty if there are none."""
    tail = _without_cut_start(line) if in_string else line.tail
    begin = 0
    if in_string:
        string = _STRING_END.match(tail)
        if string is None:
            return b""
        begin = string.end()
    depth, commas = 0, []
    for token in _TOKEN.finditer(tail, begin):
        word = token[0]
        if word in (b"{", b"["):
            depth += 1
        elif word in (b"}", b"]"):
            depth -= 1
        elif word == b",":
            commas.append((depth, token.end()))
    # The last brace ends the message, so the fields of the message are one level above it.
    first = next((place for level, place in commas if level == depth + 1), None)
    return b"" if first is None else tail[first : tail.rindex(b"}")]
