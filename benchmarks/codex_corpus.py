"""A seeded stream of Codex's messages shaped like the recorded cases, as long as one likes."""

import random
from collections.abc import Iterator

import msgspec
from corpus import CODE, WORDS
from samples import Json

THREAD = "01a1e05f-aed9-7c40-b263-7e3e30cf8613"
SMALLEST_OUTPUT, LARGEST_OUTPUT = 50, 1 << 20  # what is longer Codex cuts

_dump = msgspec.json.Encoder().encode


class CodexCorpus:
    """Writes one long turn as 0.166.0 does: thoughts, words, commands and patches.

    No command writes more than `largest` bytes.
    """

    def __init__(self, seed: int = 1, *, largest: int = LARGEST_OUTPUT) -> None:
        self._random = random.Random(seed)
        self._largest = largest
        self._items = 0

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        written = 0
        for message in self._messages():
            line = _dump(message) + b"\n"
            yield line
            written += len(line)
            if written >= size:
                return

    def _messages(self) -> Iterator[Json]:
        yield {"type": "thread.started", "thread_id": THREAD}
        yield {"type": "turn.started"}
        while True:
            yield self._done({"type": "reasoning", "text": f"**{self._text(4)}**"})
            if self._random.random() < 0.3:
                yield self._done({"type": "agent_message", "text": self._text(60)})
            for _ in range(self._random.randint(1, 3)):
                yield from self._command()
            if self._random.random() < 0.3:
                yield from self._patch()

    def _command(self) -> Iterator[Json]:
        words = self._words()
        code = 1 if self._random.random() < 0.1 else 0
        begun = {
            "type": "command_execution",
            "command": f'/bin/bash -lc "{words}"',
            "aggregated_output": "",
            "exit_code": None,
            "status": "in_progress",
        }
        ended = {"exit_code": code, "status": "failed" if code else "completed"}
        yield from self._item(begun, {**begun, "aggregated_output": self._output(), **ended})

    def _patch(self) -> Iterator[Json]:
        change = {"path": self._path(), "kind": "update"}
        begun = {"type": "file_change", "changes": [change]}
        yield from self._item({**begun, "status": "in_progress"}, {**begun, "status": "completed"})

    def _item(self, begun: Json, ended: Json) -> Iterator[Json]:
        id = self._id()
        yield {"type": "item.started", "item": {"id": id, **begun}}
        yield {"type": "item.completed", "item": {"id": id, **ended}}

    def _done(self, item: Json) -> Json:
        return {"type": "item.completed", "item": {"id": self._id(), **item}}

    def _id(self) -> str:
        self._items += 1
        return f"item_{self._items - 1}"

    def _words(self) -> str:
        return f"rg -n 'def load' src/module_{self._random.randint(1, 99)}.py | head -50"

    def _path(self) -> str:
        return f"/home/dev/project/src/module_{self._random.randint(1, 99)}.py"

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=words))

    def _output(self) -> str:
        """What a command wrote: every size is as likely as one ten times as large."""
        ratio = self._largest / SMALLEST_OUTPUT
        size = int(SMALLEST_OUTPUT * ratio ** self._random.random())
        block = "".join(self._random.choices(CODE, k=40))
        return (block * (size // len(block) + 1))[:size]
