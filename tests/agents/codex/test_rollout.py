"""What is read from Codex's rollout files: each call once, from records or from totals.

The transcripts were written by the real program against a scripted model. Lines of bulky types that
have no usage (items of responses and the state of the world) are left out of the copies here.
"""

import json
from typing import Any

import pytest

from nightrook.adapter.history import Call, Finding, Limit, Session
from nightrook.agents.codex.history import HISTORY
from tests.agents.histories import counted, place_of, read, read_all, tokens, transcript

THREAD = "01a1e05f-9542-7032-a1c1-d1f200b62833"
FOLDER = ".codex/sessions/2026/11/15/"
FILE = f"{FOLDER}rollout-2026-11-15T12-00-00-{THREAD}.jsonl"
AT = 1794744000.0  # 2026-11-15T12:00:00Z


def line(type: str, payload: Any, at: Any = "2026-11-15T12:00:00.000Z") -> bytes:
    return json.dumps({"timestamp": at, "type": type, "payload": payload}).encode()


def used(input: int, output: int, cached: int = 0, written: int = 0) -> dict[str, int]:
    return {
        "input_tokens": input,
        "cached_input_tokens": cached,
        "cache_write_input_tokens": written,
        "output_tokens": output,
        "reasoning_output_tokens": 1,
        "total_tokens": input + output,
    }


def count(total: Any, last: Any = None, *, limits: Any = None, at: Any = None) -> bytes:
    info = {"total_token_usage": total, "last_token_usage": last} if total else None
    payload = {"type": "token_count", "info": info, "rate_limits": limits}
    return line("event_msg", payload, at or "2026-11-15T12:00:00.000Z")


def record(usage: Any, id: str | None = "resp_1", *, total: Any = None, **fields: Any) -> bytes:
    payload = {"response_id": id, "usage": usage, "thread_token_usage": total or usage}
    return line("token_usage_record", payload | fields)


def meta(id: str = THREAD, **fields: Any) -> bytes:
    return line("session_meta", {"id": id, "cwd": "/home/dev/project"} | fields)


def turn(model: str) -> bytes:
    return line("turn_context", {"model": model, "cwd": "/home/dev/project"})


def findings(*lines: bytes, path: str = FILE) -> list[Finding]:
    return read(HISTORY, path, b"\n".join(lines))


def calls(*lines: bytes, path: str = FILE) -> list[Call]:
    return [found for found in findings(*lines, path=path) if isinstance(found, Call)]


def sessions(*lines: bytes, path: str = FILE) -> list[Session]:
    return [found for found in findings(*lines, path=path) if isinstance(found, Session)]


def limits(*lines: bytes) -> list[Limit]:
    return [found for found in findings(*lines) if isinstance(found, Limit)]


def outputs(*lines: bytes) -> list[int]:
    return [call.output for call in calls(*lines)]


OWN_FIGURES = {
    "cmd_ok": (2, 2400, 600, 90, 14),
    "file_change": (2, 2400, 600, 90, 14),
    "mcp_ok": (4, 4800, 1200, 180, 28),
    "text": (1, 1200, 300, 45, 7),
    "todo_list": (5, 6000, 1500, 225, 35),
    # Its stream reports no usage, because the turn failed; one call had succeeded.
    "fail_after_work": (1, 1200, 300, 45, 7),
    # Its stream reports 4 calls, those of the main thread; the subagent made one more.
    "collab_spawn_v2": (5, 4800 + 1200, 1200 + 300, 180 + 45, 28 + 7),
}
"""Calls, input, cached input, output and reasoning that the streams of the same runs report."""


@pytest.mark.parametrize("name", OWN_FIGURES)
def test_a_transcript_has_what_the_agent_itself_reports(name: str) -> None:
    number, input, cached, output, reasoning = OWN_FIGURES[name]
    expected = {"input": input - cached, "output": output, "cache_read": cached}
    found = read_all(HISTORY, transcript("codex", name))
    assert tokens(found) == {"calls": number} | expected | {"reasoning": reasoning}
    assert {call.model for call in counted(found)} <= {"gpt-5.5", "gpt-6.1-sol"}


def test_a_transcript_read_by_its_totals_alone_has_the_same_calls() -> None:
    for name in OWN_FIGURES:
        files = transcript("codex", name)
        old = {
            path: b"\n".join(one for one in data.split(b"\n") if b'"token_usage_record"' not in one)
            for path, data in files.items()
        }
        by_totals = [call for call in read_all(HISTORY, old) if isinstance(call, Call)]
        assert all(call.lineage for call in by_totals)
        assert sum(call.input for call in by_totals) == tokens(read_all(HISTORY, files))["input"]


# What a call is, since 0.166


def test_a_record_is_a_call_with_the_id_of_its_response() -> None:
    (call,) = calls(
        meta(git={"branch": "main"}), turn("gpt-5.5"), record(used(1000, 45, 300, 100), "resp_9")
    )
    assert call == Call(
        id="resp_9",
        session=THREAD,
        at=AT,
        model="gpt-5.5",
        input=600,
        output=45,
        cache_read=300,
        cache_write_5m=100,
        reasoning=1,
        project="/home/dev/project",
        branch="main",
    )


def test_a_count_that_repeats_a_record_is_not_counted() -> None:
    one, two = used(100, 10), used(200, 20)
    assert outputs(record(one), count(one, one), record(one, "r2", total=two), count(two, one)) == [
        10,
        10,
    ]


def test_counts_of_an_older_version_count_before_and_after_records() -> None:
    one, two, three = used(100, 10), used(200, 21), used(300, 33)
    found = calls(
        count(one, one),
        record(used(100, 11), total=two),
        count(two, used(100, 11)),
        count(three, used(100, 12)),
    )
    assert [(call.output, call.lineage) for call in found] == [(10, True), (11, False), (12, True)]


def test_a_record_without_the_id_of_a_response_is_identified_by_its_counts() -> None:
    (call,) = calls(record(used(100, 10), None))
    assert call.lineage
    assert call.id


def test_a_replayed_record_of_the_parent_is_a_copy() -> None:
    found = calls(meta(forked_from_id="parent"), record(used(100, 10), thread_id="parent"))
    assert [(call.session, call.copied) for call in found] == [("parent", True)]
    assert calls(record(used(100, 10), thread_id=THREAD))[0].copied is False


# What a call is before that


def test_a_count_is_a_call_if_the_total_has_grown() -> None:
    one, two = used(100, 10), used(220, 25)
    last = used(120, 15)
    lines = (count(one, one), count(one, one), count(two, last), count(two, used(900, 0)))
    assert outputs(*lines) == [10, 15]


def test_a_total_that_is_written_again_is_not_a_call() -> None:
    nothing = dict.fromkeys(used(0, 0), 0)
    assert outputs(count(used(100, 10), used(100, 10)), count(used(100, 10), used(100, 10))) == [10]
    assert outputs(count(nothing), count(nothing, used(100, 10))) == []


def test_a_count_without_the_last_usage_is_the_difference_of_the_totals() -> None:
    (first, second) = calls(count(used(100, 10, 50)), count(used(300, 25, 90)))
    assert (first.input, first.cache_read, first.output) == (50, 50, 10)
    assert (second.input, second.cache_read, second.output) == (160, 40, 15)


def test_equal_calls_of_one_thread_are_as_many_calls() -> None:
    last = used(100, 10)
    found = calls(count(used(100, 10), last), count(used(200, 20), last))
    assert len({call.id for call in found}) == 2


def test_a_fork_that_begins_with_the_total_of_its_parent_used_only_the_last() -> None:
    fork = calls(meta(forked_from_id="parent"), count(used(6000, 60), used(1400, 14)))
    assert [(call.input, call.output) for call in fork] == [(1400, 14)]
    nothing = dict.fromkeys(used(0, 0), 0)
    assert calls(meta(forked_from_id="parent"), count(used(6000, 60), nothing)) == []


def test_a_fork_has_the_replayed_calls_under_the_ids_of_its_parent() -> None:
    replayed = (count(used(100, 10), used(100, 10)), count(used(250, 25), used(150, 15)))
    own = count(used(300, 30), used(50, 5), at="2026-11-15T13:00:00Z")
    parent = calls(meta("parent"), *replayed)
    fork = calls(meta(forked_from_id="parent"), *replayed, own)
    assert [call.id for call in parent] == [call.id for call in fork[:2]]
    assert {call.session for call in fork} == {THREAD}
    assert all(call.lineage for call in (*parent, *fork))
    assert fork[2].id not in {call.id for call in parent}


def test_a_total_that_begins_again_is_a_call_and_a_smaller_one_is_not() -> None:
    one = used(100, 10)
    found = calls(count(one, one), count(used(300, 30), used(200, 20)), count(one, one))
    assert [call.output for call in found] == [10, 20, 10]
    assert len({call.id for call in found}) == 3
    assert outputs(count(used(300, 30), one), count(used(200, 20), one)) == [10]
    assert outputs(count(used(300, 30), one), count(used(200, 20))) == [10]


def test_a_count_without_figures_is_not_a_call() -> None:
    assert findings(count(None)) == []
    assert findings(line("event_msg", {"type": "token_count", "info": {}})) == []


# Where a call belongs


def test_the_first_line_that_names_a_session_names_that_of_the_file() -> None:
    lines = (meta("child", forked_from_id="parent"), meta("parent"), record(used(10, 1)))
    assert [call.session for call in calls(*lines)] == ["child"]
    assert [session.id for session in sessions(*lines)] == ["child"]


def test_a_file_that_names_no_session_has_that_of_its_name() -> None:
    assert [call.session for call in calls(record(used(10, 1)))] == [THREAD]
    (call,) = calls(record(used(10, 1)), path=FOLDER + "rollout-x.jsonl")
    assert call.session == "rollout-x"


SPAWN = {"parent_thread_id": "parent", "agent_role": None, "agent_nickname": "Ohm"}


@pytest.mark.parametrize(
    ("fields", "parent", "subagent"),
    [
        ({}, None, None),
        ({"source": "exec"}, None, None),
        ({"forked_from_id": "other", "source": "cli"}, None, None),
        ({"parent_thread_id": "parent"}, "parent", "subagent"),
        ({"source": {"subagent": {"thread_spawn": SPAWN}}}, "parent", "Ohm"),
        ({"source": {"subagent": {"thread_spawn": SPAWN}}, "agent_role": "x"}, "parent", "x"),
        ({"source": {"subagent": "review"}}, None, "review"),
        ({"source": {"subagent": {"other": "guardian"}}}, None, "guardian"),
    ],
)
def test_a_subagent_names_its_parent(
    fields: dict[str, Any], parent: str | None, subagent: str | None
) -> None:
    lines = (meta(**fields), record(used(10, 1)))
    assert [session.parent for session in sessions(*lines)] == [parent]
    assert [call.subagent for call in calls(*lines)] == [subagent]


def test_a_session_has_its_folder_branch_version_and_first_prompt() -> None:
    prompt = line("event_msg", {"type": "user_message", "message": "Fix\nthe tests"})
    (first, title) = sessions(
        meta(cli_version="0.98.0", git={"branch": "fix"}, forked_from_id="parent"),
        prompt,
        line("event_msg", {"type": "user_message", "message": "And then?"}),
    )
    assert first == Session(
        id=THREAD,
        at=AT,
        project="/home/dev/project",
        branch="fix",
        version="0.98.0",
        forked_from="parent",
    )
    assert title == Session(id=THREAD, title="Fix the tests")


@pytest.mark.parametrize(
    ("item", "titles"),
    [
        ({"type": "UserMessage", "content": [{"type": "image"}, {"text": "Go"}]}, ["Go"]),
        ({"type": "UserMessage"}, []),
        ({"type": "AgentMessage", "content": [{"text": '"UserMessage"'}], "UserMessage": 1}, []),
    ],
)
def test_the_first_prompt_is_read_from_an_item(item: Any, titles: list[str]) -> None:
    found = sessions(line("event_msg", {"type": "item_completed", "item": item}))
    assert [session.title for session in found] == titles


def test_the_model_is_that_of_the_last_turn() -> None:
    found = calls(
        turn("gpt-5.5"),
        record(used(10, 1), "a"),
        turn("gpt-6.1-sol"),
        record(used(10, 1), "b"),
    )
    assert [call.model for call in found] == ["gpt-5.5", "gpt-6.1-sol"]
    assert {call.project for call in found} == {"/home/dev/project"}
    assert [call.model for call in calls(record(used(10, 1)))] == [None]


@pytest.mark.parametrize("written", [None, "soon", 0])
def test_a_line_without_a_time_has_that_of_the_line_before_it(written: Any) -> None:
    without = line("token_usage_record", {"response_id": "r", "usage": used(10, 1)}, written)
    assert [call.at for call in calls(meta(), without)] == [AT]
    assert [call.at for call in calls(without)] == [None]


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        (FILE, True),
        (f".codex/archived_sessions/rollout-2026-11-15T12-00-00-{THREAD}.jsonl", True),
        (".codex/history.jsonl", False),
        (".codex/sessions/2026/11/15/notes.jsonl", False),
    ],
)
def test_only_rollout_files_are_read(path: str, is_read: bool) -> None:
    assert (place_of(HISTORY, path) is not None) is is_read


# Limits


def test_limits_are_reported_when_they_change() -> None:
    five_hours = {"used_percent": 12.5, "window_minutes": 300, "resets_at": 1794750000}
    week = {"used_percent": 300, "window_minutes": 10080, "resets_in_seconds": 60}
    both = {"primary": five_hours, "secondary": week, "plan_type": "plus", "limit_id": "codex"}
    assert limits(count(None, limits=both)) == [
        Limit(at=AT, window="five_hour", used=0.125, resets_at=1794750000, plan="plus"),
        Limit(at=AT, window="weekly", used=1.0, resets_at=AT + 60, plan="plus"),
    ]
    later = "2026-11-15T12:00:09Z"
    more = both | {"primary": five_hours | {"used_percent": 13}, "secondary": None}
    found = limits(
        count(None, limits={"primary": five_hours}),
        count(None, limits={"primary": five_hours}, at=later),
        count(None, limits=more, at=later),
    )
    assert [(limit.at, limit.used) for limit in found] == [(AT, 0.125), (AT + 9, 0.13)]


@pytest.mark.parametrize(
    ("minutes", "fields", "window"),
    [
        (60, {}, "60_minutes"),
        (None, {}, "unknown"),
        (300, {"limit_id": "codex_other"}, "codex_other five_hour"),
        (300, {"limit_id": "codex_other", "limit_name": "Spark"}, "Spark five_hour"),
    ],
)
def test_a_limit_is_named_after_its_length_and_what_it_limits(
    minutes: int | None, fields: dict[str, str], window: str
) -> None:
    (limit,) = limits(count(None, limits={"primary": {"window_minutes": minutes}} | fields))
    assert (limit.window, limit.used, limit.resets_at) == (window, None, None)


# Damage


@pytest.mark.parametrize(
    "damaged",
    [
        record(used(100, 10)).replace(b": ", b" \t:\r"),
        record(used(100, 10)).replace(b'"payload"', b'"text": "\\ud800", "payload"'),
        record(used(100, 10)).replace(b'"payload"', b'"text": "\xff\xed\xa0\x80", "payload"'),
        b"\x00\x00" + record(used(100, 10)),
        record(used(1, 1))[:90] + record(used(100, 10)),
        record(used(100, 10) | {"cached_input_tokens": -4, "cache_write_input_tokens": "5"}),
        record(used(100, 10) | {"cached_input_tokens": 10**30}),
    ],
)
def test_usage_is_read_from_a_damaged_line(damaged: bytes) -> None:
    (call,) = calls(damaged)
    assert (call.id, call.input, call.output, call.at) == ("resp_1", 100, 10, AT)


@pytest.mark.parametrize(
    "line",
    [
        record(used(100, 10))[:-3],
        record(None),
        b'{"type":"token_usage_record"}',
        b'{"type":"token_count","payload":{"info":{}}}',
        b'{"type":"dance","payload":{"type":"token_count"}}',
        b'["token_count"]',
    ],
)
def test_a_line_that_reports_no_usage_is_not_a_call(line: bytes) -> None:
    assert findings(line) == []


def test_more_cached_input_than_input_is_no_negative_count() -> None:
    (call,) = calls(record(used(100, 10, 300)))
    assert (call.input, call.cache_read) == (0, 300)


def test_a_path_that_is_not_text_can_be_stored() -> None:
    begin = HISTORY.stored().begin
    assert begin(["rollout-\udcff.jsonl"]).session == "rollout-?"
