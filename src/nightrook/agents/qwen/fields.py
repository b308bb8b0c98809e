"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("0.15.10", "0.24.4")
"""The versions of Qwen Code of which every field was checked."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type uuid session_id parent_tool_use_id {fields}".split())
    for type, fields in {
        "system": """
            subtype cwd tools mcp_servers mcp_servers[].name mcp_servers[].status model
            permission_mode slash_commands qwen_code_version agents data data.task_id
            data.tool_use_id data.description data.subagent_type data.status data.usage
            data.usage.total_tokens data.usage.tool_uses data.usage.duration_ms data.reason
            data.attempt data.maxRetries data.delayMs data.discardedToolCalls data.preserveText
            data.fromModel data.toModel data.statusCode data.fallbackIndex data.notice data.slug
            data.path data.branch data.session_id data.message data.error
        """,
        "assistant": """
            message message.id message.type message.role message.model message.stop_reason
            message.content message.content[].type message.content[].id message.content[].input
            message.content[].name message.content[].signature message.content[].text
            message.content[].thinking message.usage message.usage.input_tokens
            message.usage.output_tokens message.usage.cache_read_input_tokens
            message.usage.total_tokens
        """,
        "user": """
            message message.role message.content message.content[].type
            message.content[].content message.content[].is_error message.content[].text
            message.content[].tool_use_id
        """,
        "stream_event": """
            event event.type event.index event.message event.message.id event.message.role
            event.message.model event.message.content event.content_block
            event.content_block.type event.content_block.id event.content_block.name
            event.content_block.input event.content_block.text event.content_block.thinking
            event.content_block.signature event.delta event.delta.type event.delta.text
            event.delta.thinking event.delta.partial_json event.tool_use_id event.content
            event.goal_state
        """,
        "result": """
            subtype is_error duration_ms duration_api_ms num_turns result error error.message
            stats structured_result permission_denials permission_denials[].tool_name
            permission_denials[].tool_use_id permission_denials[].tool_input usage
            usage.input_tokens usage.output_tokens usage.cache_read_input_tokens
            usage.total_tokens
        """,
    }.items()
}
