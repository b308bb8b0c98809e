"""What happened in the sessions that Kilo CLI keeps in its store."""

from nightrook.adapter.finished_parts.transcript import transcript
from nightrook.agents.kilo.reader import TOOL_KINDS
from nightrook.agents.known_fields import KNOWN_FIELDS

TRANSCRIPT = transcript(
    "kilo", resume=("kilo", "--session"), known=KNOWN_FIELDS["kilo"], kinds=TOOL_KINDS
)
