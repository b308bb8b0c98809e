"""Scripted replacements for a coding agent and for its model's API, for offline tests."""

import shlex
import sys
from os import PathLike
from pathlib import Path

from nightrook.testing.chat_completions_api import ScriptedChatApi
from nightrook.testing.generate_content_api import ScriptedGeminiApi
from nightrook.testing.messages_api import ScriptedMessagesApi
from nightrook.testing.responses_api import ScriptedResponsesApi
from nightrook.testing.scripted_api import Answer, Cut, Failure, Reply, Script, ScriptedApi

__all__ = [
    "ACP_AGENT",
    "AGENT",
    "DEMO",
    "SESSIONS",
    "Answer",
    "Cut",
    "Failure",
    "Reply",
    "Script",
    "ScriptedApi",
    "ScriptedChatApi",
    "ScriptedGeminiApi",
    "ScriptedMessagesApi",
    "ScriptedResponsesApi",
    "acp_agent_command",
    "agent_command",
    "install_acp_agent",
    "install_agent",
    "mcp_command",
]

AGENT = Path(__file__).with_name("scripted_agent.py")
"""The scripted agent, a standalone program; `--help` lists its flags."""

ACP_AGENT = AGENT.with_name("scripted_acp_agent.py")
"""A scripted agent that speaks the Agent Client Protocol; `--help` lists its flags."""

DEMO = AGENT.with_name("demo.jsonl")
"""A session of one minute; `demo.delays` contains the delay before each line."""

SESSIONS = AGENT.with_name("sessions")
"""The folder of the short sessions that flags of the scripted agent play."""


def agent_command(*flags: str) -> list[str]:
    """Return the command that runs the scripted agent with these flags."""
    return [sys.executable, "-I", "-S", str(AGENT), *flags]


def acp_agent_command(*flags: str) -> list[str]:
    """Return the command that runs the scripted ACP agent with these flags."""
    return [sys.executable, "-I", "-S", str(ACP_AGENT), *flags]


def mcp_command() -> list[str]:
    """Return the command that runs a small MCP server on stdin and stdout."""
    return [sys.executable, "-I", "-S", str(AGENT.with_name("mcp_server.py"))]


def install_agent(folder: str | PathLike[str], *flags: str, name: str = "claude") -> Path:
    """Write a program of that name that runs the scripted agent; put its folder first on PATH."""
    return _install(Path(folder, name), agent_command(*flags))


def install_acp_agent(folder: str | PathLike[str], *flags: str, name: str) -> Path:
    """Write a program of that name that runs the scripted ACP agent."""
    return _install(Path(folder, name), acp_agent_command(*flags))


def _install(program: Path, command: list[str]) -> Path:
    program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    program.chmod(0o755)
    return program
