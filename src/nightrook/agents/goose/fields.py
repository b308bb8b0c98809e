"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("1.52.0",)
"""The versions of Goose of which every field was checked; a stream does not name its own."""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type {fields}".split())
    for type, fields in {
        "message": """
            message message.id message.role message.created message.content message.content[].type
            message.content[].text message.content[].thinking message.content[].signature
            message.content[].data message.content[].id message.content[].toolCall
            message.content[].toolCall.status message.content[].toolCall.value
            message.content[].toolCall.value.name message.content[].toolCall.value.arguments
            message.content[].toolCall.error message.content[]._meta
            message.content[].toolResult message.content[].toolResult.status
            message.content[].toolResult.value message.content[].toolResult.value.resultType
            message.content[].toolResult.value.content
            message.content[].toolResult.value.structuredContent
            message.content[].toolResult.value.isError message.content[].toolResult.value._meta
            message.content[].toolResult.error message.content[].kind message.content[].message
            message.content[].notificationType message.content[].msg
            message.metadata message.metadata.userVisible message.metadata.agentVisible
            message.metadata.inference message.metadata.outputTokenLimitReached
        """,
        "notification": "extension_id log log.message progress",
        "error": "error",
        "complete": """
            total_tokens input_tokens output_tokens cache_read_input_tokens
            cache_write_input_tokens cost_usd
        """,
    }.items()
}
