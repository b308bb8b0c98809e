"""More traps of stored sessions: damage, lines that are very long, times and prices."""

from pathlib import Path
from typing import Any

from tests.archive.traps import (
    COST,
    DAY,
    GEMINI_HEAD,
    NOON,
    SONNET,
    TRAPS,
    Expected,
    claude,
    codex,
    codex_calls,
    compact,
    context,
    counted,
    gemini,
    gemini_chat,
    lines,
    meta,
    rollout,
    said,
    trap,
)


def said_calls(count: int, **more: Any) -> Expected:
    """What `count` lines of `said()` use."""
    return Expected(
        calls=count,
        input=100 * count,
        output=10 * count,
        cache_read=1000 * count,
        cache_write=50 * count,
        **more,
    )


def asked(at: str, size: int = 10) -> bytes:
    """A line of the user, which has no usage."""
    message = {"role": "user", "content": "x" * size}
    return compact({"type": "user", "sessionId": "s1", "message": message, "timestamp": at})


# Times


@trap
def claude_lines_without_a_time_have_that_of_a_user_s_line(home: Path) -> Expected:
    lines(
        claude(home),
        compact(said("m1", at="2026-11-01T10:00:00Z")),
        asked("2026-11-02T10:00:00Z"),
        b"not json",
        compact(said("m2", at=None)),
        compact(said("m3", at=None)),
        asked("2026-11-03T10:00:00Z", size=400_000),
        compact(said("m4", at=None)),
    )
    return said_calls(4, days={"2026-11-01": 1, "2026-11-02": 2, "2026-11-03": 1})


@trap
def codex_lines_without_a_time_have_that_of_the_line_before(home: Path) -> Expected:
    item = codex("response_item", {"type": "message"}, "2026-11-04T10:00:00Z")
    count = {name: part for name, part in counted(1).items() if name != "timestamp"}
    lines(rollout(home, "t1"), meta("t1"), context(), item, count)
    return codex_calls(1, days={"2026-11-04": 1})


@trap
def claude_clocks_may_be_set_back_within_a_session(home: Path) -> Expected:
    times = ("2026-11-03T00:10:00Z", "2026-11-02T23:50:00Z", "2026-11-03T00:20:00Z")
    lines(claude(home), *(said(f"m{number}", at=at) for number, at in enumerate(times)))
    return said_calls(3, days={"2026-11-02": 1, "2026-11-03": 2})


# Damage and lines that are very long


@trap
def claude_lines_may_be_glued_together(home: Path) -> Expected:
    glued = compact(said("m1")) + compact(said("m2"))
    cut = compact(said("m3")) + b'{"type":"assistant","message":{"id":"m9"'
    lines(claude(home), glued, cut, said("m4"))
    return said_calls(4)


@trap
def codex_lines_may_be_glued_together(home: Path) -> Expected:
    glued = compact(counted(1)) + compact(counted(2))
    lines(rollout(home, "t1"), meta("t1"), context(), glued)
    return codex_calls(2, models={"gpt-5": 2})


def long_message(id: str, parts: list[str], *, content_first: bool = False) -> bytes:
    """A line of more than 10 MiB whose content has several parts."""
    line = said(id)
    message = line["message"]
    content = {"content": [{"type": "text", "text": part} for part in parts]}
    rest = {name: part for name, part in message.items() if name != "content"}
    usage = {"usage": rest.pop("usage")}
    order = {**content, **rest, **usage} if content_first else {**rest, **content, **usage}
    return compact({**line, "message": order})


@trap
def claude_long_lines_may_have_many_parts(home: Path) -> Expected:
    halves = ["x" * 6_000_000, "y" * 6_000_000]
    lines(claude(home), long_message("m1", halves), said("m2"))
    return said_calls(2, models={SONNET: 2})


@trap
def claude_long_lines_may_have_quotes_in_them(home: Path) -> Expected:
    parts = ['a "usage" of \\ ' * 50] * 15_000
    lines(claude(home), long_message("m1", parts), said("m2"))
    return said_calls(2, models={SONNET: 2})


@trap
def claude_long_lines_may_begin_with_their_content(home: Path) -> Expected:
    line = long_message("m1", ["z" * 100] * 100_000, content_first=True)
    lines(claude(home), line, said("m2"))
    return said_calls(2, models={SONNET: 2}, estimated=2 * COST)


@trap
def claude_files_may_have_nothing_in_them_or_only_zeros(home: Path) -> Expected:
    lines(claude(home), b"\0" * 300_000 + compact(said("m1")), said("m2"))
    claude(home, "empty").write_bytes(b"")
    claude(home, "zeros").write_bytes(b"\0" * 5000)
    claude(home, "folder").mkdir()
    claude(home).with_suffix(".jsonl.bak").write_bytes(compact(said("m3")) + b"\n")
    return said_calls(2)


# Copies


@trap
def claude_resumes_into_a_file_with_copies_of_copies(home: Path) -> Expected:
    first = [said("m1"), said("m2")]
    second = [*(said(id, session="s2") for id in ("m1", "m2")), said("m3", session="s2")]
    third = [said(id, session="s3") for id in ("m1", "m2", "m3", "m4")]
    for session, messages in (("s3", third), ("s2", second), ("s1", first)):
        lines(claude(home, session), *messages)
    return said_calls(4)


@trap
def claude_messages_of_one_request_are_different_calls(home: Path) -> Expected:
    messages = [said(id, requestId="r1") for id in ("m1", "m1", "m2", "m3")]
    for line in messages:  # in the order in which Claude Code writes them
        usage = line["message"].pop("usage")
        line["message"]["usage"] = usage
        for name in ("message", "requestId", "uuid", "timestamp"):
            line[name] = line.pop(name)
    lines(claude(home), *messages)
    return said_calls(3)


@trap
def claude_projects_may_be_links_to_each_other(home: Path) -> Expected:
    lines(claude(home), said("m1"))
    projects = claude(home).parent.parent
    (projects / "link").symlink_to(claude(home).parent)
    (projects / "loop").symlink_to(projects)
    other = home / "elsewhere"
    lines(other / "s9.jsonl", said("m2", session="s9"))
    (projects / "other").symlink_to(other)
    return said_calls(2)


@trap
def codex_sessions_may_name_each_other_as_their_parent(home: Path) -> Expected:
    lines(rollout(home, "t1"), meta("t1", forked_from_id="t2"), context(), counted(1))
    lines(rollout(home, "t2"), meta("t2", forked_from_id="t1"), context(), counted(1))
    own = counted(1, at=f"{DAY}T13")
    lines(rollout(home, "t3"), meta("t3", forked_from_id="t3"), context(), own)
    return codex_calls(2)


@trap
def codex_totals_may_begin_again(home: Path) -> Expected:
    later = f"{DAY}T13"
    calls = [counted(1), counted(2), counted(1, at=later), counted(2, at=later)]
    lines(rollout(home, "t1"), meta("t1"), context(), *calls)
    return codex_calls(4)


@trap
def gemini_resumes_a_session_in_another_file(home: Path) -> Expected:
    again = {"$set": {"messages": [gemini("m1")]}}
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1"))
    other = gemini_chat(home, "session-2026-11-03T12-00-11111111.jsonl")
    lines(other, GEMINI_HEAD, again, gemini("m2"))
    return Expected(calls=2, input=1200, output=100, cache_read=800)


# Prices


@trap
def codex_prices_change_within_a_session(home: Path) -> Expected:
    before, after = "2025-06-09T12:00:00Z", "2025-06-11T12:00:00Z"
    fresh = {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}
    twice = {name: 2 * count for name, count in fresh.items()}
    calls = [
        codex(
            "event_msg",
            {
                "type": "token_count",
                "info": {"total_token_usage": total, "last_token_usage": fresh},
            },
            at,
        )
        for total, at in ((fresh, before), (twice, after))
    ]
    lines(rollout(home, "t1"), meta("t1"), context("o3"), *calls)
    cost = (1000 * 10 + 50 * 40 + 1000 * 2 + 50 * 8) / 1e6  # $10 and $40, then $2 and $8
    return Expected(calls=2, input=2000, output=100, estimated=cost)


@trap
def claude_long_contexts_cost_more(home: Path) -> Expected:
    long = {"input_tokens": 150_000, "cache_read_input_tokens": 60_000}
    short = {"input_tokens": 150_000, "cache_read_input_tokens": 0}
    nothing = {"cache_creation_input_tokens": 0}
    messages = [said("m1", usage=long | nothing), said("m2", usage=short | nothing)]
    lines(claude(home), *messages)
    cost = (150_000 * 6 + 60_000 * 0.6 + 10 * 22.5 + 150_000 * 3 + 10 * 15) / 1e6
    return Expected(calls=2, input=300_000, output=20, cache_read=60_000, estimated=cost)


@trap
def gemini_long_contexts_cost_more(home: Path) -> Expected:
    lines(gemini_chat(home), GEMINI_HEAD, gemini("m1", input=300_000, cached=0))
    return Expected(calls=1, input=300_000, output=50, estimated=(300_000 * 2.5 + 50 * 15) / 1e6)


@trap
def claude_fast_searches_cost_as_much_as_slow_ones(home: Path) -> Expected:
    usage = {
        "speed": "fast",
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "server_tool_use": {"web_search_requests": 2},
    }
    lines(claude(home), said(model="claude-opus-4-6", usage=usage))
    cost = 6 * (100 * 5 + 10 * 25) / 1e6 + 0.02
    return Expected(calls=1, input=100, output=10, estimated=cost)


@trap
def claude_a_cost_of_0_with_tokens_is_not_reported(home: Path) -> Expected:
    lines(claude(home), said("m1", costUSD=0), said("m2", costUSD=0.5))
    return said_calls(2, native=0.5, estimated=COST)


@trap
def claude_messages_may_not_name_a_model(home: Path) -> Expected:
    lines(claude(home), said("m1", model=None), said("m2", model=""), said("m3"))
    return said_calls(3, estimated=COST, unpriced=2 * 1160, models={None: 2, SONNET: 1})


@trap
def claude_models_have_other_names_at_other_providers(home: Path) -> Expected:
    names = (
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
        "anthropic/claude-sonnet-4.5",
    )
    lines(claude(home), *(said(name, model=name, at=NOON) for name in names))
    return said_calls(3, estimated=3 * COST)


ALL_TRAPS = TRAPS
"""Those of the other module, and these."""
