"""A seeded stream of OpenCode's messages shaped like the recorded cases, as long as one likes."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from corpus import CODE, WORDS
from samples import Json

SESSION = "ses_e1f9be464ffeTZk7yYL96Uf0bq"
FOLDER = "/home/dev/project"
SMALLEST_OUTPUT, LARGEST_OUTPUT = 50, 50_000  # OpenCode keeps what is longer in a file

_dump = msgspec.json.Encoder().encode


class OpenCodeCorpus:
    """Writes one long run as 1.18.33 does: steps of thoughts, words and tool calls."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)
        self._parts = 0
        self._message = ""

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        for message in self._messages():
            line = _dump(message) + b"\n"
            yield line
            size -= len(line)
            if size <= 0:
                return

    def _messages(self) -> Iterator[Json]:
        calls: tuple[Callable[[], Json], ...] = (self._read, self._bash, self._bash, self._edit)
        while True:
            self._message = f"msg_{self._random.getrandbits(80):020x}"
            snapshot = {"snapshot": f"{self._random.getrandbits(160):040x}"}
            yield self._part("step_start", "step-start", **snapshot)
            if self._random.random() < 0.5:
                yield self._part("reasoning", "reasoning", text=self._text(60), time=self._time())
            if self._random.random() < 0.5:
                yield self._part("text", "text", text=self._text(40), time=self._time())
            for _ in range(self._random.randint(1, 3)):
                yield self._random.choice(calls)()
            cache = {"write": 50, "read": 20_000}
            tokens = {"total": 21_090, "input": 1000, "output": 40, "reasoning": 0, "cache": cache}
            ended = {"reason": "tool-calls", **snapshot, "tokens": tokens, "cost": 0.0038475}
            yield self._part("step_finish", "step-finish", **ended)

    def _read(self) -> Json:
        path, text = self._path(), self._output()
        shown = {"type": "file", "path": path, "text": text[:2000], "lineStart": 1, "lineEnd": 9}
        told = {"preview": text[:500], "truncated": False, "loaded": [], "display": shown}
        output = f"<path>{path}</path>\n<type>file</type>\n<content>\n{text}\n</content>"
        return self._tool("read", {"filePath": path}, output, told, title=path[len(FOLDER) + 1 :])

    def _bash(self) -> Json:
        command, text = f"pytest -q {self._path()} | tail -50", self._output()
        code = 1 if self._random.random() < 0.1 else 0
        told = {"output": text, "exit": code, "truncated": False}
        input = {"command": command, "description": "Run the tests"}
        return self._tool("bash", input, text, told, title=command)

    def _edit(self) -> Json:
        path, old, new = self._path(), self._code(200), self._code(1000)
        patch = f"--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n-{old}\n+{new}\n"
        changed = {"file": path, "patch": patch, "additions": 9, "deletions": 2}
        told = {"diagnostics": {}, "diff": patch, "filediff": changed, "truncated": False}
        input = {"filePath": path, "oldString": old, "newString": new}
        title = path[len(FOLDER) + 1 :]
        return self._tool("edit", input, "Edit applied successfully.", told, title=title)

    def _tool(self, name: str, input: Json, output: str, metadata: Json, *, title: str) -> Json:
        done = {"status": "completed", "input": input, "output": output, "metadata": metadata}
        state = {**done, "title": title, "time": self._time()}
        call = f"toolu_{self._random.getrandbits(80):020x}"
        return self._part("tool_use", "tool", tool=name, callID=call, state=state)

    def _part(self, type: str, kind: str, **told: Any) -> Json:
        self._parts += 1
        ids = {"id": f"prt_{self._parts:026d}", "messageID": self._message, "sessionID": SESSION}
        part = {**ids, "type": kind, **told}
        return {"type": type, "timestamp": 1794765825353, "sessionID": SESSION, "part": part}

    def _time(self) -> Json:
        return {"start": 1794765825202, "end": 1794765825235}

    def _path(self) -> str:
        return f"{FOLDER}/src/module_{self._random.randint(1, 99)}.py"

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=words))

    def _output(self) -> str:
        """Every size is as likely as one ten times as large."""
        ratio = LARGEST_OUTPUT / SMALLEST_OUTPUT
        return self._code(int(SMALLEST_OUTPUT * ratio ** self._random.random()))

    def _code(self, size: int) -> str:
        block = "".join(self._random.choices(CODE, k=40))
        return (block * (size // len(block) + 1))[:size]
