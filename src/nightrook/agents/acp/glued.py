"""Lines that are not JSON because a newline is missing: words or a message before a message."""

import re
from itertools import islice, pairwise

_START = re.compile(rb'\{"jsonrpc"')
_MOST = 64


def messages_in(line: bytes) -> list[bytes]:
    """The messages of such a line, the last of which may be cut; none if there are none."""
    starts = [match.start() for match in islice(_START.finditer(line), _MOST)]
    return [line[start:end] for start, end in pairwise([*starts, len(line)])]


def noise_in(line: bytes) -> bytes:
    """What is before the first message of such a line."""
    first = _START.search(line)
    return line[: first.start()] if first else line
