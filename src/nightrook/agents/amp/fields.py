"""Every field in the documentation or the program 0.0.1790142911, to report unknown ones."""

from collections.abc import Mapping

_USAGE = """
    usage usage.input_tokens usage.cache_creation_input_tokens usage.cache_read_input_tokens
    usage.output_tokens usage.max_tokens usage.service_tier
"""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type session_id parent_tool_use_id {fields}".split())
    for type, fields in {
        "system": """
            subtype cwd tools mcp_servers mcp_servers[].name mcp_servers[].status agent_mode
        """,
        "user": """
            message message.role message.content message.content[].type message.content[].text
            message.content[].tool_use_id message.content[].content message.content[].is_error
        """,
        "assistant": f"""
            message message.type message.role message.stop_reason message.content
            message.content[].type message.content[].text message.content[].id
            message.content[].name message.content[].input message.content[].thinking
            message.content[].signature message.content[].data
            {" ".join(f"message.{name}" for name in _USAGE.split())}
        """,
        "result": f"""
            subtype duration_ms is_error num_turns result error permission_denials {_USAGE}
        """,
    }.items()
}
