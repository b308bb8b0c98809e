"""Every field that the checked versions wrote, by message type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = ("3.0.65",)
"""The versions of Cline of which every field was checked; a stream does not name its version."""

_USED = "inputTokens outputTokens cacheReadTokens cacheWriteTokens totalCost"
_EVENT = """
    type iteration hadToolCalls toolCallCount contentType text accumulated reasoning redacted
    toolName toolCallId input update output error durationMs errorClass recoverable reason
    iterations usage inputTokens outputTokens cacheReadTokens cacheWriteTokens cost totalInputTokens
    totalOutputTokens totalCacheReadTokens totalCacheWriteTokens totalCost error.name
    error.message error.stack noticeType displayRole message metadata
"""

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    type: frozenset(f"type ts {fields}".split())
    for type, fields in {
        "hook_event": "hookEventName agentId taskId parentAgentId",
        "agent_event": "event " + " ".join(f"event.{name}" for name in _EVENT.split()),
        "run_result": f"""
            finishReason iterations durationMs text model model.id model.provider usage
            aggregateUsage {" ".join(f"usage.{name}" for name in _USED.split())}
            {" ".join(f"aggregateUsage.{name}" for name in _USED.split())}
        """,
        "run_aborted": "reason message",
    }.items()
}
