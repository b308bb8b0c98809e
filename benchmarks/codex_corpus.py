"""A seeded stream of Codex's messages shaped like the recorded cases, as long as one likes."""

from collections.abc import Iterator

from long_turn import LongTurn
from samples import Json

THREAD = "01a1e05f-aed9-7c40-b263-7e3e30cf8613"


class CodexCorpus(LongTurn):
    """Writes one long turn as 0.166.0 does: thoughts, words, commands and patches.

    No command writes more than `largest` bytes; what is longer than a megabyte Codex cuts.
    """

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
        words = self._shell()
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
        self._things += 1
        return f"item_{self._things - 1}"
