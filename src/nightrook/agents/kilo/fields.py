"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("7.7.9",)
"""The versions of Kilo CLI of which every field was checked; a stream does not name its version."""

_ENVELOPE = "type timestamp sessionID"
_PART = "part part.id part.messageID part.sessionID part.type"
_TIME = "part.time part.time.start part.time.end"

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"{_ENVELOPE} {fields}".split())
    for type, fields in {
        "step_start": f"{_PART} part.snapshot",
        "text": f"{_PART} {_TIME} part.text part.synthetic part.metadata",
        "reasoning": f"{_PART} {_TIME} part.text part.metadata",
        "tool_use": f"""
            {_PART} part.tool part.callID part.metadata part.state part.state.status
            part.state.input part.state.output part.state.error part.state.title
            part.state.metadata part.state.attachments part.state.time part.state.time.start
            part.state.time.end part.state.time.compacted
        """,
        "step_finish": f"""
            {_PART} {_TIME} part.time.elapsed part.reason part.snapshot part.metrics part.cost
            part.tokens part.tokens.total part.tokens.input part.tokens.output
            part.tokens.reasoning part.tokens.cache part.tokens.cache.read part.tokens.cache.write
        """,
        "error": "error error.name error.data",
    }.items()
}
