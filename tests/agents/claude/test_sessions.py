"""What Claude Code notes in its sessions besides the conversation, as the events of the stream.

`test_transcripts.py` has whole sessions, from which lines of these types were left out or in which
the scripted model had no reason for them.
"""

from typing import Any

import msgspec
import pytest

from nightrook.agents.claude.history import TRANSCRIPT
from nightrook.model.events import (
    ContextCompacted,
    Error,
    Event,
    HookFinished,
    ModeChanged,
    ModelChanged,
    Notice,
    Retrying,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    UserMessage,
)
from tests.rules import each

AT = "2026-11-15T12:00:00.000Z"


def decoded(*lines: Any) -> list[Event]:
    """The events of lines, without those of the beginning and the end."""
    decoder = TRANSCRIPT.decoder()
    known = {"sessionId": "aaaa", "version": "2.1.325", "timestamp": AT}
    data = b"".join(msgspec.json.encode(known | line) + b"\n" for line in lines)
    started, *events, closed = [record.event for record in (*decoder.feed(data), *decoder.close())]
    assert isinstance(started, SessionStarted)
    assert isinstance(closed, StreamClosed)
    return events


def system(subtype: str, **fields: Any) -> Any:
    return {"type": "system", "subtype": subtype, **fields}


def attachment(type: str, **fields: Any) -> Any:
    return {"type": "attachment", "attachment": {"type": type, **fields}}


def prompt(text: str, **fields: Any) -> Any:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def answer(*content: Any, stop_reason: str | None = None) -> Any:
    return {"type": "assistant", "message": {"content": content, "stop_reason": stop_reason}}


@each(
    ("line", "expected"),
    [
        (
            system(
                "api_error",
                error={"message": "busy", "formatted": "529 busy", "status": 529},
                retryAttempt=1,
                maxRetries=10,
                retryInMs=500,
            ),
            [Retrying(attempt=1, max_attempts=10, delay_s=0.5, status=529, reason="529 busy")],
        ),
        (system("api_error", error={"message": "busy"}), [Retrying(reason="busy")]),
        (
            system(
                "compact_boundary",
                compactMetadata={"trigger": "auto", "preTokens": 9000, "postTokens": 300},
            ),
            [ContextCompacted(trigger="auto", before_tokens=9000, after_tokens=300)],
        ),
        (system("compact_boundary"), [ContextCompacted()]),
        (
            system("informational", content="It is late", level="warning"),
            [Notice(level="warning", text="It is late")],
        ),
        (system("local_command", content="ok"), [Notice(level="info", text="ok")]),
        (system("informational"), []),
        (
            system(
                "model_fallback", originalModel="large", fallbackModel="small", trigger="overloaded"
            ),
            [ModelChanged(before="large", after="small", reason="overloaded")],
        ),
        (
            system(
                "model_refusal_no_fallback",
                apiRefusalCategory="cyber",
                apiRefusalExplanation="It may not.",
                content="refused",
            ),
            [Error(kind="policy", message="It may not.", retryable=False)],
        ),
        (
            system("stop_hook_summary", hookErrors=["it failed", ""]),
            [Notice(level="warning", text="it failed")],
        ),
        (system("turn_duration", durationMs=3), []),
        (attachment("skill_listing"), []),
        (
            attachment("hook_success", hookName="Stop", stdout="done"),
            [HookFinished(id="hook-1", hook="Stop", ok=True, output="done")],
        ),
        (
            attachment("hook_non_blocking_error", hookName="Stop", stdout="", stderr="no"),
            [HookFinished(id="hook-1", hook="Stop", ok=False, output="no")],
        ),
        (attachment("plan_mode"), [ModeChanged(mode="plan")]),
        (attachment("queued_command", prompt="And more"), [UserMessage(text="And more")]),
        (
            attachment("queued_command", prompt="<task-notification>x</task-notification>"),
            [UserMessage(text="<task-notification>x</task-notification>", synthetic=True)],
        ),
        (attachment("queued_command", prompt=[{"type": "image"}]), []),
        ({"type": "custom-title", "customTitle": "Tests"}, None),
        ({"type": "file-history-snapshot"}, None),
    ],
)
def test_a_line_is_read_as_the_message_of_the_stream(
    line: Any, expected: list[Event] | None
) -> None:
    before = [] if expected is not None else [system("turn_duration")]
    assert decoded(*before, line) == (expected or [])


@pytest.mark.parametrize("line", [system("dance"), attachment("dance")])
def test_what_is_unknown_is_kept(line: Any) -> None:
    (unknown,) = decoded(line)
    assert isinstance(unknown, Unknown)
    assert unknown.name == f"{line['type']}/dance"


def test_a_limit_of_turns_ends_the_turn() -> None:
    assert decoded(prompt("Go"), attachment("max_turns_reached")) == [
        TurnStarted(origin="prompt"),
        UserMessage(text="Go"),
        TurnFinished(ok=False, reason="max_turns"),
    ]


def test_an_interruption_ends_the_turn() -> None:
    *_, finished, notice = decoded(prompt("Go"), prompt("[Request interrupted by user]"))
    assert finished == TurnFinished(ok=False, reason="interrupted")
    assert notice == Notice(level="warning", text="Request interrupted by user")


def test_a_command_in_the_background_ends_with_the_message_that_says_so() -> None:
    call = {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "running"}
    ended = (
        "<bash-notification><shell-id>b1</shell-id><status>failed</status>"
        "<summary>it failed</summary></bash-notification>"
    )
    events = decoded(
        prompt("Go"),
        answer(call, stop_reason="tool_use"),
        {
            "type": "user",
            "message": {"role": "user", "content": [result]},
            "toolUseResult": {"backgroundTaskId": "b1"},
        },
        answer({"type": "text", "text": "It runs."}, stop_reason="end_turn"),
        prompt(ended),
    )
    kinds = [type(event) for event in events]
    assert kinds[2:5] == [ToolStarted, ToolFinished, TaskStarted]
    assert TaskStarted(id="b1", kind="command", tool_id="c", background=True) in events
    finished = TaskFinished(
        id="b1", kind="command", status="error", tool_id="c", summary="it failed"
    )
    assert events[events.index(finished) + 1 :] == [
        TurnFinished(ok=True, text="It runs.", stop_reason="end_turn"),
        TurnStarted(origin="task"),
        UserMessage(text=ended, synthetic=True),
    ]
