"""Scripted replacements for a coding agent and for its model's API, for offline tests."""

import shlex
import sys
from os import PathLike
from pathlib import Path

from rookery.testing.chat_completions_api import ScriptedChatApi
from rookery.testing.generate_content_api import ScriptedGeminiApi
from rookery.testing.messages_api import ScriptedMessagesApi
from rookery.testing.responses_api import ScriptedResponsesApi
from rookery.testing.scripted_api import Answer, Cut, Failure, Reply, Script, ScriptedApi

__all__ = [
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
    "agent_command",
    "install_agent",
    "mcp_command",
]

AGENT = Path(__file__).with_name("scripted_agent.py")
"""The scripted agent, a standalone program; `--help` lists its flags."""

DEMO = AGENT.with_name("demo.jsonl")
"""A session of one minute; `demo.delays` contains the delay before each line."""

SESSIONS = AGENT.with_name("sessions")
"""The folder of the short sessions that flags of the scripted agent play."""


def agent_command(*flags: str) -> list[str]:
    """Return the command that runs the scripted agent with these flags."""
    return [sys.executable, "-I", "-S", str(AGENT), *flags]


def mcp_command() -> list[str]:
    """Return the command that runs a small MCP server on stdin and stdout."""
    return [sys.executable, "-I", "-S", str(AGENT.with_name("mcp_server.py"))]


def install_agent(folder: str | PathLike[str], *flags: str, name: str = "claude") -> Path:
    """Write a program of that name that runs the scripted agent; put its folder first on PATH."""
    program = Path(folder, name)
    program.write_text(f'#!/bin/sh\nexec {shlex.join(agent_command(*flags))} "$@"\n')
    program.chmod(0o755)
    return program
