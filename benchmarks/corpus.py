"""A seeded stream of Claude Code messages shaped like the recorded cases, as long as one likes."""

import random
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
import samples
from samples import MODEL, SESSION, Json

TIME = "2026-11-15T18:03:05.306Z"
TOOLS = ("Read", "Bash", "Edit", "Grep", "Bash", "Read")
SMALLEST_RESULT, LARGEST_RESULT = 200, 5_000_000

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
    "        # the loader is asked again for each path that is not absolute, like its parent\n",
)
FOREIGN = "    # naïve: größer → kleiner, 結果 ✓\n"

THOUGHT = {"thought": " ".join(WORDS), "session_id": SESSION}
STRANGERS: tuple[Json, ...] = (
    {"type": "telepathy", **THOUGHT},
    {"type": "system", "subtype": "telepathy", **THOUGHT},
    {"type": "stream_event", "event": {"type": "telepathy_delta"}, **THOUGHT},
)


class Corpus:
    """Writes turns as 2.1.325 does: partial messages, tool calls and results, turn ends.

    Before a share `unknown` of them stands a line of a type that nobody knows.
    """

    def __init__(self, seed: int = 1, *, unknown: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._strange = random.Random(-seed - 1)
        self._unknown = unknown
        self._count = 0
        self._message_id = ""

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        return _written(self._mixed(self._messages()), size)

    def deltas(self, size: int) -> Iterator[bytes]:
        """Give one init, then partial messages only, until about so many bytes were given."""
        parts = (each for each in self._messages() if each["type"] == "stream_event")
        return _written(chain([self._init()], self._mixed(parts)), size)

    def tool_result(self, size: int) -> bytes:
        """Give a single line of about this size, a tool's result."""
        (line,) = _written([self._tool_result(self._name("toolu"), "Bash", {}, size=size)], 1)
        return line

    def _mixed(self, messages: Iterable[Json]) -> Iterator[Json]:
        for message in messages:
            if self._strange.random() < self._unknown:
                yield self._strange.choice(STRANGERS)
            yield message

    def _messages(self) -> Iterator[Json]:
        while True:
            yield from self._turn()

    def _turn(self) -> Iterator[Json]:
        yield self._init()
        for _ in range(self._random.randint(4, 20)):
            yield from self._step()
        yield from self._begin()
        yield from self._text_block(0)
        yield from self._end("end_turn")
        yield self._result()

    def _step(self) -> Iterator[Json]:
        """One API message with thoughts, words and tool calls; then what the tools gave."""
        yield from self._begin()
        yield from self._thinking_block(0)
        yield from self._text_block(1)
        calls = []
        for index in range(2, self._random.randint(3, 4)):
            id, name = self._name("toolu"), self._random.choice(TOOLS)
            input = self._input(name)
            calls.append((id, name, input))
            yield from self._tool_block(index, id, name, input)
        yield from self._end("tool_use")
        for id, name, input in calls:
            yield self._tool_result(id, name, input, size=self._result_size())

    def _begin(self) -> Iterator[Json]:
        self._message_id = self._name("msg")
        yield {"type": "system", "subtype": "status", "status": "requesting", **self._ids()}
        begun = {"type": "message_start", "message": self._message([])}
        yield self._event(begun, ttft_ms=185, thinking_display="updates")

    def _end(self, reason: str) -> Iterator[Json]:
        usage = {k: v for k, v in samples.USAGE.items() if k != "cache_creation"}
        usage["output_tokens"] = 150
        stop = {"stop_reason": reason, "stop_sequence": None}
        yield self._event({"type": "message_delta", "delta": stop, "usage": usage})
        yield self._event({"type": "message_stop"})

    def _thinking_block(self, index: int) -> Iterator[Json]:
        shown = {"thinking_display": "updates"}
        yield self._block_start(index, {"type": "thinking", "thinking": "", "signature": ""}, shown)
        pieces = self._pieces()
        for n, piece in enumerate(pieces):
            count = {"estimated_tokens": 3 * n + 3, "estimated_tokens_delta": 3}
            yield {"type": "system", "subtype": "thinking_tokens", **count, **self._ids()}
            yield self._delta(index, {"type": "thinking_delta", "thinking": piece}, shown)
        signature = f"{self._random.getrandbits(1600):0400x}"
        yield self._delta(index, {"type": "signature_delta", "signature": signature})
        thought = {"type": "thinking", "thinking": "".join(pieces), "signature": signature}
        yield self._assistant(thought) | {"thinking_duration_ms": 93} | shown
        yield self._event({"type": "content_block_stop", "index": index})

    def _text_block(self, index: int) -> Iterator[Json]:
        yield self._block_start(index, {"type": "text", "text": ""})
        pieces = self._pieces()
        for piece in pieces:
            yield self._delta(index, {"type": "text_delta", "text": piece})
        yield self._assistant({"type": "text", "text": "".join(pieces)})
        yield self._event({"type": "content_block_stop", "index": index})

    def _tool_block(self, index: int, id: str, name: str, input: Json) -> Iterator[Json]:
        block = {"type": "tool_use", "id": id, "name": name, "input": {}}
        yield self._block_start(index, block)
        text = msgspec.json.encode(input).decode()
        for at in range(0, len(text), 24):
            piece = text[at : at + 24]
            yield self._delta(index, {"type": "input_json_delta", "partial_json": piece})
        yield self._assistant({**block, "input": input})
        yield self._event({"type": "content_block_stop", "index": index})

    def _tool_result(self, id: str, name: str, input: Json, *, size: int) -> Json:
        """A result told twice, to the model and as data; together they are of this size."""
        text = self._code(size // 2)
        failed = self._random.random() < 0.1
        content, result = text, self._data(name, input, text)
        if name == "Edit":
            content = f"The file {input['file_path']} has been updated successfully."
        if failed:
            content = f"Exit code 1\n{text[:2000]}"
            result = f"Error: {content}"
        block = {"tool_use_id": id, "type": "tool_result", "content": content}
        decision = {"decision": "accept", "source": "config", "reason_type": "mode"}
        return {
            "type": "user",
            "message": {"role": "user", "content": [block | {"is_error": failed}]},
            "parent_tool_use_id": None,
            **self._ids(),
            "timestamp": TIME,
            "tool_use_result": result,
            "tool_result_meta": [{"id": id, "permission_decision": decision}],
        }

    def _data(self, name: str, input: Json, text: str) -> Any:
        if name == "Read":
            file = {"filePath": input["file_path"], "content": text}
            counts = {"numLines": 9, "startLine": 1, "totalLines": 9}
            return {"type": "text", "file": file | counts}
        if name == "Edit":
            lines = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2}
            return {
                "filePath": input["file_path"],
                "oldString": input["old_string"],
                "newString": input["new_string"],
                "originalFile": text,
                "structuredPatch": [lines | {"lines": [" a", "-b", "+c"]}],
                "userModified": False,
                "replaceAll": False,
            }
        told = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        return told | {"noOutputExpected": False}

    def _input(self, name: str) -> Json:
        path = f"/home/dev/project/src/module_{self._random.randint(1, 99)}.py"
        if name == "Bash":
            return {"command": f"pytest -q {path} | tail -20", "description": "Run the tests"}
        if name == "Grep":
            return {"pattern": "def load\\(", "path": path, "output_mode": "content"}
        if name == "Edit":
            old, new = self._code(200), self._code(2000)
            return {"replace_all": False, "file_path": path, "old_string": old, "new_string": new}
        return {"file_path": path}

    def _init(self) -> Json:
        return {**samples.INIT, "uuid": self._uuid()}

    def _result(self) -> Json:
        return {**samples.RESULT, "result": self._text(30), "uuid": self._uuid()}

    def _assistant(self, block: Json) -> Json:
        return {
            "type": "assistant",
            "message": self._message([block]) | {"context_management": None},
            "parent_tool_use_id": None,
            **self._ids(),
            "timestamp": TIME,
            "request_id": "req_000000000000000000000014",
        }

    def _message(self, content: list[Json]) -> Json:
        return {
            "id": self._message_id,
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": content,
            "stop_reason": None,
            "stop_sequence": None,
            "usage": samples.USAGE,
        }

    def _block_start(self, index: int, block: Json, more: Json | None = None) -> Json:
        begun = {"type": "content_block_start", "index": index, "content_block": block}
        return self._event(begun, **(more or {}))

    def _delta(self, index: int, delta: Json, more: Json | None = None) -> Json:
        part = {"type": "content_block_delta", "index": index, "delta": delta}
        return self._event(part, **(more or {}))

    def _event(self, event: Json, **more: Any) -> Json:
        return {
            "type": "stream_event",
            "event": event,
            "session_id": SESSION,
            "parent_tool_use_id": None,
            "uuid": self._uuid(),
            **more,
            "api_message_id": self._message_id,
        }

    def _ids(self) -> Json:
        return {"session_id": SESSION, "uuid": self._uuid()}

    def _uuid(self) -> str:
        self._count += 1
        return f"67b4eb5d-d01a-465e-a68e-{self._count:012d}"

    def _name(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:024d}"

    def _pieces(self) -> list[str]:
        """The deltas of a block, from a word to a page: 5 to 500, a few words each."""
        count = int(5 * 100 ** self._random.random())
        return [self._text(self._random.randint(1, 5)) + " " for _ in range(count)]

    def _result_size(self) -> int:
        """Every size is as likely as one ten times as large."""
        return int(SMALLEST_RESULT * (LARGEST_RESULT / SMALLEST_RESULT) ** self._random.random())

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=words))

    def _code(self, size: int) -> str:
        block = "".join(self._random.choices(CODE, k=40))
        if self._random.random() < 0.15:  # most of what tools give is ASCII
            block += FOREIGN
        return (block * (size // len(block) + 1))[:size]


def _written(messages: Iterable[Json], size: int) -> Iterator[bytes]:
    for message in messages:
        line = msgspec.json.encode(message) + b"\n"
        yield line
        size -= len(line)
        if size <= 0:
            return


if __name__ == "__main__":  # writes so many bytes to stdout
    sys.stdout.buffer.writelines(Corpus().lines(int(sys.argv[1])))
