"""Every field that the checked versions of Codex wrote, by type, to report unknown ones."""

from collections.abc import Mapping

CHECKED_VERSIONS = frozenset({"0.166.0"})
"""The versions of which every message was checked; a stream does not name its version."""

_ITEM_FIELDS: Mapping[str, tuple[str, ...]] = {
    "agent_message": ("text",),
    "reasoning": ("text",),
    "command_execution": ("command", "aggregated_output", "exit_code", "status"),
    "file_change": ("changes", "changes[].path", "changes[].kind", "status"),
    # Arguments, content and metadata are defined by the server.
    "mcp_tool_call": (
        *("server", "tool", "arguments", "status", "error", "error.message"),
        *("result", "result.content", "result.structured_content", "result._meta"),
    ),
    "web_search": (
        *("query", "action", "action.type", "action.query", "action.queries"),
        *("action.url", "action.pattern"),
    ),
    "todo_list": ("items", "items[].text", "items[].completed"),
    # The keys of `agents_states` are threads.
    "collab_tool_call": (
        *("tool", "sender_thread_id", "receiver_thread_ids", "prompt", "agents_states", "status"),
    ),
    "error": ("message",),
}


def _item(kind: str) -> frozenset[str]:
    inner = ("id", "type", *_ITEM_FIELDS[kind])
    return frozenset({"type", "item", *(f"item.{field}" for field in inner)})


_USAGE = (
    *("input_tokens", "cached_input_tokens", "cache_write_input_tokens"),
    *("output_tokens", "reasoning_output_tokens"),
)

KNOWN_FIELDS: Mapping[str, frozenset[str]] = {
    "thread.started": frozenset({"type", "thread_id"}),
    "turn.started": frozenset({"type"}),
    "turn.completed": frozenset({"type", "usage", *(f"usage.{field}" for field in _USAGE)}),
    "turn.failed": frozenset({"type", "error", "error.message"}),
    "error": frozenset({"type", "message"}),
    **{
        f"{stage}/{kind}": _item(kind)
        for stage in ("item.started", "item.updated", "item.completed")
        for kind in _ITEM_FIELDS
    },
}
"""The fields of each type, as dotted paths; `item.completed/error` is an item."""
