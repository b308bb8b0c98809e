"""The agent that each program is: a command is recognised without loading every agent.

Generated from the `programs` and `forks` of the agents by `make docs`; do not edit.
"""

from collections.abc import Mapping

KNOWN_PROGRAMS: Mapping[str, str] = {
    "amp": "amp",
    "auggie": "auggie",
    "claude": "claude",
    "cline": "cline",
    "codex": "codex",
    "copilot": "copilot",
    "cursor-agent": "cursor",
    "droid": "droid",
    "gemini": "gemini",
    "goose": "goose",
    "grok": "grok",
    "hermes": "hermes",
    "junie": "junie",
    "kilo": "kilo",
    "kilocode": "kilo",
    "kimi": "kimi",
    "kiro-cli": "kiro",
    "opencode": "opencode",
    "openhands": "openhands",
    "pi-acp": "pi",
    "qodercli": "qoder",
    "qwen": "qwen",
    "vibe-acp": "vibe",
}
