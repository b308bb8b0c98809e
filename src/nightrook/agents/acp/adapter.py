"""Any agent that speaks the protocol, started by the command that the user types."""

from nightrook.agents.acp import NAME, speaker

AGENT = speaker(NAME)
