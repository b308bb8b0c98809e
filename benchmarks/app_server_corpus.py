"""A seeded stream of Codex's app server shaped like the recorded cases, as long as one likes."""

from collections.abc import Iterator

from codex_corpus import THREAD, CodexCorpus
from samples import Json

TURN = "01a1e1bd-53d6-7be0-afc8-75200c1addf9"
MOMENT = 1794788643737
PIECE = 8192  # the most that a command wrote which one message tells


class AppServerCorpus(CodexCorpus):
    """Writes one long turn as 0.166.0 does: everything in pieces first, and then whole."""

    def _messages(self) -> Iterator[Json]:
        thread = {"id": THREAD, "model": "gpt-5.5", "cwd": "/home/dev/project"}
        yield {"id": "initialize", "result": {"codexHome": "/home/dev/.codex"}}
        yield {"id": "thread/start", "result": {"thread": {**thread, "cliVersion": "0.166.0"}}}
        turn = {"id": TURN, "items": [], "status": "inProgress"}
        yield {"method": "turn/started", "params": {"threadId": THREAD, "turn": turn}}
        while True:
            yield from self._thought()
            if self._random.random() < 0.3:
                yield from self._message()
            for _ in range(self._random.randint(1, 3)):
                yield from self._run()
            if self._random.random() < 0.3:
                yield from self._edit()
            yield from self._used()

    def _thought(self) -> Iterator[Json]:
        id, summary = self._id(), f"**{self._text(4)}**"
        item = {"type": "reasoning", "id": id, "summary": [], "content": []}
        yield self._begun(item)
        for piece in self._pieces(summary):
            told = {"itemId": id, "delta": piece, "summaryIndex": 0}
            yield self._told("item/reasoning/summaryTextDelta", **told)
        yield self._ended({**item, "summary": [summary]})

    def _message(self) -> Iterator[Json]:
        id, text = self._id(), self._text(60)
        more = {"phase": None, "memoryCitation": None, "delivery": None, "questions": None}
        item = {"type": "agentMessage", "id": id, "text": "", **more}
        yield self._begun(item)
        for piece in self._pieces(text):
            yield self._told("item/agentMessage/delta", itemId=id, delta=piece)
        yield self._ended({**item, "text": text})

    def _run(self) -> Iterator[Json]:
        id, words, output = self._id(), self._shell(), self._output()
        code = 1 if self._random.random() < 0.1 else 0
        item = {
            "type": "commandExecution",
            "id": id,
            "pluginId": None,
            "scriptPath": None,
            "command": f'/bin/bash -lc "{words}"',
            "cwd": "/home/dev/project",
            "processId": "64417",
            "source": "unifiedExecStartup",
            "status": "inProgress",
            "commandActions": [{"type": "unknown", "command": words}],
            "aggregatedOutput": None,
            "exitCode": None,
            "durationMs": None,
        }
        yield self._begun(item)
        for at in range(0, len(output), PIECE):
            piece = output[at : at + PIECE]
            yield self._told("item/commandExecution/outputDelta", itemId=id, delta=piece)
        ended = {"exitCode": code, "status": "failed" if code else "completed", "durationMs": 25}
        yield self._ended({**item, "aggregatedOutput": output, **ended})

    def _edit(self) -> Iterator[Json]:
        diff = "@@ -1,2 +1,2 @@\n-old line of text\n+new line of text\n"
        change = {"path": self._path(), "kind": {"type": "update", "move_path": None}, "diff": diff}
        item = {"type": "fileChange", "id": self._id(), "changes": [change]}
        yield self._begun({**item, "status": "inProgress"})
        yield self._told("turn/diff/updated", diff=diff)
        yield self._ended({**item, "status": "completed"})

    def _used(self) -> Iterator[Json]:
        tokens = {"totalTokens": 1250, "inputTokens": 1200, "cachedInputTokens": 1000}
        tokens |= {"cacheWriteInputTokens": 0, "outputTokens": 50, "reasoningOutputTokens": 0}
        total = {**tokens, "totalTokens": 1250 * self._things}
        used = {"total": total, "last": tokens, "modelContextWindow": 258400}
        yield self._told("thread/tokenUsage/updated", tokenUsage=used)
        limits = {"limitId": "codex", "primary": None, "secondary": None, "credits": None}
        yield {
            "method": "account/rateLimits/updated",
            "params": {"rateLimits": limits},
            "emittedAtMs": MOMENT,
        }

    def _begun(self, item: Json) -> Json:
        times = {"startedAtMs": MOMENT, "completedAtMs": None}
        return self._told("item/started", item={**item, **times}, startedAtMs=MOMENT)

    def _ended(self, item: Json) -> Json:
        times = {"startedAtMs": MOMENT, "completedAtMs": MOMENT}
        return self._told("item/completed", item={**item, **times}, completedAtMs=MOMENT)

    def _told(self, method: str, **params: object) -> Json:
        ids = {"threadId": THREAD, "turnId": TURN}
        return {"method": method, "params": {**params, **ids}, "emittedAtMs": MOMENT}

    def _pieces(self, text: str) -> Iterator[str]:
        at = 0
        while at < len(text):
            size = self._random.randint(2, 24)
            yield text[at : at + size]
            at += size
