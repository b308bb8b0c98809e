"""The client: leads an agent through the protocol, and answers its requests for permission."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.agent import ControlChannel, Invocation, Task
from rookery.adapter.lines import LineBuffer
from rookery.agents.acp import methods, shapes
from rookery.agents.acp.asking import ask_of, choice
from rookery.agents.acp.dialects import Dialect
from rookery.model.errors import UnsupportedError
from rookery.model.events import Event, ToolFinished, ToolStarted
from rookery.model.questions import Ask, Decision

_NOT_FOUND = -32601
_REFUSAL = "rook offers neither files nor terminals"
_CANCELLED = {"outcome": "cancelled"}


class _Request(msgspec.Struct):
    """A request to us, or a response to one of ours."""

    id: str | int | None = None
    method: str | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_message = msgspec.json.Decoder(_Request)
_asked = msgspec.json.Decoder(shapes.PermissionRequest)
_result = msgspec.json.Decoder(shapes.Result)


def invoke(task: Task, command: Sequence[str], dialect: Dialect | None) -> Invocation:
    """Return the command line for a task; the prompt is sent once there is a session."""
    client = Client(task, dialect)
    return Invocation(
        command=(*command, *task.args),
        stdin=client.begin(),
        keep_stdin_open=True,
        control=ControlChannel(
            read=client.read,
            answer=client.answer,
            interrupt=client.interrupt,
            on_event=client.on_event,
            on_output=client.on_output,
            permits=client.permits,
        ),
        stop_signal=signal.SIGTERM,
    )


class Client:
    """One conversation: a session with one prompt.

    Each request of ours is sent once, and its method is its id, so that what the agent writes can
    be read without what we wrote.
    """

    def __init__(self, task: Task, dialect: Dialect | None = None) -> None:
        self._task = task
        self._dialect = dialect
        self._session: str | None = None
        self._settings: list[bytes] = []  # requests to send before the prompt
        self._is_prompted = False
        self._is_cancelled = False
        self._open: dict[str | int | None, None] = {}  # requests for permission without an answer
        self._calls: dict[str, ToolStarted] = {}  # those that may need permission
        self._lines = LineBuffer()

    def begin(self) -> bytes:
        """Return the first message: who we are, and that we offer nothing."""
        files = {"readTextFile": False, "writeTextFile": False}
        return _request(
            methods.INITIALIZE,
            {
                "protocolVersion": shapes.VERSION,
                "clientCapabilities": {"fs": files, "terminal": False},
                "clientInfo": {"name": "rookery", "title": "Rookery", "version": "1"},
            },
        )

    def on_output(self, data: bytes) -> bytes:
        """Return the messages to send after what the agent wrote."""
        lines = (line for line in self._lines.feed(data) if isinstance(line, bytes))
        return b"".join(reply for line in lines for reply in self._replies(line))

    def on_event(self, event: Event, line: Callable[[], bytes]) -> bytes:
        """Remember the calls: a request for permission may name no more than the id of one."""
        if isinstance(event, ToolStarted):
            self._calls[event.id] = event
        elif isinstance(event, ToolFinished):
            self._calls.pop(event.id, None)
        return b""

    def _replies(self, line: bytes) -> Iterator[bytes]:
        if b'"id"' not in line:
            return
        message = salvage.decode_part(line, _message)
        if message is None or message.id is None:
            return
        if message.method is None:
            yield from self._after(str(message.id), message)
        elif message.method != shapes.ASKS:
            error = {"code": _NOT_FOUND, "message": f"{message.method}: {_REFUSAL}"}
            yield _line({"id": message.id, "error": error})
        elif self._is_cancelled:
            yield _line({"id": message.id, "result": {"outcome": _CANCELLED}})

    def _after(self, id: str, message: _Request) -> Iterator[bytes]:
        """Continue after the response to a request of ours; after an error there is no prompt."""
        if bytes(message.error) not in (b"", b"null") and not id.startswith(methods.OPTIONAL):
            return
        result = salvage.decode_part(message.result, _result) if bytes(message.result) else None
        result = result or shapes.Result()
        if id == methods.INITIALIZE:
            if shapes.speaks(result):
                yield self._open_session(result)
            return
        if id in methods.OPENS:
            self._session = result.session_id or self._task.resume
            self._settings = list(self._wanted(result))
            if not self._settings and id == methods.LOAD:
                self._settings = list(self._await_replay(result))
        elif id.removeprefix(methods.OPTIONAL) not in methods.SETS:
            return
        if self._session is not None:
            yield self._next()

    def _open_session(self, hello: shapes.Result) -> bytes:
        able = hello.agent_capabilities or shapes.AgentCapabilities()
        where = {"cwd": self._task.cwd or ".", "mcpServers": list[Any]()}
        if self._task.resume is None:
            return _request(methods.NEW, where)
        sessions = able.session_capabilities
        resumes = sessions is not None and sessions.resume is not None
        # An agent that can do neither says so itself: its error ends the run.
        return _request(
            methods.RESUME if resumes else methods.LOAD, {"sessionId": self._task.resume, **where}
        )

    def _wanted(self, result: shapes.Result) -> Iterator[bytes]:
        """The requests that select the model and the mode."""
        options = result.config_options or []
        if self._task.model is not None:
            yield self._select_model(self._task.model, result, options)
        modes = self._dialect.modes if self._dialect else {}
        mode = modes.get(self._task.permission)
        if mode is None:
            return
        # What the mode would allow is allowed by us, too, so that it may be missing.
        prefix = methods.OPTIONAL if self._task.permission in ("ask", "all") else ""
        option, equals, value = mode.partition("=")
        if equals and not option.startswith("http"):
            yield self._set_option(option, value, prefix)
        elif result.modes is not None and result.modes.available_modes:
            yield self._setting(methods.SET_MODE, {"modeId": mode}, prefix)
        else:
            found = next((one.id for one in options if one.category == "mode"), None)
            yield self._set_option(found or "mode", mode, prefix)

    def _await_replay(self, result: shapes.Result) -> Iterator[bytes]:
        """A request that changes nothing: before it is answered, the session has been repeated."""
        mode = result.modes.current_mode_id if result.modes else None
        if mode is not None and self._dialect is not None and self._dialect.replays_late:
            yield self._setting(methods.SET_MODE, {"modeId": mode}, methods.OPTIONAL)

    def _select_model(
        self, model: str, result: shapes.Result, options: Sequence[shapes.ConfigOption]
    ) -> bytes:
        found = next((one.id for one in options if one.category == "model"), None)
        if result.models is None and found is not None:
            return self._set_option(found, model)
        return self._setting(methods.SET_MODEL, {"modelId": model})

    def _set_option(self, option: str, value: str, prefix: str = "") -> bytes:
        return self._setting(methods.SET_OPTION, {"configId": option, "value": value}, prefix)

    def _setting(self, method: str, values: Mapping[str, str], prefix: str = "") -> bytes:
        return _request(method, {"sessionId": self._session, **values}, prefix)

    def _next(self) -> bytes:
        """The next setting, or the prompt once all are made."""
        if self._settings:
            return self._settings.pop(0)
        if self._is_prompted or self._is_cancelled:
            return b""
        self._is_prompted = True
        prompt = [{"type": "text", "text": self._task.prompt}]
        return _request(methods.PROMPT, {"sessionId": self._session, "prompt": prompt})

    def interrupt(self) -> bytes:
        """Return the messages that cancel the prompt; nothing if it was not sent."""
        self._is_cancelled = True
        if not self._is_prompted:
            return b""
        cancel = {"method": methods.CANCEL, "params": {"sessionId": self._session}}
        answers = [_line({"id": id, "result": {"outcome": _CANCELLED}}) for id in self._open]
        self._open.clear()
        return b"".join([_line(cancel), *answers])

    def permits(self, ask: Ask) -> bool:
        """Whether the run's permission covers what is asked."""
        return self._task.permission == "all" and ask.about == "tool"

    def read(self, line: bytes) -> Ask | None:
        """Read a request for permission; None if the line isn't one, or is repeated."""
        message = _permission_request(line)
        if message is None or message.id is None or message.id in self._open:
            return None
        self._open[message.id] = None
        call = message.params.tool_call or shapes.Call()
        started = self._calls.get(call.tool_call_id or "")
        return ask_of(str(message.id), call, started, message.params.options or ())

    def answer(self, line: bytes, decision: Decision) -> bytes:
        """Return the answer to a request which `read` accepted."""
        message = _permission_request(line)
        if message is None or message.id not in self._open:
            return b""
        del self._open[message.id]
        option = choice(message.params.options or (), decision)
        chosen = {"outcome": "selected", "optionId": option} if option else _CANCELLED
        return _line({"id": message.id, "result": {"outcome": chosen}})


def _permission_request(line: bytes) -> shapes.PermissionRequest | None:
    request = salvage.decode_part(line, _message)
    if request is None or request.method != shapes.ASKS:
        return None
    return salvage.decode_part(line, _asked)


def refuse(name: str, task: Task, dialect: Dialect | None) -> None:
    """Refuse what the protocol has no word for, instead of ignoring it."""
    if not task.stream:
        raise UnsupportedError(name, "has no plain text over ACP", "leave out --no-stream")
    if task.allow:
        raise UnsupportedError(
            name, "takes no rules for single tools over ACP", "use --permission ask"
        )
    if task.max_turns is not None:
        raise UnsupportedError(
            name, "takes no --max-turns over ACP", "leave it out, or use --timeout"
        )
    modes = dialect.modes if dialect else {}
    if task.permission in ("edit", "plan") and task.permission not in modes:
        raise UnsupportedError(
            name,
            f"has no mode for --permission {task.permission} over ACP",
            "use --permission ask or all",
        )


def _request(method: str, params: Mapping[str, Any], prefix: str = "") -> bytes:
    return _line({"id": f"{prefix}{method}", "method": method, "params": params})


def _line(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
