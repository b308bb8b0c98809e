"""The decoder of Kilo CLI's stream, which consists of finished parts, and its tools."""

from collections.abc import Mapping

from nightrook.adapter.finished_parts.reader import decoder_for
from nightrook.adapter.finished_parts.tools import KINDS
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.events import ToolKind

TOOL_KINDS: Mapping[str, ToolKind] = {
    **KINDS,
    "background_process": "execute",
    "kilo_local_recall": "search",
    "semantic_search": "search",
    "goal": "plan",
}

decoder = decoder_for("kilo", KNOWN_FIELDS["kilo"], TOOL_KINDS)
"""Returns a decoder for one stream of Kilo CLI."""
