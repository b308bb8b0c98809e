"""The traps of stored sessions: each writes files into a home and says what a report must be.

Nothing here is shared with the code that reads them: figures are written out by hand.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SONNET = "claude-sonnet-4-5-20250929"  # $3 input, $15 output, $0.30 read, $3.75 and $6 write
DAY = "2026-11-02"
NOON = f"{DAY}T12:00:00.000Z"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The totals of a report; None means that a figure is not checked."""

    calls: int
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    native: float = 0.0
    estimated: float | None = None
    unpriced: int | None = 0
    days: dict[str, int] | None = None
    """Calls by UTC day."""

    models: dict[str | None, int] | None = None
    """Calls by model."""


Trap = Callable[[Path], Expected]
TRAPS: list[Trap] = []


def trap(write: Trap) -> Trap:
    """Add a trap to the list."""
    TRAPS.append(write)
    return write


def compact(message: Any) -> bytes:
    """JSON without spaces, as agents write it."""
    return json.dumps(message, separators=(",", ":")).encode()


def lines(path: Path, *messages: Any) -> None:
    """Append messages to a file, one a line; bytes as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        for message in messages:
            line = message if isinstance(message, bytes) else compact(message)
            file.write(line + b"\n")


# Claude Code


def claude(home: Path, session: str = "s1", folder: str = ".claude") -> Path:
    return home / folder / "projects" / "-home-dev-shop" / f"{session}.jsonl"


def said(
    id: str | None = "m1",
    output: int = 10,
    *,
    at: str | None = NOON,
    session: str = "s1",
    **more: Any,
) -> dict[str, Any]:
    """An assistant line with 100 input, 1000 read, 50 written for five minutes."""
    usage = {
        "input_tokens": 100,
        "output_tokens": output,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 50,
        **more.pop("usage", {}),
    }
    message = {
        "role": "assistant",
        "model": more.pop("model", SONNET),
        "content": [],
        "usage": usage,
    }
    line = {
        "type": "assistant",
        "sessionId": session,
        "cwd": "/home/dev/shop",
        "version": "2.1.325",
    }
    if id is not None:
        message["id"] = id
    if at is not None:
        line["timestamp"] = at
    return {**line, "message": message, "requestId": f"r-{id}", "uuid": f"u-{id}-{output}", **more}


COST = (100 * 3 + 10 * 15 + 1000 * 0.3 + 50 * 3.75) / 1e6  # of `said()`


@trap
def claude_repeats_the_usage_of_a_message_on_its_lines(home: Path) -> Expected:
    lines(claude(home), said(output=1), said(output=1), said(output=10))
    return Expected(calls=1, input=100, output=10, cache_read=1000, cache_write=50, estimated=COST)


@trap
def claude_writes_the_greatest_output_before_a_smaller_one(home: Path) -> Expected:
    lines(claude(home), said(output=10), said(output=1))
    return Expected(calls=1, input=100, output=10, cache_read=1000, cache_write=50)


@trap
def claude_calls_with_equal_numbers_are_different_calls(home: Path) -> Expected:
    lines(claude(home), said("m1"), said("m2"))
    return Expected(calls=2, input=200, output=20, cache_read=2000, cache_write=100)


@trap
def claude_forks_begin_with_copies(home: Path) -> Expected:
    lines(claude(home, "s1"), said("m1"), said("m2"))
    copies = [said(id, session="s2") for id in ("m1", "m2")]
    lines(claude(home, "s2"), *copies, said("m3", session="s2", at=f"{DAY}T13:00:00Z"))
    return Expected(calls=3, input=300, output=30, cache_read=3000, cache_write=150)


@trap
def claude_old_forks_drop_the_request_and_write_their_own_time(home: Path) -> Expected:
    lines(claude(home, "s1"), said("m1", at="2026-11-01T10:00:00.000Z"))
    copy = said("m1", session="s2", at="2026-11-03T10:00:00.000Z")
    del copy["requestId"]
    lines(claude(home, "s2"), copy)
    return Expected(
        calls=1, input=100, output=10, cache_read=1000, cache_write=50, days={"2026-11-01": 1}
    )


@trap
def claude_reports_a_subagent_s_sum_on_the_caller_s_line(home: Path) -> Expected:
    result = {"totalTokens": 5000, "usage": {"input_tokens": 4000, "output_tokens": 1000}}
    user = {"type": "user", "sessionId": "s1", "timestamp": NOON, "toolUseResult": result}
    lines(claude(home), said(), {**user, "message": {"role": "user", "content": []}})
    return Expected(calls=1, input=100, output=10, cache_read=1000, cache_write=50)


@trap
def claude_writes_messages_that_no_model_made(home: Path) -> Expected:
    nothing = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    lines(claude(home), said("m1", 0, model="<synthetic>", usage=nothing), said("m2"))
    return Expected(
        calls=1, input=100, output=10, cache_read=1000, cache_write=50, models={SONNET: 1}
    )


@trap
def claude_cache_writes_for_an_hour_cost_twice_the_input(home: Path) -> Expected:
    split = {"ephemeral_1h_input_tokens": 40, "ephemeral_5m_input_tokens": 10}
    lines(claude(home), said(usage={"cache_creation": split}))
    cost = (100 * 3 + 10 * 15 + 1000 * 0.3 + 10 * 3.75 + 40 * 6) / 1e6
    return Expected(calls=1, input=100, output=10, cache_read=1000, cache_write=50, estimated=cost)


@trap
def claude_fast_calls_cost_six_times_as_much(home: Path) -> Expected:
    usage = {"speed": "fast", "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    lines(claude(home), said(model="claude-opus-4-6", usage=usage))
    return Expected(calls=1, input=100, output=10, estimated=6 * (100 * 5 + 10 * 25) / 1e6)


@trap
def claude_web_searches_cost_a_cent_each(home: Path) -> Expected:
    usage = {"server_tool_use": {"web_search_requests": 3}}
    lines(claude(home), said(usage=usage))
    return Expected(
        calls=1, input=100, output=10, cache_read=1000, cache_write=50, estimated=COST + 0.03
    )


@trap
def claude_messages_without_an_id_are_known_by_request_or_line(home: Path) -> Expected:
    by_request = [said(None, output, requestId="r9") for output in (1, 10)]
    alone = said(None, 10, requestId=None, uuid="u-alone")
    lines(claude(home), *by_request, alone)
    return Expected(calls=2, input=200, output=20, cache_read=2000, cache_write=100)


@trap
def claude_subagents_are_inline_beside_or_below(home: Path) -> Expected:
    folder = claude(home).parent
    lines(claude(home), said("m1"), said("m2", isSidechain=True))
    lines(folder / "agent-a1.jsonl", said("m3", isSidechain=True, agentId="a1"))
    below = folder / "s1" / "subagents" / "deep" / "agent-a2.jsonl"
    lines(below, said("m4", isSidechain=True, agentId="a2"))
    return Expected(calls=4, input=400, output=40, cache_read=4000, cache_write=200)


@trap
def claude_once_reported_the_cost_itself(home: Path) -> Expected:
    lines(claude(home), said(costUSD=0.25, version="0.2.9"))
    return Expected(
        calls=1, input=100, output=10, cache_read=1000, cache_write=50, native=0.25, estimated=0
    )


@trap
def claude_lines_without_a_time_have_that_of_the_line_before(home: Path) -> Expected:
    lines(claude(home), said("m1", at="2026-11-01T23:59:00.000Z"), said("m2", at=None))
    return Expected(
        calls=2, input=200, output=20, cache_read=2000, cache_write=100, days={"2026-11-01": 2}
    )


@trap
def claude_times_have_offsets_or_no_milliseconds(home: Path) -> Expected:
    times = ("2026-11-02T01:30:00+02:00", "2026-11-02T00:00:00Z", "2026-11-01T23:00:00-02:00")
    lines(claude(home), *(said(f"m{number}", at=at) for number, at in enumerate(times)))
    return Expected(
        calls=3, input=300, output=30, cache_read=3000, cache_write=150,
        days={"2026-11-01": 1, "2026-11-02": 2},
    )  # fmt: skip


@trap
def claude_may_have_two_folders_with_the_same_file(home: Path) -> Expected:
    lines(claude(home), said())
    lines(claude(home, folder=".config/claude"), said(), said("m2"))
    return Expected(calls=2, input=200, output=20, cache_read=2000, cache_write=100)


@trap
def claude_lines_may_be_spaced_broken_or_no_json_at_all(home: Path) -> Expected:
    spaced = json.dumps(said("m1"), indent=None, separators=(" , ", " : ")).encode()
    surrogate = json.dumps(said("m2")).replace('"content": []', '"content": ["\\ud800"]').encode()
    windows = json.dumps(said("m3")).encode() + b"\r"
    latin = json.dumps(said("m4")).replace("[]", '["X"]').encode().replace(b"X", b"\xe9\xff")
    first = b"\xef\xbb\xbf" + json.dumps(said("m5")).encode()
    junk = [b"", b"not json", b'{"type":"assistant","message":{"usage":', b"[1]", b"\x00" * 40]
    lines(claude(home), first, spaced, surrogate, windows, latin, *junk, said("m6"))
    return Expected(calls=6, input=600, output=60, cache_read=6000, cache_write=300)


@trap
def claude_lines_may_be_longer_than_the_longest_that_is_kept(home: Path) -> Expected:
    long = json.dumps(said("m1")).replace("[]", json.dumps(["x" * 11 * 1024 * 1024]))
    lines(claude(home), long.encode(), said("m2"))
    return Expected(calls=2, input=200, output=20, cache_read=2000, cache_write=100)


@trap
def claude_counts_may_be_nonsense(home: Path) -> Expected:
    usage = {"input_tokens": -5, "cache_read_input_tokens": "many", "output_tokens": None}
    lines(claude(home), said("m1", usage=usage), said("m2"))
    return Expected(calls=2, input=100, output=10, cache_read=1000, cache_write=100)


@trap
def claude_models_may_have_no_price(home: Path) -> Expected:
    lines(claude(home), said("m1", model="nobodys-model-7"), said("m2", model="maker/x:free"))
    return Expected(
        calls=2, input=200, output=20, cache_read=2000, cache_write=100, estimated=0, unpriced=1160
    )


# Codex


def rollout(home: Path, thread: str, folder: str = "sessions/2026/11/02") -> Path:
    return home / ".codex" / folder / f"rollout-2026-11-02T12-00-00-{thread}.jsonl"


def codex(type: str, payload: dict[str, Any], at: str = NOON) -> dict[str, Any]:
    return {"timestamp": at, "type": type, "payload": payload}


def meta(thread: str, **more: Any) -> dict[str, Any]:
    return codex("session_meta", {"id": thread, "cwd": "/home/dev/shop", **more})


def context(model: str = "gpt-5") -> dict[str, Any]:
    return codex("turn_context", {"cwd": "/home/dev/shop", "model": model})


def used(times: int = 1, **more: int) -> dict[str, int]:
    """What `times` calls used: 1000 input each, 400 of it cached, 50 output."""
    one = {
        "input_tokens": 1000,
        "cached_input_tokens": 400,
        "output_tokens": 50,
        "reasoning_output_tokens": 20,
        "total_tokens": 1050,
    }
    return {name: times * count for name, count in one.items()} | more


def counted(total: int, last: int | None = 1, at: str = f"{DAY}T12") -> dict[str, Any]:
    """What was used so far; `at` is the hour, for each total has a time of its own."""
    info: dict[str, Any] = {"total_token_usage": used(total)}
    if last is not None:
        info["last_token_usage"] = used(last)
    return codex("event_msg", {"type": "token_count", "info": info}, f"{at}:00:{total:02}.000Z")


def recorded(response: str) -> dict[str, Any]:
    usage = {"response_id": response, "usage": used()}
    return codex("token_usage_record", usage, f"{DAY}T12:00:0{response[1:]}.000Z")


def codex_calls(count: int, **more: Any) -> Expected:
    return Expected(
        calls=count, input=600 * count, output=50 * count, cache_read=400 * count, **more
    )


@trap
def codex_reports_a_call_as_a_record_and_as_a_count(home: Path) -> Expected:
    calls = [recorded("r1"), counted(1), recorded("r2"), counted(2), counted(2)]
    lines(rollout(home, "t1"), meta("t1"), context(), *calls)
    return codex_calls(2, models={"gpt-5": 2})


@trap
def codex_writes_a_count_again_when_nothing_was_used(home: Path) -> Expected:
    lines(
        rollout(home, "t1"), meta("t1"), context(), counted(1), counted(1), counted(2), counted(2)
    )
    return codex_calls(2)


@trap
def codex_counts_without_the_last_call_are_differences(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1, None), counted(3, None))
    return Expected(calls=2, input=1800, output=150, cache_read=1200)


@trap
def codex_forks_begin_with_the_total_of_their_parent(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1), counted(2))
    lines(rollout(home, "t2"), meta("t2", forked_from_id="t1"), context(), counted(3))
    return codex_calls(3)


@trap
def codex_old_forks_replay_the_events_of_their_parent(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1), counted(2))
    later = "2026-11-03T09"
    replay = [counted(1, at=later), counted(2, at=later), counted(3, at=later)]
    lines(rollout(home, "t2"), meta("t2", forked_from_id="t1"), context(), *replay)
    return codex_calls(3, days={DAY: 2, "2026-11-03": 1})


@trap
def codex_grandchildren_replay_their_grandparent(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1))
    lines(rollout(home, "t2"), meta("t2", forked_from_id="t1"), context(), counted(1), counted(2))
    every = [counted(1), counted(2), counted(3)]
    lines(rollout(home, "t3"), meta("t3", forked_from_id="t2"), context(), *every)
    return codex_calls(3)


@trap
def codex_equal_events_of_strangers_are_two(home: Path) -> Expected:
    for thread, hour in (("t1", "09"), ("t2", "10")):
        lines(rollout(home, thread), meta(thread), context(), counted(1, at=f"{DAY}T{hour}"))
    return codex_calls(2)


@trap
def codex_equal_events_of_siblings_are_two(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1))
    for thread, hour in (("t2", "13"), ("t3", "14")):
        fork = meta(thread, forked_from_id="t1")
        lines(rollout(home, thread), fork, context(), counted(1), counted(2, at=f"{DAY}T{hour}"))
    return codex_calls(3)


@trap
def codex_subagents_name_their_parent_and_may_have_its_meta(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1"), context(), counted(1))
    source = {"subagent": {"thread_spawn": {"parent_thread_id": "t1"}}}
    lines(
        rollout(home, "t2"),
        meta("t2", source=source),
        meta("t1"),
        context(),
        counted(1),
        counted(2),
    )
    return codex_calls(2)


@trap
def codex_archives_a_session_by_moving_it(home: Path) -> Expected:
    for folder in ("sessions/2026/11/02", "archived_sessions"):
        lines(rollout(home, "t1", folder), meta("t1"), context(), counted(1), counted(2))
    return codex_calls(2)


@trap
def codex_models_change_within_a_session(home: Path) -> Expected:
    calls = [context("gpt-5"), counted(1), context("gpt-5-mini"), counted(2)]
    lines(rollout(home, "t1"), meta("t1"), *calls)
    return codex_calls(2, models={"gpt-5": 1, "gpt-5-mini": 1})


# Gemini and Qwen


def gemini_chat(home: Path, name: str = "session-2026-11-02T12-00-11111111.jsonl") -> Path:
    return home / ".gemini" / "tmp" / "shop" / "chats" / name


def gemini(id: str, **tokens: int) -> dict[str, Any]:
    counts = {"input": 1000, "cached": 400, "output": 30, "thoughts": 20, "tool": 0, **tokens}
    about = {"id": id, "timestamp": NOON, "type": "gemini", "content": "x"}
    return {**about, "tokens": counts, "model": "gemini-2.5-pro"}


GEMINI_HEAD = {
    "sessionId": "11111111-0000-4000-8000-000000000000",
    "projectHash": "c7db142a",
    "startTime": NOON,
    "lastUpdated": NOON,
    "kind": "main",
}


@trap
def gemini_writes_a_message_again_with_its_tools(home: Path) -> Expected:
    again = {**gemini("m1"), "toolCalls": [{"id": "t"}]}
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1"), again, gemini("m2"))
    return Expected(calls=2, input=1200, output=100, cache_read=800)


@trap
def gemini_writes_all_messages_again_when_resumed(home: Path) -> Expected:
    resumed = {"$set": {"messages": [{"id": "u", "type": "user"}, gemini("m1"), gemini("m2")]}}
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1"), gemini("m2"), resumed, gemini("m3"))
    return Expected(calls=3, input=1800, output=150, cache_read=1200)


@trap
def gemini_tool_tokens_are_input_beside_the_prompt(home: Path) -> Expected:
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1", tool=70))
    return Expected(calls=1, input=670, output=50, cache_read=400)


@trap
def gemini_once_kept_a_session_as_one_document(home: Path) -> Expected:
    path = gemini_chat(home, "session-2026-11-02T12-00-22222222.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({**GEMINI_HEAD, "messages": [gemini("m1"), gemini("m2")]}, indent=2))
    return Expected(calls=2, input=1200, output=100, cache_read=800)


@trap
def gemini_subagents_have_files_of_their_own(home: Path) -> Expected:
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1"))
    below = gemini_chat(home, "11111111-0000-4000-8000-000000000000/abc.jsonl")
    lines(below, {**GEMINI_HEAD, "sessionId": "abc", "kind": "subagent"}, gemini("m2"))
    return Expected(calls=2, input=1200, output=100, cache_read=800)


def qwen_chat(home: Path) -> Path:
    return home / ".qwen" / "projects" / "-home-dev-shop" / "chats" / "q1.jsonl"


def qwen(type: str, uuid: str, **more: Any) -> dict[str, Any]:
    about = {"uuid": uuid, "sessionId": "q1", "timestamp": NOON, "cwd": "/home/dev/shop"}
    return {**about, "type": type, **more}


def telemetry(response: str) -> dict[str, Any]:
    event = {
        "event.name": "qwen-code.api_response",
        "response_id": response,
        "model": "qwen3-coder-plus",
        "input_token_count": 1000,
        "output_token_count": 50,
        "cached_content_token_count": 400,
        "thoughts_token_count": 20,
    }
    payload = {"uiEvent": event}
    return qwen("system", f"t-{response}", subtype="ui_telemetry", systemPayload=payload)


def qwen_answer(uuid: str) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 1000,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 20,
        "cachedContentTokenCount": 400,
    }
    return qwen("assistant", uuid, model="qwen3-coder-plus", usageMetadata=usage)


@trap
def qwen_reports_a_call_twice_and_a_hidden_one_once(home: Path) -> Expected:
    lines(
        qwen_chat(home), telemetry("c1"), qwen_answer("a1"), telemetry("hidden"), qwen_answer("a2")
    )
    return Expected(calls=2, input=1200, output=100, cache_read=800, unpriced=2100)


@trap
def qwen_files_without_telemetry_count_the_answers(home: Path) -> Expected:
    lines(qwen_chat(home), qwen_answer("a1"), qwen_answer("a2"), qwen_answer("a2"))
    return Expected(calls=2, input=1200, output=100, cache_read=800, unpriced=2100)


# Copilot, Droid and Kimi


def copilot(home: Path, *events: dict[str, Any]) -> None:
    lines(home / ".copilot" / "session-state" / "c1" / "events.jsonl", *events)


def copilot_event(type: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"type": type, "data": data, "id": f"e-{type}", "timestamp": NOON}


COPILOT_START = copilot_event(
    "session.start", {"sessionId": "c1", "context": {"cwd": "/home/dev/shop", "branch": "main"}}
)


def copilot_usage(call: str) -> dict[str, Any]:
    usage = {
        "model": "gpt-5",
        "inputTokens": 1000,
        "outputTokens": 50,
        "cacheReadTokens": 400,
        "cacheWriteTokens": 100,
        "cost": 3.0,
        "apiCallId": call,
    }
    return copilot_event("session.usage_record", {"usage": usage})


def copilot_shutdown(requests: int) -> dict[str, Any]:
    usage = {
        "inputTokens": 1000 * requests,
        "outputTokens": 50 * requests,
        "cacheReadTokens": 400 * requests,
        "cacheWriteTokens": 100 * requests,
    }
    metrics = {"gpt-5": {"requests": {"count": requests, "cost": 3.0}, "usage": usage}}
    return copilot_event("session.shutdown", {"modelMetrics": metrics})


@trap
def copilot_s_cost_counts_premium_requests_and_not_dollars(home: Path) -> Expected:
    copilot(home, COPILOT_START, copilot_usage("a1"), copilot_usage("a2"), copilot_shutdown(2))
    cost = 2 * (600 * 1.25 + 400 * 0.125 + 50 * 10) / 1e6  # what is written to the cache is input
    return Expected(
        calls=2, input=1000, output=100, cache_read=800, cache_write=200, estimated=cost
    )


DROID_USAGE = {
    "inputTokens": 600,
    "outputTokens": 50,
    "cacheCreationTokens": 100,
    "cacheReadTokens": 400,
    "thinkingTokens": 0,
}


@trap
def droid_keeps_a_sum_without_children_and_a_backup(home: Path) -> Expected:
    folder = home / ".factory" / "sessions" / "-home-dev-shop"
    start = {"type": "session_start", "id": "d1", "title": "Work", "cwd": "/home/dev/shop"}
    message = {"type": "message", "id": "x", "timestamp": NOON, "message": {"role": "assistant"}}
    lines(folder / "d1.jsonl", start, message)
    children = {name: 2 * count for name, count in DROID_USAGE.items()}
    settings = {"model": "gpt-5", "tokenUsage": DROID_USAGE, "inclusiveTokenUsage": children}
    for name in ("d1.settings.json", "d1.settings.json.bak"):
        (folder / name).write_text(json.dumps(settings))
    return Expected(calls=1, input=600, output=50, cache_read=400, cache_write=100, days={DAY: 1})


@trap
def kimi_names_the_model_by_an_alias_and_repeats_usage(home: Path) -> Expected:
    agent = home / ".kimi-code" / "sessions" / "wd_shop_1" / "session_k1" / "agents" / "main"
    usage = {"inputOther": 600, "output": 50, "inputCacheRead": 400, "inputCacheCreation": 100}
    time = 1793620800000  # 2026-11-02T12:00:00Z
    request = {"type": "llm.request", "model": "kimi-k2", "modelAlias": "fake", "time": time}
    record = {
        "type": "usage.record",
        "agentId": "main",
        "model": "fake",
        "usage": usage,
        "time": time,
    }
    repeated = {"type": "context.append_loop_event", "event": {"usage": usage}, "time": time}
    lines(agent / "wire.jsonl", request, record, repeated, request, record)
    return Expected(
        calls=2, input=1200, output=100, cache_read=800, cache_write=200, models={"kimi-k2": 2}
    )


# Stores in SQLite

_OPENCODE_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text,
  title text, version text, cost real DEFAULT 0, tokens_input integer DEFAULT 0,
  tokens_output integer DEFAULT 0, tokens_reasoning integer DEFAULT 0,
  tokens_cache_read integer DEFAULT 0, tokens_cache_write integer DEFAULT 0, model text,
  time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer,
  time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  time_updated integer, data text);
"""
AT = 1793620800000  # 2026-11-02T12:00:00Z
STEP = {"input": 600, "output": 30, "reasoning": 20, "cache": {"read": 400, "write": 100}}


class OpenCodeStore:
    """A database of OpenCode, or of Kilo, which has the same tables."""

    def __init__(self, home: Path, name: str = "opencode") -> None:
        path = home / ".local" / "share" / name / f"{name}.db"
        path.parent.mkdir(parents=True)
        self.database = sqlite3.connect(path)
        self.database.executescript(_OPENCODE_TABLES)

    def session(self, id: str, parent: str | None = None, cost: float = 0) -> None:
        self.database.execute(
            "INSERT INTO session (id, parent_id, directory, title, version, cost, time_created,"
            " time_updated) VALUES (?, ?, '/home/dev/shop', 'Work', '1.18.33', ?, ?, ?)",
            (id, parent, cost, AT, AT),
        )

    def message(self, id: str, session: str, *costs: float, at: int = AT, cost: float = 0) -> None:
        """An assistant message with a step for each of the costs."""
        data = {
            "role": "assistant",
            "modelID": "claude-sonnet-4-5",
            "providerID": "anthropic",
            "path": {"cwd": "/home/dev/shop"},
            "tokens": STEP,
            "cost": cost or sum(costs),
            "time": {"created": at, "completed": at + 500},
        }
        self.database.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id, session, at, at, json.dumps(data))
        )
        for number, step_cost in enumerate(costs):
            step = {"type": "step-finish", "tokens": STEP, "cost": step_cost}
            row = (f"{id}-p{number}", id, session, at, at, json.dumps(step))
            self.database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        self.database.commit()
        self.database.close()


def opencode_calls(count: int, **more: Any) -> Expected:
    return Expected(
        calls=count,
        input=600 * count,
        output=50 * count,
        cache_read=400 * count,
        cache_write=100 * count,
        **more,
    )


@trap
def opencode_forks_copy_messages_under_new_ids(home: Path) -> Expected:
    store = OpenCodeStore(home)
    store.session("ses1", cost=0.01)
    store.message("m1", "ses1", 0.01)
    store.session("ses2", cost=0.03)
    store.message("m9", "ses2", 0.01)  # the copy
    store.message("m10", "ses2", 0.02, at=AT + 60_000)
    store.close()
    return opencode_calls(2, native=0.03, estimated=0)


@trap
def opencode_messages_have_the_tokens_of_their_last_step(home: Path) -> Expected:
    store = OpenCodeStore(home)
    store.session("ses1", cost=0.03)
    store.message("m1", "ses1", 0.01, 0.02)
    store.close()
    return opencode_calls(2, native=0.03, estimated=0)


@trap
def opencode_messages_without_steps_count_themselves(home: Path) -> Expected:
    store = OpenCodeStore(home)
    store.session("ses1")
    store.message("m1", "ses1", cost=0.02)
    store.close()
    return opencode_calls(1, native=0.02, estimated=0)


@trap
def opencode_writes_0_for_a_cost_that_it_does_not_know(home: Path) -> Expected:
    store = OpenCodeStore(home)
    store.session("ses1")
    store.message("m1", "ses1", 0.0)
    store.close()
    cost = (600 * 3 + 50 * 15 + 400 * 0.3 + 100 * 3.75) / 1e6
    return opencode_calls(1, native=0, estimated=cost)


@trap
def kilo_adds_a_subagent_s_cost_to_the_parent_s_message(home: Path) -> Expected:
    store = OpenCodeStore(home, "kilo")
    store.session("ses1", cost=0.03)
    store.message("m1", "ses1", 0.01, cost=0.03)
    store.session("ses2", parent="ses1", cost=0.02)
    store.message("m2", "ses2", 0.02, at=AT + 1000)
    store.close()
    return opencode_calls(2, native=0.03, estimated=0)


@trap
def goose_sums_of_a_session_repeat_its_ledger(home: Path) -> Expected:
    path = home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT,"
            " session_type TEXT, created_at TEXT, updated_at TEXT, parent_session_id TEXT,"
            " input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER,"
            " accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER,"
            " accumulated_total_tokens INTEGER, accumulated_cache_read_tokens INTEGER,"
            " accumulated_cache_write_tokens INTEGER, accumulated_cost REAL, provider_name TEXT,"
            " model_config_json TEXT);"
            "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT,"
            " created_timestamp INTEGER, model TEXT, input_tokens INTEGER, output_tokens INTEGER,"
            " total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,"
            " cost REAL, cost_source TEXT, is_compaction INTEGER DEFAULT 0);"
        )
        database.execute(
            "INSERT INTO sessions VALUES ('g1', 'Work', '/home/dev/shop', 'user',"
            " '2026-11-02 12:00:00', '2026-11-02 12:00:01', NULL, 1000, 50, 1050, 2000, 100, 2100,"
            " 800, 100, 0.5, 'openai', '{\"model_name\":\"gpt-5\"}')"
        )
        rows = [("gpt-5", 400, None, 0.5), ("gpt-5", 400, 100, None)]
        for model, read, write, cost in rows:
            database.execute(
                "INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens,"
                " output_tokens, cache_read_tokens, cache_write_tokens, cost)"
                " VALUES ('g1', 1793620800, ?, 1000, 50, ?, ?, ?)",
                (model, read, write, cost),
            )
    return Expected(
        calls=2, input=600 + 500, output=100, cache_read=800, cache_write=100, native=0.5,
        days={DAY: 2},
    )  # fmt: skip
