"""The client of the app server: starts a thread and a turn, and answers requests for approval."""

import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.agent import ControlChannel, Invocation, Task
from nightrook.agents.codex import items, tools
from nightrook.agents.codex.app_server import shapes
from nightrook.model.errors import UnsupportedError
from nightrook.model.events import (
    Event,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    Unknown,
)
from nightrook.model.permissions import Permission
from nightrook.model.questions import Ask, Decision

# The app server asks only with the permission `ask`; then the user's settings decide for what.
_PERMISSIONS: Mapping[Permission, Mapping[str, str]] = {
    "ask": {},
    "agent": {"approvalPolicy": "never"},
    "edit": {"approvalPolicy": "never", "sandbox": "workspace-write"},
    "plan": {"approvalPolicy": "never", "sandbox": "read-only"},
    "all": {"approvalPolicy": "never", "sandbox": "danger-full-access"},
}
_LOCAL = "local"  # this machine
_NOT_FOUND = -32601
_UNAVAILABLE = "No user is available to answer this."

_message_decoder = msgspec.json.Decoder(shapes.Shapes)


class _Patch(msgspec.Struct):
    changes: list[shapes.Change] = []


class _Request(msgspec.Struct):
    """A request with an unknown method."""

    id: str | int | None = None
    method: str | None = None


_request_decoder = msgspec.json.Decoder(_Request)
_patch_decoder = msgspec.json.Decoder(_Patch)


def invoke(task: Task, flags: tuple[str, ...]) -> Invocation:
    """Return the command line for a task; the prompt is sent when the server has a thread."""
    if not task.stream:
        raise UnsupportedError("codex", "app-server has no plain text", "leave out --no-stream")
    client = Client(task)
    return Invocation(
        command=("codex", "app-server", *flags, *task.args),
        stdin=client.begin(),
        keep_stdin_open=True,
        control=ControlChannel(
            read=client.read, answer=answer, interrupt=client.interrupt, on_event=client.on_event
        ),
        stop_signal=signal.SIGTERM,
    )


class Client:
    """One conversation with the server: a thread with one turn."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._thread: str | None = None
        self._turn: str | None = None
        self._patches: dict[str, ToolStarted] = {}  # those that may need approval

    def begin(self) -> bytes:
        """Return the first messages: who we are, and the thread to start or resume."""
        task = self._task
        settings = {
            **_PERMISSIONS[task.permission],
            **({"model": task.model} if task.model else {}),
        }
        # A version is required, but the server only repeats it.
        client = {"name": "nightrook", "title": "Nightrook", "version": "1"}
        if task.resume:
            thread = _request("thread/resume", {"threadId": task.resume, **settings})
        else:
            thread = _request("thread/start", settings)
        hello = _request("initialize", {"clientInfo": client})
        return hello + _line({"method": "initialized"}) + thread

    def on_event(self, event: Event, line: Callable[[], bytes]) -> bytes:
        """Return the message to send after an event."""
        match event:
            case SessionStarted(session=str(thread)) if self._thread is None:
                self._thread = thread
                input = [{"type": "text", "text": self._task.prompt}]
                return _request("turn/start", {"threadId": thread, "input": input})
            case TurnStarted():
                message = salvage.decode_part(line(), _message_decoder)
                if isinstance(message, shapes.TurnStarted) and message.params.turn:
                    self._turn = message.params.turn.id
            case ToolStarted(id=id, name=tools.PATCH):
                self._patches[id] = event
            case ToolFinished(id=id):
                self._patches.pop(id, None)
            case Unknown():
                request = salvage.decode_part(line(), _request_decoder)
                if request is not None and request.id is not None and request.method:
                    return _refusal(request.id)  # the server waits for an answer
        return b""

    def interrupt(self) -> bytes:
        """Return the request that stops the turn; nothing if there is no turn yet."""
        if self._thread is None or self._turn is None:
            return b""
        return _request("turn/interrupt", {"threadId": self._thread, "turnId": self._turn})

    def read(self, line: bytes) -> Ask | None:
        """Read a request; None if the line isn't one."""
        message = salvage.decode_part(line, _message_decoder)
        id = getattr(message, "id", None)
        if message is None or id is None:
            return None
        if isinstance(message, shapes.CommandApproval):
            return _command(str(id), message.params)
        if isinstance(message, shapes.FileApproval):
            return self._patch(str(id), message)
        return Ask(id=str(id), about="other", name=str(type(message).__struct_config__.tag))

    def _patch(self, id: str, message: shapes.FileApproval) -> Ask:
        """The change that needs approval, as its start reported it."""
        started = self._patches.get(message.params.item_id or "")
        input = started.input if started else None
        patch = (salvage.decode_part(input, _patch_decoder) if input else None) or _Patch()
        moves = [change.kind.move_path for change in patch.changes if change.kind]
        paths = [change.path for change in patch.changes] + moves
        files = [path for path in paths if path]
        several = len(files) > 1
        root = message.params.grant_root
        grant = f"also allows every write below {root} for the rest of the session"
        return Ask(
            id=id,
            name=tools.PATCH,
            kind="edit",
            title=", ".join(files) or None,
            detail=tuple(line for change in patch.changes for line in _changed(change, several)),
            notes=(grant,) if root else (),  # guards: patch-folder-shown
            reason=message.params.reason,
            always=f"{tools.PATCH}({', '.join(files)})" if files else None,
            scope="any later change to these files" if several else "any later change to this file",
        )


def _changed(change: shapes.Change, several: bool) -> Iterator[str]:
    """The lines of a change, below what happens to the file if that needs to be said."""
    kind = change.kind or shapes.Kind()
    if kind.move_path:
        yield f" {change.path} moves to {kind.move_path}:"
    elif kind.type == "delete":
        yield f" {change.path} is deleted:"
    elif several:
        yield f" {change.path}:"
    lines = list(items.changed_lines(change))
    yield from lines or (f" {line}" for line in (change.diff or "").split("\n") if line)


def _command(id: str, params: shapes.Params) -> Ask:
    """The command that needs approval; one that only needs the network may not be named."""
    command = tools.script(params.command or "") or None
    network = params.network_approval_context or shapes.NetworkContext()
    host = f"connects to {network.host} ({network.protocol})" if network.host else None
    notes = [] if host is None or command is None else [host]
    if params.kind == "writeStdin":
        notes.append("types into a command that is running")
    if params.environment_id not in (None, _LOCAL):
        notes.append(f"on the environment {params.environment_id}")
    return Ask(
        id=id,
        name=tools.SHELL,
        kind="execute",
        title=command or host,
        cwd=params.cwd,
        notes=tuple(notes),
        reason=params.reason,
        always=f"{tools.SHELL}({command})" if command else None,
    )


def answer(line: bytes, decision: Decision) -> bytes:
    """Return the response to a request which `read` accepted; it cannot include a reason."""
    message = salvage.decode_part(line, _message_decoder)
    id = getattr(message, "id", None)
    if not isinstance(message, shapes.CommandApproval | shapes.FileApproval):
        return _refusal(id)
    return _line({"id": id, "result": {"decision": "accept" if decision.allow else "decline"}})


def _refusal(id: str | int | None) -> bytes:
    return _line({"id": id, "error": {"code": _NOT_FOUND, "message": _UNAVAILABLE}})


def _request(method: str, params: Mapping[str, Any]) -> bytes:
    """A request of ours; each is sent once, so its method serves as its id."""
    return _line({"id": method, "method": method, "params": params})


def _line(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
