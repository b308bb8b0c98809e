"""What happened in the sessions that OpenCode keeps in its store."""

from nightrook.adapter.finished_parts.transcript import transcript
from nightrook.agents.known_fields import KNOWN_FIELDS

TRANSCRIPT = transcript(
    "opencode", resume=("opencode", "--session"), known=KNOWN_FIELDS["opencode"]
)
