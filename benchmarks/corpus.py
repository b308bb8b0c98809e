"""A seeded stream of Claude Code messages shaped like the recorded cases, as long as one likes."""

import json
import random
from collections.abc import Iterator
from typing import Any

SESSION = "6f7c2f0e-5f0b-4a53-9d0e-0d6c2a1b7e55"
MODEL = "claude-sonnet-4-5-20250929"
WORDS = """
the test fails because config loader returns an empty value when path is relative so I will read
file again and change expected result then run whole suite once more naïve café 結果 → ✓
""".split()  # noqa: SIM905
CODE = (
    "def load(path: str) -> Config:\n",
    '    """Read the configuration."""\n',
    "\twith open(path, encoding='utf-8') as file:\n",
    '        return Config(**json.load(file), name="default")\n',
    "\n",
    '    assert result == {\'a\': 1, "b": [1, 2, 3]}, f"unexpected: {result!r}"\n',
)
TOOLS = ("Read", "Bash", "Edit", "Grep", "Bash", "Read")


class Corpus:
    """Writes sessions: partial messages, tool calls with results of 200 B to 5 MB, turn ends."""

    def __init__(self, seed: int = 1, *, unknown: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._unknown = unknown
        self._count = 0

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        given = 0
        for message in self._messages():
            line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            given += len(line)
            yield line
            if given >= size:
                return

    def _messages(self) -> Iterator[dict[str, Any]]:
        while True:
            for message in self._turn():
                if self._random.random() < self._unknown:
                    yield {"type": "telepathy", "thought": self._text(12), **self._common()}
                yield message

    def _turn(self) -> Iterator[dict[str, Any]]:
        yield self._init()
        for _ in range(self._random.randint(4, 20)):
            yield from self._step()
        yield from self._answer(self._name("msg"), index=0)
        yield self._result()

    def _step(self) -> Iterator[dict[str, Any]]:
        """One API message: some text, then a tool call, then its result."""
        message_id, tool_id = self._name("msg"), self._name("toolu")
        yield self._event({"type": "message_start", "message": self._message(message_id, [])})
        yield from self._answer(message_id, index=0)
        name = self._random.choice(TOOLS)
        input = self._input(name)
        block = {"type": "tool_use", "id": tool_id, "name": name, "input": {}}
        yield self._event({"type": "content_block_start", "index": 1, "content_block": block})
        text = json.dumps(input)
        for at in range(0, len(text), 24):
            delta = {"type": "input_json_delta", "partial_json": text[at : at + 24]}
            yield self._event({"type": "content_block_delta", "index": 1, "delta": delta})
        yield self._assistant(message_id, {**block, "input": input})
        yield self._event({"type": "content_block_stop", "index": 1})
        stop = {"stop_reason": "tool_use", "stop_sequence": None}
        yield self._event({"type": "message_delta", "delta": stop, "usage": self._usage(150)})
        yield self._event({"type": "message_stop"})
        yield self._tool_result(tool_id, name, input)

    def _answer(self, message_id: str, *, index: int) -> Iterator[dict[str, Any]]:
        block = {"type": "text", "text": ""}
        yield self._event({"type": "content_block_start", "index": index, "content_block": block})
        pieces = [self._text(self._random.randint(1, 5)) + " " for _ in range(self._deltas())]
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            yield self._event({"type": "content_block_delta", "index": index, "delta": delta})
        yield self._assistant(message_id, {"type": "text", "text": "".join(pieces)})
        yield self._event({"type": "content_block_stop", "index": index})

    def _deltas(self) -> int:
        return self._random.randint(5, 60)

    def _tool_result(self, tool_id: str, name: str, input: dict[str, Any]) -> dict[str, Any]:
        size = self._result_size()
        text = self._code(size)
        failed = self._random.random() < 0.1
        block: dict[str, Any] = {"tool_use_id": tool_id, "type": "tool_result", "content": text}
        result: Any = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        if name == "Read":
            file = {"filePath": input["file_path"], "content": text, "numLines": 9}
            result = {"type": "text", "file": file}
        if name == "Edit":
            patch = [
                {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": ["-a", "+b"]}
            ]
            result = {
                "filePath": input["file_path"],
                "originalFile": text,
                "structuredPatch": patch,
            }
            block["content"] = "The file has been updated successfully."
        if failed:
            block = {**block, "content": "Exit code 1\n" + text[:400], "is_error": True}
            result = "Error: Exit code 1\n" + text[:400]
        decision = {"decision": "accept", "source": "config", "reason_type": "mode"}
        return {
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": None,
            **self._common(),
            "timestamp": "2026-11-15T18:03:05.306Z",
            "tool_use_result": result,
            "tool_result_meta": [{"id": tool_id, "permission_decision": decision}],
        }

    def _result_size(self) -> int:
        """Every size from 200 B to 5 MB is as likely as one ten times as large."""
        return int(200 * 25_000 ** self._random.random())

    def _input(self, name: str) -> dict[str, Any]:
        path = f"/home/dev/project/src/module_{self._random.randint(1, 99)}.py"
        if name == "Bash":
            return {"command": f"pytest -q {path} | tail -20", "description": "Run the tests"}
        if name == "Grep":
            return {"pattern": "def load\\(", "output_mode": "content"}
        if name == "Edit":
            old, new = self._code(200), self._code(220)
            return {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        return {"file_path": path}

    def _init(self) -> dict[str, Any]:
        return {
            "type": "system",
            "subtype": "init",
            "cwd": "/home/dev/project",
            "tools": ["Task", "Bash", "Edit", "Read", "Write", "WebFetch", "TaskCreate"],
            "mcp_servers": [],
            "model": MODEL,
            "permissionMode": "default",
            "slash_commands": ["compact", "context", "cost", "init", "review"],
            "apiKeySource": "ANTHROPIC_API_KEY",
            "claude_code_version": "2.1.325",
            "output_style": "default",
            **self._common(),
        }

    def _result(self) -> dict[str, Any]:
        return {
            "duration_api_ms": 1443,
            "stop_reason": "end_turn",
            "total_cost_usd": 0.0136152,
            "usage": self._usage(228),
            "modelUsage": {MODEL: {"inputTokens": 66, "outputTokens": 228, "costUSD": 0.0136152}},
            "permission_denials": [],
            "is_error": False,
            "num_turns": 6,
            "subtype": "success",
            "result": self._text(30),
            "type": "result",
            "duration_ms": 3464,
            **self._common(),
        }

    def _assistant(self, message_id: str, block: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "assistant",
            "message": self._message(message_id, [block]),
            "parent_tool_use_id": None,
            **self._common(),
            "request_id": "req_000000000000000000000014",
            "timestamp": "2026-11-15T18:03:05.306Z",
        }

    def _message(self, id: str, content: list[Any]) -> dict[str, Any]:
        return {
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": self._usage(1),
            "context_management": None,
        }

    def _usage(self, output: int) -> dict[str, Any]:
        return {
            "input_tokens": 11,
            "cache_creation_input_tokens": 200,
            "cache_read_input_tokens": 2719,
            "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 0},
            "output_tokens": output,
            "service_tier": "standard",
        }

    def _event(self, event: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "stream_event",
            "event": event,
            **self._common(),
            "parent_tool_use_id": None,
            "api_message_id": "msg_000000000000000000000528",
        }

    def _common(self) -> dict[str, str]:
        self._count += 1
        return {"session_id": SESSION, "uuid": f"67b4eb5d-d01a-465e-a68e-{self._count:012d}"}

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:024d}"

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=words))

    def _code(self, size: int) -> str:
        block = "".join(self._random.choices(CODE, k=40))
        return (block * (size // len(block) + 1))[:size]
