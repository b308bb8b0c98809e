"""What happened in the sessions that Kilo CLI keeps in its store."""

from nightrook.adapter.finished_parts.transcript import transcript
from nightrook.agents.kilo.fields import KNOWN_FIELDS
from nightrook.agents.kilo.reader import TOOL_KINDS

TRANSCRIPT = transcript("kilo", resume=("kilo", "--session"), known=KNOWN_FIELDS, kinds=TOOL_KINDS)
