"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("0.61.0",)
"""The versions of Gemini CLI of which every field was checked; a stream does not name its own."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type timestamp {fields}".split())
    for type, fields in {
        "init": "session_id model",
        "message": "role content delta",
        "tool_use": "tool_name tool_id parameters",
        "tool_result": "tool_id status output error error.type error.message",
        "error": "severity message",
        "result": """
            status error error.type error.message stats stats.total_tokens stats.input_tokens
            stats.output_tokens stats.cached stats.input stats.duration_ms stats.tool_calls
            stats.models
        """,
    }.items()
}
