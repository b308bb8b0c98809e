"""Reads all other messages: requests for approval, limits and notices."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Literal

import msgspec

from nightrook.adapter import salvage
from nightrook.adapter.salvage import raw_copy
from nightrook.adapter.shapes import NOTHING
from nightrook.agents.claude import shapes, tools
from nightrook.agents.claude.memory import Memory
from nightrook.model.events import Error, Event, LimitReported, Notice, PermissionRequested, Unknown

_LIMIT_STATUS: Mapping[str, Literal["allowed", "warning", "rejected"]] = {
    "allowed": "allowed",
    "allowed_warning": "warning",
    "rejected": "rejected",
}
_FOR_PROGRAMS = frozenset({"hook_callback", "mcp_message"})  # to programs that registered for them
_FOR_PEOPLE = frozenset({"elicitation", "request_user_dialog"})
_MILLISECONDS = 1e11  # a larger time, after the year 5138, is in milliseconds
_windows_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_window_decoder = msgspec.json.Decoder(shapes.LimitWindow)


def control_request(memory: Memory, message: shapes.ControlRequest, line: bytes) -> Sequence[Event]:
    """Read a request to the user or program that started the agent."""
    request = message.request or shapes.Request()
    if request.subtype in _FOR_PROGRAMS:
        return ()
    if request.subtype != "can_use_tool":
        name = f"control_request/{request.subtype}" if request.subtype else "control_request"
        known = request.subtype in _FOR_PEOPLE
        asked = PermissionRequested(
            id=message.request_id, name=request.subtype, reason=request.message
        )
        return (asked,) if known else (Unknown(name=name, raw=salvage.raw_copy(line)), asked)
    return (
        PermissionRequested(
            id=message.request_id,
            tool_id=request.tool_use_id,
            name=request.tool_name,
            input=raw_copy(request.input),
            reason=request.decision_reason,
            fix=_suggested_rule(request),
        ),
    )


def control_response(
    memory: Memory, message: shapes.ControlResponse, line: bytes
) -> Sequence[Event]:
    """Read the response to a request of ours; only an error is an event."""
    response = message.response or shapes.Response()
    if response.subtype != "error":
        return ()
    return (Error(kind="config", message=response.error, retryable=False),)


def rate_limit_event(
    memory: Memory, message: shapes.RateLimitEvent, line: bytes
) -> Sequence[Event]:
    """Read the state of the subscription's limits, starting with the window that decides."""
    info = message.rate_limit_info
    if info is None:
        return ()
    memory.limited = info.status == "rejected"
    windows = _windows(info)
    deciding = windows.pop(info.rateLimitType or "", shapes.LimitWindow())
    used = deciding.utilization if info.utilization is None else info.utilization
    events = [
        LimitReported(
            window=info.rateLimitType,
            status=_LIMIT_STATUS.get(info.status or ""),
            used=_finite(used),
            resets_at=_moment(info.resetsAt),
            overage=info.overageStatus,
        )
    ]
    for name, window in windows.items():
        events.append(
            LimitReported(
                window=name,
                status=_LIMIT_STATUS.get(window.status or ""),
                used=_finite(window.utilization),
                resets_at=_moment(window.resetsAt),
            )
        )
    return events


def tool_use_summary(
    memory: Memory, message: shapes.ToolUseSummary, line: bytes
) -> Sequence[Event]:
    """Read the summary of a batch of tool calls."""
    return (Notice(level="info", text=message.summary),) if message.summary else ()


def auth_status(memory: Memory, message: shapes.AuthStatus, line: bytes) -> Sequence[Event]:
    """Read the status of a login."""
    return (Error(kind="auth", message=message.error, retryable=False),) if message.error else ()


def conversation_reset(
    memory: Memory, message: shapes.ConversationReset, line: bytes
) -> Sequence[Event]:
    """Read that the conversation was cleared."""
    return (Notice(level="info", text="the conversation was cleared"),)


def _suggested_rule(request: shapes.Request) -> str | None:
    for suggestion in request.permission_suggestions or ():
        for rule in suggestion.rules or ():
            if rule.toolName:
                return f"{rule.toolName}({rule.ruleContent})" if rule.ruleContent else rule.toolName
    return tools.allow_rule(request.tool_name, request.input) if request.tool_name else None


def _windows(info: shapes.RateLimitInfo) -> dict[str, shapes.LimitWindow]:
    """All windows that can be read."""
    unified = info.unifiedWindows
    parts = None if unified is NOTHING else salvage.decode_part(unified, _windows_decoder)
    windows = {
        name: salvage.decode_part(raw, _window_decoder) for name, raw in (parts or {}).items()
    }
    return {name: window for name, window in windows.items() if window is not None}


def _finite(number: float | None) -> float | None:
    return number if number is not None and isfinite(number) else None


def _moment(seconds: float | None) -> float | None:
    if seconds is None or not isfinite(seconds) or seconds < 0:
        return None
    return seconds / 1000 if seconds > _MILLISECONDS else seconds
