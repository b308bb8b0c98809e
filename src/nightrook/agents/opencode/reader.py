"""The decoder of OpenCode's stream, which consists of finished parts."""

from nightrook.adapter.finished_parts.reader import decoder_for
from nightrook.agents.known_fields import KNOWN_FIELDS

decoder = decoder_for("opencode", KNOWN_FIELDS["opencode"])
"""Returns a decoder for one stream of OpenCode."""
