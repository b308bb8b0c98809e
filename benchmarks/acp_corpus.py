"""A seeded stream of an agent that speaks ACP, shaped like the cases, endless."""

from collections.abc import Iterator

from long_turn import LongTurn
from samples import Json

SESSION = "ses_e1c9a8fbeffeMt2ZLpAcR3WdBm"
FOLDER = "/home/dev/project"


class AcpCorpus(LongTurn):
    """Writes one long turn as OpenCode 1.18.33 does: text in pieces, most outputs repeatedly."""

    def _messages(self) -> Iterator[Json]:
        info = {"name": "OpenCode", "version": "1.18.33"}
        hello = {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}}
        yield {"jsonrpc": "2.0", "id": "initialize", "result": hello}
        yield {"jsonrpc": "2.0", "id": "session/new", "result": {"sessionId": SESSION}}
        while True:
            if self._random.random() < 0.5:
                yield from self._says("agent_thought_chunk", 20)
            if self._random.random() < 0.5:
                yield from self._says("agent_message_chunk", 60)
            for _ in range(self._random.randint(1, 3)):
                yield from self._run()
            if self._random.random() < 0.3:
                yield from self._edit()
            cost = {"amount": 0.00074 * self._things, "currency": "USD"}
            yield self._update("usage_update", used=1000, size=200000, cost=cost)

    def _says(self, kind: str, words: int) -> Iterator[Json]:
        message, text, at = self._name(), self._text(words), 0
        while at < len(text):
            size = self._random.randint(2, 24)
            piece = {"type": "text", "text": text[at : at + size]}
            yield self._update(kind, messageId=message, content=piece)
            at += size

    def _run(self) -> Iterator[Json]:
        command, output = self._shell(), self._output()
        given = {"command": command, "description": self._text(4), "cwd": FOLDER}
        call = {"toolCallId": self._name(), "kind": "execute", "locations": [{"path": FOLDER}]}
        yield self._update(
            "tool_call", **call, title="bash", status="pending", rawInput={"cwd": FOLDER}
        )
        runs = {**call, "title": command, "status": "in_progress", "rawInput": given}
        yield self._update("tool_call_update", **runs)
        yield self._update("tool_call_update", **runs)
        yield self._update("tool_call_update", **runs, content=[_text(output)])
        ended = {"output": output, "metadata": {"output": output, "exit": 0, "truncated": False}}
        yield self._ended(call, command, [_text(output)], ended)

    def _edit(self) -> Iterator[Json]:
        path, old, new = self._path(), self._text(20), self._text(20)
        given = {"filePath": path, "oldString": old, "newString": new}
        call = {"toolCallId": self._name(), "kind": "edit", "locations": [{"path": path}]}
        yield self._update("tool_call", **call, title="edit", status="pending", rawInput={})
        runs = {**call, "title": "edit", "status": "in_progress", "rawInput": given}
        yield self._update("tool_call_update", **runs)
        said = "Edit applied successfully."
        diff = {"type": "diff", "path": path, "oldText": old, "newText": new}
        ended = {"output": said, "metadata": {"diagnostics": {}, "diff": f"-{old}\n+{new}\n"}}
        yield self._ended(call, path, [_text(said), diff], ended)

    def _ended(self, call: Json, title: str, content: list[Json], raw: Json) -> Json:
        ended = {"toolCallId": call["toolCallId"], "status": "completed", "title": title}
        return self._update("tool_call_update", **ended, content=content, rawOutput=raw)

    def _update(self, type: str, **fields: object) -> Json:
        params = {"sessionId": SESSION, "update": {"sessionUpdate": type, **fields}}
        return {"jsonrpc": "2.0", "method": "session/update", "params": params}

    def _name(self) -> str:
        self._things += 1
        return f"msg_1e365f151001ctv1Elm{self._things:07d}"


def _text(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
