"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("1.18.33",)
"""The versions of OpenCode of which every field was checked; a stream does not name its version."""

_ENVELOPE = "type timestamp sessionID"
_PART = "part part.id part.messageID part.sessionID part.type"

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"{_ENVELOPE} {fields}".split())
    for type, fields in {
        "step_start": f"{_PART} part.snapshot",
        "text": f"""
            {_PART} part.text part.synthetic part.metadata part.time part.time.start part.time.end
        """,
        "reasoning": f"{_PART} part.text part.metadata part.time part.time.start part.time.end",
        "tool_use": f"""
            {_PART} part.tool part.callID part.metadata part.state part.state.status
            part.state.input part.state.output part.state.error part.state.title
            part.state.metadata part.state.attachments part.state.time part.state.time.start
            part.state.time.end part.state.time.compacted
        """,
        "step_finish": f"""
            {_PART} part.reason part.snapshot part.cost part.tokens part.tokens.total
            part.tokens.input part.tokens.output part.tokens.reasoning part.tokens.cache
            part.tokens.cache.read part.tokens.cache.write
        """,
        "error": "error error.name error.data",
    }.items()
}
