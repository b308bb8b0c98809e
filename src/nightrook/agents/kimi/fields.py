"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("2.1.0",)
"""The versions of Kimi Code of which every field was checked."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    role: frozenset(f"role {fields}".split())
    for role, fields in {
        "assistant": """
            content tool_calls tool_calls[].type tool_calls[].id tool_calls[].function
            tool_calls[].function.name tool_calls[].function.arguments
        """,
        "tool": "tool_call_id content",
        "meta": """
            type version failed_attempt next_attempt max_attempts delay_ms error_name error_message
            status_code session_id command content
        """,
        "goal": """
            type goalId status reason turnsUsed tokensUsed wallClockMs
        """,
    }.items()
}
