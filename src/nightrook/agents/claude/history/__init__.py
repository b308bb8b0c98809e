"""What Claude Code keeps on disk: `lines` reads the text of a line, `reader` what it means."""

from nightrook.adapter.history import History, Place
from nightrook.agents.claude.history.reader import Memory, begin, read

_OWN_MARKS = (b'"isSidechain"', b'"leafUuid"', b'"queue-operation"')


def _recognises(head: bytes) -> bool:
    return any(mark in head for mark in _OWN_MARKS)


HISTORY = History(
    agent="claude",
    places=(
        Place(home=".claude", variable="CLAUDE_CONFIG_DIR", below="projects", files=r".*\.jsonl"),
        Place(home=".config/claude", below="projects", files=r".*\.jsonl"),
    ),
    recognises=_recognises,
    needles=(b'"usage"', b'"leafUuid"', b'Title"', b'"queue-operation"'),
    bulk=(b'"message":{', b'"role":"user"'),
    time="timestamp",
    memory=Memory,
    begin=begin,
    read_lines=read,
    notes=(
        "Claude Code does not store the calls that compact a conversation or make its title.",
        "Claude Code deletes sessions after 30 days unless cleanupPeriodDays is set.",
    ),
)
