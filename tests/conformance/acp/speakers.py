"""The real agents that speak the Agent Client Protocol: how each is set up, and its tools."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightrook.testing import (
    Answer,
    Reply,
    Script,
    ScriptedApi,
    ScriptedChatApi,
    ScriptedGeminiApi,
    ScriptedMessagesApi,
    ScriptedResponsesApi,
)

Call = tuple[str, Mapping[str, Any] | str]
KEY = "made-up-key-0000"
NODE = os.environ.get("ROOK_TEST_NODE", "")
PRICES = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}


@dataclass(frozen=True, kw_only=True)
class Speaker:
    """One agent: how it is set up for a scripted model, and what its tools are called."""

    name: str
    variable: str
    """Where its program is, in the environment of the tests."""

    api: Callable[[Script], ScriptedApi]
    prepare: Callable[[Path, Path, str], Mapping[str, str]]
    """Sets it up in a home and a project for a model at an address; returns the variables."""

    shell: Callable[[str], Call]
    read: Callable[[Path], Call]
    edit: Callable[[Path, str, str], Call]
    subagent: Callable[[str], Call] | None = None
    counts: tuple[str, ...] = ("prompt_tokens", "completion_tokens")
    """The token counts of its API; what an agent asks for itself uses none."""

    model: str | None = None
    via: str | None = "acp"

    @property
    def program(self) -> str:
        return os.environ.get(self.variable, "")

    def script(self, *answers: Answer) -> Callable[[dict[str, Any]], Answer]:
        """The answers in order; what the agent asks for itself, as a title, is none of them."""
        left = iter(answers)

        def model(request: dict[str, Any]) -> Answer:
            offered = _offered(request)
            if not offered:
                return Reply(text="Side answer", usage=dict.fromkeys(self.counts, 0))
            if offered == ["respond_in_schema"]:  # qwen asks whether a call is harmless
                return Reply(tools=[("respond_in_schema", {"shouldBlock": False})])
            return next(left, Reply(text="Nothing more."))

        return model


def _offered(request: dict[str, Any]) -> list[str]:
    """The names of the tools that a request offers, in any API."""
    names = []
    for tool in request.get("tools") or ():
        inner = tool.get("function") or tool
        declared = tool.get("functionDeclarations") or [inner]
        names += [str(one.get("name") or one.get("type")) for one in declared]
    return names


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _claude(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "DISABLE_TELEMETRY": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


def _codex(home: Path, project: Path, url: str) -> Mapping[str, str]:
    settings = f"""
model = "gpt-5.5"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 2
stream_max_retries = 2
"""
    _write(home / ".codex" / "config.toml", settings)
    return {"SCRIPTED_KEY": KEY}


def _gemini(home: Path, project: Path, url: str) -> Mapping[str, str]:
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    _write(home / ".gemini" / "settings.json", json.dumps(auth))
    return {
        "GEMINI_API_KEY": KEY,
        "GEMINI_MODEL": "gemini-2.5-flash",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _opencode_settings(url: str) -> str:
    model = {"name": "m", "limit": {"context": 200_000, "output": 8_000}, "cost": PRICES}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {"m": {**model, "reasoning": True}},
    }
    settings = {
        "model": "scripted/m",
        "small_model": "scripted/m",
        "share": "disabled",
        "permission": {"bash": "ask", "edit": "ask"},
        "provider": {"scripted": provider},
    }
    return json.dumps(settings)


def _opencode(home: Path, project: Path, url: str) -> Mapping[str, str]:
    _write(project / "opencode.json", _opencode_settings(url))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _kilo(home: Path, project: Path, url: str) -> Mapping[str, str]:
    _write(home / ".config" / "kilo" / "kilo.json", _opencode_settings(url))
    off = ("AUTOUPDATE", "CODEBASE_INDEXING", "LSP_DOWNLOAD", "MODELS_FETCH", "PRESENCE")
    return {
        "DO_NOT_TRACK": "1",
        "KILO_NO_DAEMON": "1",
        "KILO_TELEMETRY": "0",
        "KILO_DISABLE_SESSION_INGEST": "1",
        "KILO_DISABLE_TELEMETRY": "1",
        **{f"KILO_DISABLE_{word}": "1" for word in off},
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def _qwen(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "scripted"}


def _copilot(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_MODEL": "scripted-model",
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
    }


def _goose(home: Path, project: Path, url: str) -> Mapping[str, str]:
    return {
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_MODEL": "scripted-model",
        "GOOSE_PROVIDER": "openai",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "GOOSE_TELEMETRY_OFF": "1",
        "OPENAI_API_KEY": KEY,
        "OPENAI_HOST": url,
    }


def _kimi(home: Path, project: Path, url: str) -> Mapping[str, str]:
    settings = f"""
default_model = "scripted"
telemetry = false
[providers.local]
type = "openai"
base_url = "{url}/v1"
api_key = "{KEY}"
[models.scripted]
provider = "local"
model = "scripted"
max_context_size = 200000
"""
    _write(home / ".kimi-code" / "config.toml", settings)
    folders = [Path(NODE).parent, Path(os.environ.get("ROOK_TEST_KIMI", "")).parent]
    return {
        "PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]]),  # its own Node.js first
        "DO_NOT_TRACK": "1",
        "KIMI_CODE_DISABLE_TELEMETRY": "1",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
    }


def _vibe(home: Path, project: Path, url: str) -> Mapping[str, str]:
    settings = f"""
active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
[[providers]]
name = "local"
api_base = "{url}/v1"
api_key_env_var = "SCRIPTED_KEY"
[[models]]
name = "scripted"
provider = "local"
alias = "scripted"
input_price = 1.0
output_price = 2.0
"""
    _write(home / ".vibe" / "config.toml", settings)
    return {"SCRIPTED_KEY": KEY}


def _droid(home: Path, project: Path, url: str) -> Mapping[str, str]:
    model = {
        "model": "scripted",
        "displayName": "scripted",
        "baseUrl": f"{url}/v1",
        "apiKey": KEY,
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 8000,
    }
    _write(home / ".factory" / "settings.json", json.dumps({"customModels": [model]}))
    return {
        "DO_NOT_TRACK": "1",
        "FACTORY_API_KEY": KEY,
        "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false",
    }


def _edit(tool: str, path: str = "filePath", old: str = "oldString", new: str = "newString") -> Any:
    return lambda file, before, after: (tool, {path: str(file), old: before, new: after})


def _shell(tool: str, key: str = "command", **more: Any) -> Callable[[str], Call]:
    return lambda command: (tool, {key: command, **more})


def _read(tool: str, key: str) -> Callable[[Path], Call]:
    return lambda path: (tool, {key: str(path)})


SPEAKERS = {
    one.name: one
    for one in (
        Speaker(
            name="claude",
            variable="ROOK_TEST_CLAUDE_ACP",
            api=ScriptedMessagesApi,
            counts=("input_tokens", "output_tokens"),
            prepare=_claude,
            shell=_shell("Bash", description="run it"),
            read=_read("Read", "file_path"),
            edit=_edit("Edit", "file_path", "old_string", "new_string"),
            subagent=lambda task: (
                "Agent",
                {"description": "look", "prompt": task, "subagent_type": "general-purpose"},
            ),
        ),
        Speaker(
            name="codex",
            variable="ROOK_TEST_CODEX_ACP",
            api=ScriptedResponsesApi,
            counts=("input_tokens", "output_tokens"),
            prepare=_codex,
            shell=_shell(  # in its sandbox, it asks for nothing
                "exec_command",
                "cmd",
                sandbox_permissions="require_escalated",
                justification="It is a test.",
            ),
            read=lambda path: ("exec_command", {"cmd": f"cat {path}"}),
            edit=lambda path, old, new: (
                "apply_patch",
                f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch",
            ),
        ),
        Speaker(
            name="gemini",
            variable="ROOK_TEST_GEMINI",
            api=ScriptedGeminiApi,
            counts=("promptTokenCount", "candidatesTokenCount"),
            prepare=_gemini,
            shell=_shell("run_shell_command", description="run it"),
            read=_read("read_file", "file_path"),
            edit=lambda path, old, new: (
                "replace",
                {"file_path": str(path), "old_string": old, "new_string": new, "instruction": "x"},
            ),
            subagent=lambda task: ("invoke_agent", {"agent_name": "generalist", "prompt": task}),
        ),
        Speaker(
            name="opencode",
            variable="ROOK_TEST_OPENCODE",
            api=ScriptedChatApi,
            prepare=_opencode,
            shell=_shell("bash", description="run it"),
            read=_read("read", "filePath"),
            edit=_edit("edit"),
            subagent=lambda task: (
                "task",
                {"description": "look", "prompt": task, "subagent_type": "general"},
            ),
        ),
        Speaker(
            name="qwen",
            variable="ROOK_TEST_QWEN",
            api=ScriptedChatApi,
            prepare=_qwen,
            shell=_shell("run_shell_command", description="run it", is_background=False),
            read=_read("read_file", "file_path"),
            edit=_edit("edit", "file_path", "old_string", "new_string"),
            subagent=lambda task: (
                "agent",
                {"description": "look", "prompt": task, "subagent_type": "general-purpose"},
            ),
        ),
        Speaker(
            name="copilot",
            variable="ROOK_TEST_COPILOT",
            api=ScriptedChatApi,
            prepare=_copilot,
            shell=_shell("bash", description="run it"),
            read=_read("view", "path"),
            edit=_edit("edit", "path", "old_str", "new_str"),
            subagent=lambda task: (
                "task",
                {
                    "description": "look",
                    "prompt": task,
                    "agent_type": "general-purpose",
                    "name": "looker",
                },
            ),
        ),
        Speaker(
            name="goose",
            variable="ROOK_TEST_GOOSE",
            api=ScriptedChatApi,
            prepare=_goose,
            shell=_shell("shell"),
            read=lambda path: ("shell", {"command": f"cat {path}"}),
            edit=_edit("edit", "path", "before", "after"),
            subagent=lambda task: ("delegate", {"instructions": task}),
        ),
        Speaker(
            name="kimi",
            variable="ROOK_TEST_KIMI",
            api=ScriptedChatApi,
            prepare=_kimi,
            shell=_shell("Bash"),
            read=_read("Read", "path"),
            edit=_edit("Edit", "path", "old_string", "new_string"),
            subagent=lambda task: ("Agent", {"description": "look", "prompt": task}),
        ),
        Speaker(
            name="kilo",
            variable="ROOK_TEST_KILO",
            api=ScriptedChatApi,
            prepare=_kilo,
            shell=_shell("bash", description="run it"),
            read=_read("read", "filePath"),
            edit=_edit("edit"),
            subagent=lambda task: (
                "task",
                {"description": "look", "prompt": task, "subagent_type": "general"},
            ),
        ),
        Speaker(
            name="vibe",
            variable="ROOK_TEST_VIBE",
            api=ScriptedChatApi,
            prepare=_vibe,
            via=None,
            shell=_shell("bash"),
            read=_read("read_file", "path"),
            edit=_edit("edit", "file_path", "old_string", "new_string"),
        ),
        Speaker(
            name="droid",
            variable="ROOK_TEST_DROID",
            api=ScriptedChatApi,
            prepare=_droid,
            model="custom:scripted",
            shell=_shell(
                "Execute",
                riskLevel="medium",
                riskLevelReason="it writes a file",
                summary="run it",
                timeout=60,
            ),
            read=_read("Read", "file_path"),
            edit=_edit("Edit", "file_path", "old_str", "new_str"),
            subagent=lambda task: (
                "Task",
                {"subagent_type": "worker", "description": "look", "prompt": task},
            ),
        ),
    )
}
