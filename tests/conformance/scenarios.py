"""What every real agent is put through: the rows of the table that `make conformance` prints."""

import pytest

SCENARIOS = (
    "text",
    "reasoning",
    "read",
    "shell ok",
    "shell failing",
    "edit",
    "parallel tools",
    "denied",
    "MCP tool",
    "subagent",
    "API error for good",
    "retry then success",
    "Ctrl-C in mid tool",
    "deadline",
    "budget stop",
    "resume",
    "huge output",
    "unicode",
)

_BY_SHELL = "it has no tool for it: its shell reads files"
LACKING = {("codex", "read"): _BY_SHELL, ("goose", "read"): _BY_SHELL}
"""The scenarios that an agent cannot be put through, and why."""


def scenario(*names: str, but: str = "") -> pytest.MarkDecorator:
    """Mark a test as the scenarios that it goes through; `but` is what differs in this agent."""
    assert set(names) <= set(SCENARIOS), names
    return pytest.mark.scenario(*names, but=but)


ACP_SCENARIOS = (
    "text",
    "thinking",
    "read",
    "failing command",
    "edit",
    "ask-allow",
    "ask-deny",
    "always",
    "cancel",
    "resume",
    "401",
    "500 then success",
    "subagent",
    "unicode",
    "huge output",
    "kill",
)
"""What every agent that speaks the Agent Client Protocol is put through."""

_COMPLETED = "it reports a failing command as completed"
_CANCELLED = "it reports a cancelled command as completed"
_RETRIES = "it retries for longer than the run waits, and reports nothing"
ACP_REMARKS = {
    ("gemini", "failing command"): _COMPLETED,
    ("vibe", "failing command"): _COMPLETED,
    ("gemini", "cancel"): _CANCELLED,
    ("opencode", "cancel"): _CANCELLED,
    ("kilo", "cancel"): _CANCELLED,
    ("goose", "edit"): "it reports the call, but no change of a file",
    ("gemini", "resume"): "it cannot load a session in the minute in which the session was made",
    ("gemini", "subagent"): "its own policy denies subagents",
    ("droid", "subagent"): "it does not name the tool",
    ("copilot", "subagent"): "it does not name the tool",
    ("codex", "subagent"): "it offers its model no tool for subagents",
    ("vibe", "subagent"): "it offers its model no tool for subagents",
    ("claude", "401"): _RETRIES,
    ("opencode", "401"): _RETRIES,
}
"""What differs in an agent, by agent and scenario: it lies in that agent."""


def acp_scenario(name: str) -> pytest.MarkDecorator:
    """Mark a test as a scenario of the agents that speak the Agent Client Protocol."""
    assert name in ACP_SCENARIOS, name
    return pytest.mark.scenario(name, but="")
