"""What Codex keeps on disk: `reader` reads calls, sessions and limits from its rollout files."""

from nightrook.adapter.history import History, Place
from nightrook.agents.codex.history.reader import Memory, begin, read

_OWN_MARKS = (b'"session_meta"', b'"turn_context"', b'"token_usage_record"')


def _recognises(head: bytes) -> bool:
    return any(mark in head for mark in _OWN_MARKS)


def _place(below: str) -> Place:
    return Place(
        home=".codex", variable="CODEX_HOME", below=below, files=r"(.*/)?rollout-[^/]*\.jsonl"
    )


HISTORY = History(
    agent="codex",
    places=(_place("sessions"), _place("archived_sessions")),
    recognises=_recognises,
    needles=(
        b'"token_usage_record"',
        b'"token_count"',
        b'"turn_context"',
        b'"session_meta"',
        b'"user_message"',
        b'"UserMessage"',
    ),
    time="timestamp",
    memory=Memory,
    begin=begin,
    read=read,
    notes=("Codex does not report what its calls cost.",),
)
