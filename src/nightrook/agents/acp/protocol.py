"""The methods of the protocol that we call, and the messages of a line that lacks newlines.

Each method is called once, and serves as the id of its request.
"""

import re
from itertools import islice, pairwise

INITIALIZE = "initialize"
NEW = "session/new"
LOAD = "session/load"
RESUME = "session/resume"
PROMPT = "session/prompt"
CANCEL = "session/cancel"
SET_MODE = "session/set_mode"
SET_MODEL = "session/set_model"
SET_OPTION = "session/set_config_option"

OPTIONAL = "optional "
"""The prefix of the id of a request whose failure does not matter."""

RESUMES = frozenset({LOAD, RESUME})
OPENS = frozenset({NEW, *RESUMES})
SETS = frozenset({SET_MODE, SET_MODEL, SET_OPTION})
ALL = frozenset({INITIALIZE, PROMPT, *OPENS, *SETS})

_START = re.compile(rb'\{"jsonrpc"')
_MOST = 64


def split_messages(line: bytes) -> list[bytes]:
    """The messages of a line that is not JSON because a newline is missing between them.

    The last may be cut; none if there are none.
    """
    starts = [match.start() for match in islice(_START.finditer(line), _MOST)]
    return [line[start:end] for start, end in pairwise([*starts, len(line)])]


def text_before(line: bytes) -> bytes:
    """Return the part of such a line before its first message."""
    first = _START.search(line)
    return line[: first.start()] if first else line
