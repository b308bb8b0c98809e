"""Seeded streams of OpenCode and Kilo CLI, shaped like the recorded cases, as long as one likes."""

from collections.abc import Callable, Iterator

import msgspec
from corpus import CODE
from long_turn import FOLDER, LongTurn
from samples import Json

SESSION = "ses_e1f9be464ffeTZk7yYL96Uf0bq"
LARGEST_OUTPUT = 50 * 1024  # OpenCode keeps what is longer in a file
LARGEST_COPY = 30_000  # of a command's output, which its metadata tell again
SIGNATURE = {"anthropic": {"signature": "ZmFrZS1zaWduYXR1cmU" * 20}}


class OpenCodeCorpus(LongTurn):
    """Writes one long run as 1.18.33 does: steps of thoughts, words and tool calls.

    No tool gives more than `largest` bytes.
    """

    def __init__(self, seed: int = 1, *, largest: int = LARGEST_OUTPUT) -> None:
        super().__init__(seed, largest=largest)
        self._message = ""

    def _messages(self) -> Iterator[Json]:
        calls: tuple[Callable[[], Json], ...] = (
            *(self._bash, self._bash, self._bash, self._bash, self._read, self._read),
            *(self._edit, self._edit, self._write, self._grep, self._todo, self._failure),
        )
        while True:
            self._message = f"msg_{self._random.getrandbits(104):026x}"
            snapshot = {"snapshot": f"{self._random.getrandbits(160):040x}"}
            yield self._part("step_start", {**self._ids(), **snapshot, "type": "step-start"})
            if self._random.random() < 0.5:
                thought = {"type": "reasoning", "text": self._text(60), "time": self._time()}
                yield self._part("reasoning", {**self._ids(), **thought, "metadata": SIGNATURE})
            if self._random.random() < 0.5:
                said = {"type": "text", "text": self._text(40), "time": self._time()}
                yield self._part("text", {**self._ids(), **said})
            for _ in range(self._random.choice((1, 1, 1, 1, 1, 1, 1, 1, 2, 3))):
                yield self._random.choice(calls)()
            cache = {"write": 50, "read": 20_000}
            tokens = {"total": 21_090, "input": 1000, "output": 40, "reasoning": 0, "cache": cache}
            ended = {"reason": "tool-calls", **snapshot, "type": "step-finish", "tokens": tokens}
            yield self._part("step_finish", {**self._ids(), **ended, "cost": 0.0038475})

    def _read(self) -> Json:
        path, lines = self._path(), self._output().split("\n")
        told = {"type": "file", "path": path, "text": "\n".join(lines), "lineStart": 1}
        shown = {**told, "lineEnd": len(lines), "totalLines": len(lines), "truncated": False}
        preview = {"preview": "\n".join(lines[:20]), "truncated": False, "loaded": []}
        numbered = "\n".join(f"{n}: {line}" for n, line in enumerate(lines, 1))
        end = f"(End of file - total {len(lines)} lines)"
        output = (
            f"<path>{path}</path>\n<type>file</type>\n<content>\n{numbered}\n\n{end}\n</content>"
        )
        return self._tool("read", {"filePath": path}, output, {**preview, "display": shown}, path)

    def _bash(self) -> Json:
        command, text = f"pytest -q {self._path()} | tail -50", self._output()
        code = 1 if self._random.random() < 0.1 else 0
        copy = text if len(text) <= LARGEST_COPY else f"...\n\n{text[-LARGEST_COPY:]}"
        told = {"output": copy, "exit": code, "truncated": False}
        input = {"command": command, "description": "Run the tests"}
        return self._tool("bash", input, text, told, command)

    def _edit(self) -> Json:
        path, old, new = self._path(), self._code(200), self._code(1000)
        head = f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n"
        patch = f"{head}-{old}\n+{new}\n"
        changed = {"file": path, "patch": patch, "additions": 9, "deletions": 2}
        told = {"diagnostics": {}, "diff": patch, "filediff": changed, "truncated": False}
        input = {"filePath": path, "oldString": old, "newString": new}
        return self._tool("edit", input, "Edit applied successfully.", told, path)

    def _write(self) -> Json:
        path = self._path()
        told = {"diagnostics": {}, "filepath": path, "exists": False, "truncated": False}
        input = {"filePath": path, "content": self._code(2000)}
        return self._tool("write", input, "Wrote file successfully.", told, path)

    def _grep(self) -> Json:
        output = "\n".join(f"{self._path()}:\n  Line {n}: {CODE[0]}" for n in range(1, 20))
        told = {"matches": 19, "truncated": False}
        input = {"pattern": "def load", "include": "*.py"}
        return self._tool("grep", input, f"Found 19 matches\n{output}", told, "def load")

    def _todo(self) -> Json:
        states = ("completed", "completed", "in_progress", "pending")
        todos = [{"content": self._text(6), "status": s, "priority": "high"} for s in states]
        output = msgspec.json.format(msgspec.json.encode(todos)).decode()
        told = {"todos": todos, "truncated": False}
        return self._tool("todowrite", {"todos": todos}, output, told, "2 todos")

    def _failure(self) -> Json:
        failed = {"status": "error", "input": {"pattern": "**/*.py"}}
        said = {"error": "ripgrep execution failed", "time": self._time()}
        return self._call("glob", {**failed, **said})

    def _tool(self, name: str, input: Json, output: str, metadata: Json, title: str) -> Json:
        done = {"status": "completed", "input": input, "output": output, "metadata": metadata}
        title = title.removeprefix(f"{FOLDER}/")
        return self._call(name, {**done, "title": title, "time": self._time()})

    def _call(self, name: str, state: Json) -> Json:
        call = {"callID": f"toolu_{self._random.getrandbits(80):020x}", "state": state}
        return self._part("tool_use", {"type": "tool", "tool": name, **call, **self._ids()})

    def _part(self, type: str, part: Json) -> Json:
        return {"type": type, "timestamp": 1794765825353, "sessionID": SESSION, "part": part}

    def _ids(self) -> Json:
        self._things += 1
        id = f"prt_{self._things:026d}"
        return {"id": id, "messageID": self._message, "sessionID": SESSION}

    def _time(self) -> Json:
        return {"start": 1794765825202, "end": 1794765825235}


class KiloCorpus(OpenCodeCorpus):
    """As Kilo CLI 7.7.9 writes: steps are measured, and calls name the rule that allowed them."""

    def _part(self, type: str, part: Json) -> Json:
        if type == "step_finish":
            measured = {"generation": 42.983565107458915, "source": "computed"}
            part = {**part, "metrics": measured, "time": {**self._time(), "elapsed": 33}}
        return super()._part(type, part)

    def _tool(self, name: str, input: Json, output: str, metadata: Json, title: str) -> Json:
        rule = {"permission": "*", "pattern": "*", "action": "allow"}
        approval = {"source": "agent", "agent": "code", "rule": rule}
        return super()._tool(name, input, output, {**metadata, "approval": approval}, title)
