"""The client: leads an agent through the protocol, and answers its requests for permission."""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import ControlChannel, Invocation, Task
from nightrook.adapter.lines import Line, LineBuffer, Oversized
from nightrook.adapter.oversized import shortened
from nightrook.agents.acp import protocol, shapes
from nightrook.agents.acp.dialects import Dialect, dialect_of
from nightrook.agents.acp.permissions import MOST_SHOWN, ask_of, choice
from nightrook.model.errors import UnsupportedError
from nightrook.model.events import Event, PermissionRequested, ToolFinished, ToolStarted
from nightrook.model.questions import Ask, Decision

T = TypeVar("T")

_NOT_FOUND = -32601
_REFUSAL = "rook offers neither files nor terminals"
_CANCELLED = {"outcome": "cancelled"}


class _Request(msgspec.Struct):
    """A request to us, or a response to one of ours."""

    id: shapes.Id = None
    method: str | None = None
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


_Sent = tuple[str, Mapping[str, Any]]
"""The id of a request of ours, and what it says."""

_message = msgspec.json.Decoder(_Request)
_batch = msgspec.json.Decoder(list[msgspec.Raw])
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
        self._settings: list[_Sent] = []  # requests to send before the prompt
        self._awaited: str | None = protocol.INITIALIZE  # the request that we wait for
        self._is_over = False  # cancelled, or the prompt returned: nothing more is granted
        self._open: dict[shapes.Id, None] = {}  # requests for permission without an answer
        self._calls: dict[str, ToolStarted] = {}  # those that may need permission
        self._asked: str | None = None  # the reader's name of the newest request for permission
        self._lines = LineBuffer()

    def begin(self) -> bytes:
        """Return the first message: who we are, and that we offer nothing."""
        files = {"readTextFile": False, "writeTextFile": False}
        return self._send(
            protocol.INITIALIZE,
            {
                "protocolVersion": shapes.VERSION,
                "clientCapabilities": {"fs": files, "terminal": False},
                "clientInfo": {"name": "nightrook", "title": "Nightrook", "version": "1"},
            },
        )

    def on_output(self, data: bytes) -> bytes:
        """Return the messages to send after what the agent wrote."""
        return b"".join(
            reply
            for line in self._lines.feed(data)
            for message, is_alone in _messages(line)
            for reply in self._replies(message, is_alone=is_alone)
        )

    def on_event(self, event: Event, line: Callable[[], bytes]) -> bytes:
        """Remember the calls: a request for permission may name only the id of one."""
        if isinstance(event, PermissionRequested):
            self._asked = event.id
        elif isinstance(event, ToolStarted):
            self._calls[event.id] = event
        elif isinstance(event, ToolFinished):
            self._calls.pop(event.id, None)
        return b""

    def _replies(self, message: _Request, *, is_alone: bool) -> Iterator[bytes]:
        if message.id is None:
            return
        if message.method is None:
            yield from self._after(str(message.id), message)
        elif message.method != shapes.ASKS:
            error = {"code": _NOT_FOUND, "message": f"{message.method}: {_REFUSAL}"}
            yield _line({"id": message.id, "error": error})
        elif self._is_over or not is_alone:  # several in a line cannot be shown
            yield _line({"id": message.id, "result": {"outcome": _CANCELLED}})

    def _after(self, id: str, message: _Request) -> Iterator[bytes]:
        """Continue after the response to a request of ours; after an error there is no prompt."""
        if id != self._awaited:  # guards: awaited-response
            return
        if id == protocol.PROMPT:
            self._awaited, self._is_over = None, True  # guards: asked-after-prompt
            return
        if bytes(message.error) not in (b"", b"null") and not id.startswith(protocol.OPTIONAL):
            return
        result = salvage.decode_part(message.result, _result) if bytes(message.result) else None
        result = result or shapes.Result()
        if id == protocol.INITIALIZE:
            if shapes.speaks(result):  # guards: acp-version
                # As the reader does: under a name of the user's, it is the same agent.
                info = result.agent_info or shapes.AgentInfo()
                self._dialect = dialect_of(info.name) or self._dialect
                yield self._send(*self._opening(result))
            return
        if id in protocol.OPENS:
            self._session = result.session_id or self._task.resume
            self._settings = list(self._wanted(result))
            if not self._settings and id == protocol.LOAD:
                self._settings = list(self._await_replay(result))
        if self._session is not None:
            yield self._next()

    def _opening(self, hello: shapes.Result) -> _Sent:
        able = hello.agent_capabilities or shapes.AgentCapabilities()
        where = {"cwd": self._task.cwd or ".", "mcpServers": list[Any]()}
        if self._task.resume is None:
            return protocol.NEW, where
        sessions = able.session_capabilities
        resumes = sessions is not None and sessions.resume is not None
        # An agent that can do neither says so itself: its error ends the run.
        return protocol.RESUME if resumes else protocol.LOAD, {
            "sessionId": self._task.resume,
            **where,
        }

    def _wanted(self, result: shapes.Result) -> Iterator[_Sent]:
        """The requests that select the model and the mode."""
        options = result.config_options or []
        if self._task.model is not None:
            yield self._select_model(self._task.model, result, options)
        modes = self._dialect.modes if self._dialect else {}
        mode = modes.get(self._task.permission)
        if mode is None:
            return
        found = next((one.id for one in options if one.category == "mode"), None)
        has_modes = found is not None or bool(result.modes and result.modes.available_modes)
        # What the mode for all would allow is allowed by us, too, so that it may be missing. An
        # agent with modes that does not enter the one in which it asks may never ask.
        is_spare = self._task.permission == "all" or not has_modes  # guards: mode-that-asks
        prefix = protocol.OPTIONAL if is_spare and self._task.permission in ("ask", "all") else ""
        option, equals, value = mode.partition("=")
        if equals and not option.startswith("http"):
            yield self._set_option(option, value, prefix)
        elif result.modes is not None and result.modes.available_modes:
            yield self._setting(protocol.SET_MODE, {"modeId": mode}, prefix)
        else:
            yield self._set_option(found or "mode", mode, prefix)

    def _await_replay(self, result: shapes.Result) -> Iterator[_Sent]:
        """A request that changes nothing: before it is answered, the session has been repeated."""
        mode = result.modes.current_mode_id if result.modes else None
        if mode is not None and self._dialect is not None and self._dialect.replays_late:
            yield self._setting(protocol.SET_MODE, {"modeId": mode}, protocol.OPTIONAL)

    def _select_model(
        self, model: str, result: shapes.Result, options: Sequence[shapes.ConfigOption]
    ) -> _Sent:
        found = next((one.id for one in options if one.category == "model"), None)
        if result.models is None and found is not None:
            return self._set_option(found, model)
        return self._setting(protocol.SET_MODEL, {"modelId": model})

    def _set_option(self, option: str, value: str, prefix: str = "") -> _Sent:
        return self._setting(protocol.SET_OPTION, {"configId": option, "value": value}, prefix)

    def _setting(self, method: str, values: Mapping[str, str], prefix: str = "") -> _Sent:
        return f"{prefix}{method}", {"sessionId": self._session, **values}

    def _next(self) -> bytes:
        """The next setting, or the prompt once all are made."""
        if self._is_over:
            return b""
        if self._settings:
            return self._send(*self._settings.pop(0))
        prompt = [{"type": "text", "text": self._task.prompt}]
        return self._send(protocol.PROMPT, {"sessionId": self._session, "prompt": prompt})

    def _send(self, id: str, params: Mapping[str, Any]) -> bytes:
        """A request of ours; only its response counts from now on."""
        self._awaited = id
        method = id.removeprefix(protocol.OPTIONAL)
        return _line({"id": id, "method": method, "params": params})

    def interrupt(self) -> bytes:
        """Return the messages that cancel the prompt; nothing if none is awaited."""
        self._is_over = True
        if self._awaited != protocol.PROMPT:
            return b""
        cancel = {"method": protocol.CANCEL, "params": {"sessionId": self._session}}
        answers = [_line({"id": id, "result": {"outcome": _CANCELLED}}) for id in self._open]
        self._open.clear()
        return b"".join([_line(cancel), *answers])

    def permits(self, ask: Ask) -> bool:
        """True if the run's permission covers the requested call."""
        # guards: allowed-only-with-permission-all
        return self._task.permission == "all" and ask.about == "tool"

    def read(self, line: bytes) -> Ask | None:
        """Read a request for permission; None if the line isn't one, or it has its answer."""
        message = None if self._is_over else _permission_request(line)  # guards: asked-after-stop
        if message is None or message.id is None or message.id in self._open:
            return None
        self._open[message.id] = None
        call = message.params.tool_call or shapes.Call()
        started = self._calls.get(call.tool_call_id or "")
        is_whole = len(line) <= MOST_SHOWN
        call = call if is_whole else _cut(line)
        options = message.params.options or ()
        name = self._asked or str(message.id)
        return ask_of(name, call, started, options, is_whole=is_whole)

    def answer(self, line: bytes, decision: Decision) -> bytes:
        """Return the answer to a request which `read` accepted."""
        message = _permission_request(line)
        if message is None or message.id not in self._open:
            return b""
        del self._open[message.id]
        option = choice(message.params.options or (), decision)
        chosen = {"outcome": "selected", "optionId": option} if option else _CANCELLED
        return _line({"id": message.id, "result": {"outcome": chosen}})


def _messages(line: Line) -> Iterator[tuple[_Request, bool]]:
    """The requests and responses in a line, and whether there is only one."""
    data = shortened(line) if isinstance(line, Oversized) else line
    if data is None or b'"id"' not in data:
        return
    parts = _parts(data)
    for part in parts:
        if (message := _decoded(part, _message)) is not None:
            yield message, len(parts) == 1 and data[:1] != b"["


def _parts(line: bytes) -> list[bytes]:
    """The messages of a line: one, those of a batch, or those that no newline separates."""
    if line[:1] == b"[":
        return [*map(bytes, _decoded(line, _batch) or ())]
    if line[:1] == b"{" and _decoded(line, _message) is not None:
        return [line]
    return protocol.split_messages(line) or [line]


def _permission_request(line: bytes) -> shapes.PermissionRequest | None:
    parts = [line] if line[:1] == b"[" else _parts(line)  # guards: no-acp-batch
    request = _decoded(parts[0], _message) if len(parts) == 1 else None
    if request is None or request.method != shapes.ASKS:
        return None
    return _decoded(parts[0], _asked)


def _cut(line: bytes) -> shapes.Call:
    """The call of a request that is too long to be shown, without its middle."""
    (long,) = LineBuffer(MOST_SHOWN).feed(line.removesuffix(b"\n") + b"\n")
    short = shortened(long) if isinstance(long, Oversized) else None
    message = _decoded(short, _asked) if short is not None else None
    return (message.params.tool_call if message else None) or shapes.Call()


def _decoded(line: bytes, decoder: msgspec.json.Decoder[T]) -> T | None:
    """Decode a line as the reader does, without values that are nested too deep."""
    return salvage.decode_part(salvage.shallow(line, salvage.DEEPEST_LINE), decoder)


def refuse(name: str, task: Task, dialect: Dialect | None) -> None:
    """Refuse options that the protocol does not have, instead of ignoring them."""
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


def _line(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
