"""What we say to the app server, and when: it begins nothing by itself, and asks before it acts."""

import signal
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rookery.adapter import salvage
from rookery.adapter.agent import ControlChannel, Invocation, Permission, Task
from rookery.agents.codex import tools
from rookery.agents.codex.app_server import patches, shapes
from rookery.model.errors import UnsupportedError
from rookery.model.events import (
    Event,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
    Unknown,
)
from rookery.model.questions import Ask, Decision

# Nobody is asked unless somebody said so; with `ask` the user's settings say what is asked for.
_PERMISSIONS: Mapping[Permission, Mapping[str, str]] = {
    "ask": {},
    "agent": {"approvalPolicy": "never"},
    "edit": {"approvalPolicy": "never", "sandbox": "workspace-write"},
    "plan": {"approvalPolicy": "never", "sandbox": "read-only"},
    "all": {"approvalPolicy": "never", "sandbox": "danger-full-access"},
}
_NOT_FOUND = -32601
_NOBODY = "Nobody can answer this here."

_message_decoder = msgspec.json.Decoder(shapes.Shapes)


class _Patch(msgspec.Struct):
    changes: list[shapes.Change] = []


class _Request(msgspec.Struct):
    """A request of a method that we do not know."""

    id: str | int | None = None
    method: str | None = None


_request_decoder = msgspec.json.Decoder(_Request)
_patch_decoder = msgspec.json.Decoder(_Patch)


def invoke(task: Task, flags: tuple[str, ...]) -> Invocation:
    """Make the command line for a task; the task itself is told when the server listens."""
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
    """One talk with the server: a thread, and one turn in it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._thread: str | None = None
        self._turn: str | None = None
        self._patches: dict[str, ToolStarted] = {}  # those that may be asked for

    def begin(self) -> bytes:
        """Say who we are, and have a thread started or gone on with."""
        task = self._task
        settings = {
            **_PERMISSIONS[task.permission],
            **({"model": task.model} if task.model else {}),
        }
        # It must be told a version, and does no more with it than to repeat it.
        told = {"name": "rookery", "title": "Rookery", "version": "1"}
        if task.resume:
            begun = _request("thread/resume", {"threadId": task.resume, **settings})
        else:
            begun = _request("thread/start", settings)
        return (
            _request("initialize", {"clientInfo": told}) + _line({"method": "initialized"}) + begun
        )

    def on_event(self, event: Event, line: Callable[[], bytes]) -> bytes:
        """Take in what happened; give what must be said then."""
        match event:
            case SessionStarted(session=str(thread)) if self._thread is None:
                self._thread = thread
                said = [{"type": "text", "text": self._task.prompt}]
                return _request("turn/start", {"threadId": thread, "input": said})
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
                    return _refusal(request.id)  # it waits for an answer, whatever it asks
        return b""

    def interrupt(self) -> bytes:
        """Break off the turn; nothing can be said before there is one."""
        if self._thread is None or self._turn is None:
            return b""
        return _request("turn/interrupt", {"threadId": self._thread, "turnId": self._turn})

    def read(self, line: bytes) -> Ask | None:
        """Read what is asked; None if the line is no request."""
        message = salvage.decode_part(line, _message_decoder)
        id = getattr(message, "id", None)
        if message is None or id is None:
            return None
        if isinstance(message, shapes.CommandApproval):
            command = tools.script(message.params.command or "") or None
            return Ask(
                id=str(id),
                name=tools.SHELL,
                kind="execute",
                title=command,
                reason=message.params.reason,
                always=f"{tools.SHELL}({command})" if command else None,
            )
        if isinstance(message, shapes.FileApproval):
            return self._patch(str(id), message)
        return Ask(id=str(id), about="other", name=str(type(message).__struct_config__.tag))

    def _patch(self, id: str, message: shapes.FileApproval) -> Ask:
        """The change that is asked for, which was told when it began."""
        begun = self._patches.get(message.params.item_id or "")
        given = begun.input if begun else None
        patch = (salvage.decode_part(given, _patch_decoder) if given else None) or _Patch()
        paths = [change.path for change in patch.changes if change.path]
        several = len(patch.changes) > 1
        detail: list[str] = []
        for change in patch.changes:
            if several and change.path:
                detail.append(f" {change.path}")
            detail += patches.changed_lines(change)
        return Ask(
            id=id,
            name=tools.PATCH,
            kind="edit",
            title=", ".join(paths) or None,
            detail=tuple(detail),
            reason=message.params.reason,
            always=f"{tools.PATCH}({', '.join(paths)})" if paths else None,
        )


def answer(line: bytes, decision: Decision) -> bytes:
    """Make the response to a request that `read` could read; why not cannot be told."""
    message = salvage.decode_part(line, _message_decoder)
    id = getattr(message, "id", None)
    if not isinstance(message, shapes.CommandApproval | shapes.FileApproval):
        return _refusal(id)
    return _line({"id": id, "result": {"decision": "accept" if decision.allow else "decline"}})


def _refusal(id: str | int | None) -> bytes:
    return _line({"id": id, "error": {"code": _NOT_FOUND, "message": _NOBODY}})


def _request(method: str, params: Mapping[str, Any]) -> bytes:
    """A request of ours; each is made once, so that its method can be its id."""
    return _line({"id": method, "method": method, "params": params})


def _line(message: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
