"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("0.215.0",)
"""The versions of Droid of which every field was checked; a stream does not name its version."""

_USAGE = """
    usage usage.input_tokens usage.output_tokens usage.cache_read_input_tokens
    usage.cache_creation_input_tokens usage.factory_credits usage.thinking_tokens usage.ttft_ms
"""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type timestamp session_id {fields}".split())
    for type, fields in {
        "system": "subtype cwd tools model reasoning_effort",
        "message": "role id text",
        "reasoning": "id text",
        "tool_call": "id messageId toolId toolName parameters",
        "tool_result": "id messageId toolId isError value error error.type error.message",
        "error": "source message",
        "completion": f"finalText numTurns durationMs {_USAGE}",
        "result": f"subtype is_error duration_ms num_turns result {_USAGE}",
    }.items()
}
