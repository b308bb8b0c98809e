"""Seeded streams of Gemini CLI, Qwen Code, Amp, Droid and others, like the cases, endless."""

from collections.abc import Iterator

import msgspec
from long_turn import LongTurn
from samples import Json

SESSION = "8c3d746a-1a7e-4164-9fa7-e8e1bc21f705"
THREAD = f"T-{SESSION}"
MOMENT = "2026-11-15T18:05:18.420Z"


class _Corpus(LongTurn):
    """A turn whose things have names alike."""

    def _name(self) -> str:
        self._things += 1
        return f"thing_{self._things:08d}"


class GeminiCorpus(_Corpus):
    """As 0.61.0 writes: a piece of text in each line, and results without names."""

    def _messages(self) -> Iterator[Json]:
        yield {"type": "init", "timestamp": MOMENT, "session_id": SESSION, "model": "gemini-pro"}
        yield self._message("user", "Mend it")
        while True:
            for _ in range(self._random.randint(0, 12)):
                yield {**self._message("assistant", self._text(12)), "delta": True}
            yield from self._call("run_shell_command", {"command": self._shell()}, self._output())
            if self._random.random() < 0.3:
                edit = {"old_string": self._text(20), "new_string": self._text(20)}
                yield from self._call("replace", {"file_path": self._path(), **edit}, None)

    def _message(self, role: str, text: str) -> Json:
        return {"type": "message", "timestamp": MOMENT, "role": role, "content": text}

    def _call(self, tool: str, given: Json, output: str | None) -> Iterator[Json]:
        id = f"{tool}__{self._name()}"
        begun = {"tool_name": tool, "tool_id": id, "parameters": given}
        ended: Json = {"tool_id": id, "status": "success"}
        yield {"type": "tool_use", "timestamp": MOMENT, **begun}
        yield {
            "type": "tool_result",
            "timestamp": MOMENT,
            **ended,
            **({} if output is None else {"output": output}),
        }


class _Talk(_Corpus):
    """What Qwen Code and Amp have in common: messages of content blocks."""

    def _talk(self, thought: str) -> Iterator[Json]:
        while True:
            if self._random.random() < 0.5:
                yield self._said([{"type": "thinking", "thinking": thought, "signature": ""}], None)
            if self._random.random() < 0.5:
                yield self._said([{"type": "text", "text": self._text(60)}], None)
            yield from self._call(*self._run())
            if self._random.random() < 0.3:
                yield from self._call(*self._edit())

    def _call(self, tool: str, given: Json, output: str) -> Iterator[Json]:
        id = self._name()
        use = {"type": "tool_use", "id": id, "name": tool, "input": given}
        yield self._said([use], "tool_use")
        result = {"tool_use_id": id, "is_error": False, "content": output}
        yield {
            "type": "user",
            **self._envelope(),
            "message": {"role": "user", "content": [{"type": "tool_result", **result}]},
        }

    def _envelope(self) -> Json:
        raise NotImplementedError

    def _said(self, content: list[Json], stop: str | None) -> Json:
        raise NotImplementedError

    def _run(self) -> tuple[str, Json, str]:
        raise NotImplementedError

    def _edit(self) -> tuple[str, Json, str]:
        raise NotImplementedError


class QwenCorpus(_Talk):
    """As 0.15.10 writes."""

    def _messages(self) -> Iterator[Json]:
        told = {"cwd": "/home/dev/project", "tools": ["edit"], "qwen_code_version": "0.15.10"}
        yield {"type": "system", "subtype": "init", **self._envelope(), **told, "model": "qwen"}
        yield from self._talk(self._text(40))

    def _envelope(self) -> Json:
        return {"uuid": self._name(), "session_id": SESSION, "parent_tool_use_id": None}

    def _said(self, content: list[Json], stop: str | None) -> Json:
        counted = {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 1000}
        usage = {**counted, "total_tokens": 1234} if stop else {"input_tokens": 0}
        said = {"id": self._name(), "type": "message", "role": "assistant", "model": "qwen"}
        message = {**said, "content": content, "stop_reason": stop, "usage": usage}
        return {"type": "assistant", **self._envelope(), "message": message}

    def _run(self) -> tuple[str, Json, str]:
        given = {"command": self._shell(), "description": "search", "is_background": False}
        return "run_shell_command", given, self._output()

    def _edit(self) -> tuple[str, Json, str]:
        text = {"old_string": self._text(20), "new_string": self._text(20)}
        return "edit", {"file_path": self._path(), **text}, "The file has been updated."


class AmpCorpus(_Talk):
    """As the documents of Amp show it."""

    def _messages(self) -> Iterator[Json]:
        told = {"cwd": "/home/dev/project", "tools": ["Bash"], "mcp_servers": []}
        yield {"type": "system", "subtype": "init", "session_id": THREAD, **told}
        yield from self._talk(self._text(40))

    def _envelope(self) -> Json:
        return {"parent_tool_use_id": None, "session_id": THREAD}

    def _said(self, content: list[Json], stop: str | None) -> Json:
        usage = {"input_tokens": 1200, "cache_read_input_tokens": 1000, "output_tokens": 34}
        said = {"type": "message", "role": "assistant", "content": content}
        message = {**said, "stop_reason": stop, "usage": usage}
        return {"type": "assistant", "message": message, **self._envelope()}

    def _run(self) -> tuple[str, Json, str]:
        return "Bash", {"cmd": self._shell()}, self._output()

    def _edit(self) -> tuple[str, Json, str]:
        text = {"old_str": self._text(20), "new_str": self._text(20)}
        return "edit_file", {"path": self._path(), **text}, "ok"


class DroidCorpus(_Corpus):
    """As 0.215.0 writes: whole messages, and the result of an edit as JSON in a string."""

    def _messages(self) -> Iterator[Json]:
        told = {
            "cwd": "/home/dev/project",
            "tools": ["Read", "Execute"],
            "reasoning_effort": "none",
        }
        yield {"type": "system", "subtype": "init", "session_id": SESSION, **told, "model": "m"}
        yield self._line("message", {"role": "user", "id": self._name(), "text": "Mend it"})
        while True:
            if self._random.random() < 0.5:
                yield self._line("reasoning", {"id": self._name(), "text": self._text(40)})
            if self._random.random() < 0.5:
                said = {"role": "assistant", "id": self._name(), "text": self._text(60)}
                yield self._line("message", said)
            output = f"{self._output()}\n\n\n[Process exited with code 0]"
            given = {"summary": "search", "command": self._shell(), "timeout": 60}
            yield from self._call("Execute", given, output)
            if self._random.random() < 0.3:
                path, old, new = self._path(), self._text(20), self._text(20)
                lines = [{"type": "removed", "content": old}, {"type": "added", "content": new}]
                changed = {"success": True, "file_path": path, "diffLines": lines}
                value = msgspec.json.encode({**changed, "linesAdded": 1, "linesRemoved": 1})
                edit = {"file_path": path, "old_str": old, "new_str": new}
                yield from self._call("Edit", edit, value.decode())

    def _call(self, tool: str, given: Json, value: str) -> Iterator[Json]:
        id = self._name()
        named = {"toolId": tool, "toolName": tool, "parameters": given}
        yield self._line("tool_call", {"id": id, "messageId": self._name(), **named})
        ended = {"toolId": tool, "isError": False, "value": value}
        yield self._line("tool_result", {"id": id, "messageId": self._name(), **ended})

    def _line(self, type: str, fields: Json) -> Json:
        return {"type": type, **fields, "timestamp": 1794766842757, "session_id": SESSION}


class GooseCorpus(_Corpus):
    """As 1.52.0 writes: a piece of text in each line, and the output of a command twice."""

    def _messages(self) -> Iterator[Json]:
        while True:
            id = self._name()
            for _ in range(self._random.randint(0, 12)):
                yield self._message(id, [{"type": "text", "text": self._text(12)}])
            output = self._output()
            structured = {"stdout": output, "stderr": "", "exit_code": 0}
            result = {"structuredContent": structured, "isError": False}
            yield from self._call(id, "shell", {"command": self._shell()}, output, result)
            if self._random.random() < 0.3:
                edit = {"before": self._text(20), "after": self._text(20)}
                given = {"path": self._path(), **edit}
                output = f"Edited {given['path']} (1 lines -> 1 lines)"
                yield from self._call(id, "edit", given, output, {"isError": False})

    def _message(self, id: str, content: list[Json], role: str = "assistant") -> Json:
        seen = {"userVisible": True, "agentVisible": True}
        model = {"inference": {"provider": "openai", "requestedModel": "gpt-5"}}
        metadata = {**seen, **(model if role == "assistant" else {})}
        message = {"id": id, "role": role, "created": 1794766540, "content": content}
        return {"type": "message", "message": {**message, "metadata": metadata}}

    def _call(self, id: str, tool: str, given: Json, output: str, value: Json) -> Iterator[Json]:
        call = self._name()
        asked = {"status": "success", "value": {"name": tool, "arguments": given}}
        yield self._message(id, [{"type": "toolRequest", "id": call, "toolCall": asked}])
        content = [{"type": "text", "text": output, "annotations": {"priority": 0.0}}]
        done = {
            "status": "success",
            "value": {"resultType": "complete", "content": content, **value},
        }
        answer = {"type": "toolResponse", "id": call, "toolResult": done}
        yield self._message(self._name(), [answer], "user")


class ClineCorpus(_Corpus):
    """As 3.0.65 writes: each piece of a text with all that came before it, and outputs twice."""

    def _messages(self) -> Iterator[Json]:
        yield self._hook("agent_start")
        while True:
            yield self._event({"type": "iteration_start", "iteration": 1})
            yield from self._words()
            tokens = {"totalInputTokens": 1200, "totalOutputTokens": 34, "totalCost": 0.01}
            yield self._event({"type": "usage", "inputTokens": 1200, "outputTokens": 34, **tokens})
            command, output = self._shell(), self._output()
            ran = {"query": command, "result": output, "success": True}
            yield from self._call("run_commands", {"commands": [command]}, [ran], output)
            if self._random.random() < 0.3:
                path = self._path()
                edit = {"path": path, "old_text": self._text(20), "new_text": self._text(20)}
                diff = (
                    f"Edited {path}\n```diff\n-2: {edit['old_text']}\n+2: {edit['new_text']}\n```"
                )
                edited = {"query": f"edit:{path}", "result": diff, "success": True}
                yield from self._call("editor", edit, edited)

    def _words(self) -> Iterator[Json]:
        whole = ""
        for _ in range(self._random.randint(0, 12)):
            piece = self._text(3) + " "
            whole += piece
            said = {"contentType": "text", "text": piece, "accumulated": whole}
            yield self._event({"type": "content_start", **said})
        if whole:
            yield self._event({"type": "content_end", "contentType": "text", "text": whole})

    def _call(self, tool: str, given: Json, output: object, shown: str = "") -> Iterator[Json]:
        named = {"contentType": "tool", "toolName": tool, "toolCallId": self._name()}
        yield self._hook("tool_call")
        yield self._event({"type": "content_start", **named, "input": given})
        if shown:
            update = {"stream": "stdout", "chunk": shown, "commandIndex": 0}
            yield self._event({"type": "content_update", **named, "update": update})
        yield self._hook("tool_result")
        yield self._event({"type": "content_end", **named, "output": output, "durationMs": 22})

    def _hook(self, name: str) -> Json:
        agent = {"agentId": "agent_1", "taskId": "conv_1", "parentAgentId": None}
        return {"ts": MOMENT, "type": "hook_event", "hookEventName": name, **agent}

    def _event(self, event: Json) -> Json:
        return {"ts": MOMENT, "type": "agent_event", "event": event}


class CopilotCorpus(_Corpus):
    """As 1.0.102 writes: pieces of texts, inputs and outputs, and all of it whole, too."""

    def _messages(self) -> Iterator[Json]:
        yield self._event("session.tools_updated", {"model": "gpt-5"})
        yield self._event("user.message", {"content": "Mend it", "turnId": "0"})
        while True:
            id, pieces = self._name(), [self._text(12) for _ in range(self._random.randint(0, 12))]
            for piece in pieces:
                yield self._event(
                    "assistant.message_delta", {"messageId": id, "deltaContent": piece}
                )
            said = {"messageId": id, "model": "gpt-5", "content": "".join(pieces)}
            yield self._event("assistant.message", {**said, "toolRequests": [], "turnId": "0"})
            command = {"command": self._shell(), "description": "search"}
            ended = {"shellExecution": {"exitCode": 0}}
            yield from self._call("bash", command, self._output(), ended)
            if self._random.random() < 0.3:
                path = self._path()
                text = {"old_str": self._text(20), "new_str": self._text(20)}
                edits = {"fileEdits": [{"path": path, "kind": "edit"}]}
                yield from self._call("edit", {"path": path, **text}, "updated", edits)

    def _call(self, tool: str, given: Json, output: str, ended: Json) -> Iterator[Json]:
        id = self._name()
        begun = {"toolCallId": id, "toolName": tool, "arguments": given, "turnId": "0"}
        yield self._event("tool.execution_start", begun)
        if tool == "bash":
            piece = {"toolCallId": id, "stream": "stdout", "text": output[:2000], "sequence": 0}
            yield self._event("tool.shell_output", piece)
            partial = {"toolCallId": id, "partialOutput": output[:2000]}
            yield self._event("tool.execution_partial_result", partial)
        result = {"content": output, "detailedContent": output}
        whole = {"toolCallId": id, "model": "gpt-5", "success": True, "result": result, **ended}
        yield self._event("tool.execution_complete", whole)

    def _event(self, type: str, data: Json) -> Json:
        envelope = {"id": self._name(), "timestamp": MOMENT, "parentId": SESSION}
        return {"type": type, "data": data, **envelope}


class KimiCorpus(_Corpus):
    """As 2.1.0 writes: the messages of a chat API, with the inputs of calls as JSON in strings."""

    def _messages(self) -> Iterator[Json]:
        yield {"role": "meta", "type": "system.version", "version": "2.1.0"}
        while True:
            text = self._text(60) if self._random.random() < 0.5 else None
            yield from self._call("Bash", {"command": self._shell()}, self._output(), text)
            if self._random.random() < 0.3:
                path, old, new = self._path(), self._text(20), self._text(20)
                edit = {"path": path, "old_string": old, "new_string": new}
                yield from self._call("Edit", edit, f"Replaced 1 occurrence in {path}", None)

    def _call(self, tool: str, given: Json, output: str, text: str | None) -> Iterator[Json]:
        id = self._name()
        function = {"name": tool, "arguments": msgspec.json.encode(given).decode()}
        said: Json = {} if text is None else {"content": text}
        calls = [{"type": "function", "id": id, "function": function}]
        yield {"role": "assistant", **said, "tool_calls": calls}
        yield {"role": "tool", "tool_call_id": id, "content": output}
