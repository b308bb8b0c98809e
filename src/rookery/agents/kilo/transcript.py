"""What happened in the sessions that Kilo CLI keeps in its store."""

from rookery.adapter.finished_parts.transcript import transcript
from rookery.agents.kilo.fields import KNOWN_FIELDS
from rookery.agents.kilo.reader import TOOL_KINDS

TRANSCRIPT = transcript("kilo", resume=("kilo", "--session"), known=KNOWN_FIELDS, kinds=TOOL_KINDS)
