"""What Kilo CLI keeps on disk: a SQLite store of messages and their steps."""

import re
from functools import partial

from nightrook.adapter.history import History, Place, Query
from nightrook.adapter.stores.message_steps import CHANGES, ROWS, read_session

_TABLES = re.compile(rb'CREATE TABLE [`"]?part\b')


def recognises(schema: bytes) -> bool:
    """Whether a store has messages with parts."""
    return _TABLES.search(schema) is not None


HISTORY = History(
    agent="kilo",
    places=(
        Place(
            home=".local/share",
            variable="XDG_DATA_HOME",
            below="kilo",
            files=r"kilo(-[^/]+)?\.db",
            kind="sqlite",
        ),
    ),
    recognises=recognises,
    queries=(
        # 7.7.9 adds the cost of a subagent to the message that called it; steps have their own.
        Query(changes=CHANGES, rows=ROWS, read=partial(read_session, messages_have_costs=False)),
    ),
    notes=("Kilo CLI doesn't store the requests that make titles.",),
)
