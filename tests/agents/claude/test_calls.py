"""What is read from Claude Code's stored sessions: each call once, and where it belongs.

The transcripts were written by the real program against a scripted model. Lines of bulky types that
have no usage (attachments and requests) are left out of the copies here.
"""

import json
from typing import Any

import pytest

from nightrook.adapter.history import Call, Finding, Limit, Session
from nightrook.agents.claude.calls import COUNTING
from nightrook.agents.claude.history import HISTORY
from nightrook.agents.claude.reader import TABLE
from tests.agents.histories import counted, read, read_all, single, tokens, transcript

HOME = ".claude/projects/-home-dev-project/"
MAIN = HOME + "aaaa.jsonl"
AT = 1794744000.0  # 2026-11-15T12:00:00Z

USED = {"input_tokens": 3, "output_tokens": 5}


def line(usage: Any = None, *, message: Any = None, **fields: Any) -> bytes:
    """An assistant's line; a field that is None is left out."""
    content = [{"type": "text", "text": "Hi"}]
    of_message = {
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-opus-4-8",
        "content": content,
    }
    of_message |= {"usage": usage or USED} | (message or {})
    whole = {
        "sessionId": "aaaa",
        "type": "assistant",
        "timestamp": "2026-11-15T12:00:00.000Z",
        "cwd": "/home/dev/project",
        "message": {name: value for name, value in of_message.items() if value is not None},
    }
    whole |= fields
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()


def findings(*lines: bytes, path: str = MAIN) -> list[Finding]:
    return read(HISTORY, path, b"\n".join(lines))


def calls(*lines: bytes, path: str = MAIN) -> list[Call]:
    return [found for found in findings(*lines, path=path) if isinstance(found, Call)]


def sessions(*lines: bytes, path: str = MAIN) -> list[Session]:
    return [found for found in findings(*lines, path=path) if isinstance(found, Session)]


def sums(*, calls: int, input: int, output: int, cache_read: int, cache_write: int) -> Any:
    counts = {"input": input, "output": output, "cache_read": cache_read}
    return {"calls": calls} | counts | {"cache_write_5m": cache_write}


OWN_FIGURES = {
    "s01_plain_text-2.1.197": (1, 11, 14, 1746, 200),
    "s05_permission_denied-2.1.197": (3, 33, 88, 5636, 600),
    "s08c_subagent_background-2.1.197": (6, 66, 176, 11091, 1200),
    "s09_mcp-2.1.197": (7, 77, 175, 14088, 1400),
    "s10_api_retry-2.1.197": (1, 11, 9, 1744, 200),
    "s22_unicode-2.1.197": (6, 66, 270, 12298, 1200),
    "s23c_sigint_tool-2.1.197": (1, 11, 45, 1744, 200),
    "s24_resume-2.1.197": (5, 55, 64, 9209, 1000),
    "s27_background_bash-2.1.197": (4, 44, 101, 7749, 800),
    "s01_plain_text-2.1.325": (1, 11, 14, 2717, 200),
    "s05_permission_denied-2.1.325": (3, 33, 88, 8642, 600),
    "s08c_subagent_background-2.1.325": (6, 66, 176, 17218, 1200),
    "s09_mcp-2.1.325": (7, 77, 175, 20802, 1400),
    "s10_api_retry-2.1.325": (1, 11, 9, 2715, 200),
    "s17_task_tools-2.1.325": (6, 66, 204, 18213, 1200),
    "s19_stream_input_two_turns-2.1.325": (3, 33, 50, 8428, 600),
    "s22_unicode-2.1.325": (6, 66, 270, 18927, 1200),
    "s23c_sigint_tool-2.1.325": (1, 11, 53, 2715, 200),
    "s24_resume-2.1.325": (5, 55, 64, 14350, 1000),
    "s27_background_bash-2.1.325": (4, 44, 101, 11889, 800),
}
"""Calls, input, output, cache reads and writes that the results of the same runs report.

The results of a session are added where each is of its process alone (2.1.197).
"""


@pytest.mark.parametrize("name", OWN_FIGURES)
def test_a_transcript_has_what_the_agent_itself_reports(name: str) -> None:
    number, input, output, cache_read, cache_write = OWN_FIGURES[name]
    assert tokens(read_all(HISTORY, transcript("claude", name))) == sums(
        calls=number, input=input, output=output, cache_read=cache_read, cache_write=cache_write
    )


@pytest.mark.parametrize(
    ("version", "own", "compaction"),
    [
        ("2.1.197", (44, 86, 9106, 800), (11, 22, 3373, 200)),
        ("2.1.325", (44, 86, 13161, 800), (11, 22, 4467, 200)),
    ],
)
def test_a_transcript_lacks_the_call_that_compacted_it(
    version: str, own: tuple[int, ...], compaction: tuple[int, ...]
) -> None:
    input, output, cache_read, written = (
        all_of - one for all_of, one in zip(own, compaction, strict=True)
    )
    assert tokens(read_all(HISTORY, transcript("claude", f"s14_compact_manual-{version}"))) == sums(
        calls=3, input=input, output=output, cache_read=cache_read, cache_write=written
    )


@pytest.mark.parametrize("version", ["2.1.197", "2.1.325"])
def test_a_message_of_claude_code_itself_is_not_a_call(version: str) -> None:
    found = read_all(HISTORY, transcript("claude", f"s11a_fail_500-{version}"))
    assert tokens(found) == {"calls": 0}


# The versions whose results are not known: what their scripted model was asked.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s24_resume-1.0.128", (5, 55, 64, 1518, 1000)),
        ("s24_resume-2.0.76", (13, 143, 120, 874, 2600)),
        ("s17_task_tools-2.1.197", (6, 66, 204, 12043, 1200)),
        ("s19_stream_input_two_turns-2.1.197", (3, 33, 50, 5430, 600)),
    ],
)
def test_a_transcript_has_every_message_once(name: str, expected: tuple[int, ...]) -> None:
    number, input, output, cache_read, cache_write = expected
    assert tokens(read_all(HISTORY, transcript("claude", name))) == sums(
        calls=number, input=input, output=output, cache_read=cache_read, cache_write=cache_write
    )


def test_the_figures_that_a_session_ends_with_are_those_of_its_calls() -> None:
    files = transcript("claude", "s24_resume-2.1.325")
    *_, last = files[HOME + "d667b5de-d6ba-4035-95e6-388640f215b8.jsonl"].strip().split(b"\n")
    (own,) = json.loads(last)["modelUsage"].values()
    used = tokens(read_all(HISTORY, files))
    assert (own["inputTokens"], own["outputTokens"]) == (used["input"], used["output"])
    assert own["cacheReadInputTokens"] == used["cache_read"]


@pytest.mark.parametrize("version", ["1.0.128", "2.0.76", "2.1.197", "2.1.325"])
def test_a_fork_adds_only_its_own_calls_to_those_of_its_origin(version: str) -> None:
    found = read_all(HISTORY, transcript("claude", f"s24_resume-{version}"))
    main = [call for call in found if isinstance(call, Call) and call.subagent is None]
    original = {call.id: call for call in main if call.session.startswith("2222")}
    copies = {call.id: call for call in main if call.id in original and call.session[:4] != "2222"}
    assert len(original) == 4
    assert copies.keys() == original.keys()
    assert len({call.id for call in main}) == 5
    # 1.0.128 writes the time of the fork into the copies: there the earliest time decides.
    assert {call.copied for call in copies.values()} == {version != "1.0.128"}
    assert not any(call.copied for call in original.values())
    earliest = {call.id: call.at for call in counted(found)}
    assert all(earliest[call.id] == call.at for call in original.values())


# What a call is


def test_all_lines_of_a_message_are_one_call_with_its_greatest_output() -> None:
    found = calls(
        line({"input_tokens": 3, "output_tokens": 1}, timestamp="2026-11-15T12:00:01Z"),
        line({"input_tokens": 3, "output_tokens": 90}, timestamp="2026-11-15T12:00:02Z"),
        line({"input_tokens": 3, "output_tokens": 1}, timestamp="2026-11-15T12:00:03Z"),
    )
    (call,) = counted(list(found))
    assert (call.output, call.at) == (90, AT + 1)


def test_a_part_of_a_message_that_reports_nothing_new_is_not_reported_again() -> None:
    earlier = "2026-11-15T11:59:59Z"
    assert len(calls(line(), line(), line(uuid="u2"))) == 1
    assert len(calls(line(), line({"output_tokens": 6}))) == 2
    assert len(calls(line(), line(costUSD=0.5))) == 2
    assert len(calls(line(), line(message={"id": "msg_2"}), line())) == 3
    assert [call.at for call in calls(line(), line(timestamp=earlier))] == [AT, AT - 1]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"message": {"id": "msg_9"}, "requestId": "req_1", "uuid": "u"}, "msg_9"),
        ({"message": {"id": None}, "requestId": "req_1", "uuid": "u"}, "req_1"),
        ({"message": {"id": ""}, "uuid": "u"}, "u"),
    ],
)
def test_a_call_is_identified_by_its_message_else_its_request_else_its_line(
    given: dict[str, Any], expected: str
) -> None:
    assert [call.id for call in calls(line(**given))] == [expected]


def test_messages_without_any_id_are_as_many_calls_as_lines() -> None:
    unnamed = line(message={"id": None})
    assert len({call.id for call in calls(unnamed, unnamed)}) == 2
    assert calls(unnamed, unnamed) == calls(unnamed, unnamed)


def test_usage_is_split_into_what_has_a_price_of_its_own() -> None:
    usage = {
        "input_tokens": 1,
        "output_tokens": 2,
        "cache_read_input_tokens": 3,
        "cache_creation_input_tokens": 100,
        "cache_creation": {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40},
        "output_tokens_details": {"thinking_tokens": 1},
        "server_tool_use": {"web_search_requests": 4},
        "speed": "fast",
    }
    (call,) = calls(line(usage, gitBranch="main", version="2.1.325"))
    assert call == Call(
        id="msg_1",
        session="aaaa",
        at=AT,
        model="claude-opus-4-8",
        input=1,
        output=2,
        cache_read=3,
        cache_write_5m=60,
        cache_write_1h=40,
        reasoning=1,
        web_searches=4,
        fast=True,
        project="/home/dev/project",
        branch="main",
    )


@pytest.mark.parametrize(
    ("written", "split", "expected"),
    [
        (100, None, (100, 0)),
        (100, {"ephemeral_1h_input_tokens": 40}, (60, 40)),
        (100, {"ephemeral_5m_input_tokens": 60}, (100, 0)),
        (None, {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}, (60, 40)),
        (30, {"ephemeral_1h_input_tokens": 40}, (0, 40)),
    ],
)
def test_what_is_not_stored_for_an_hour_is_stored_for_five_minutes(
    written: int | None, split: Any, expected: tuple[int, int]
) -> None:
    usage = USED | {"cache_creation_input_tokens": written, "cache_creation": split}
    (call,) = calls(line(usage))
    assert (call.cache_write_5m, call.cache_write_1h) == expected


@pytest.mark.parametrize(("cost", "expected"), [(0.25, 0.25), (0, 0), (-1, None), (None, None)])
def test_the_cost_that_old_versions_wrote_is_read(cost: Any, expected: float | None) -> None:
    assert [call.cost_usd for call in calls(line(costUSD=cost))] == [expected]


def test_a_synthetic_model_makes_no_call_and_a_missing_one_does() -> None:
    assert calls(line(message={"model": "<synthetic>"})) == []
    assert [call.model for call in calls(line(message={"model": None}))] == [None]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "user", "toolUseResult": {"usage": USED, "totalTokens": 8}},
        {"type": "user", "message": {"role": "user", "usage": USED}},
        {"type": None, "message": {"role": "user"}},
        {"type": "user", "message": {"role": None}},
        {"type": "progress", "data": {"message": {"message": {"usage": USED}}}},
    ],
)
def test_what_repeats_the_usage_of_a_subagent_is_not_counted(fields: dict[str, Any]) -> None:
    message = fields.pop("message", {"role": "user"})
    assert calls(line(message=message, **fields)) == []


def test_lines_of_users_and_tools_are_not_read() -> None:
    told = {"type": "user", "message": {"role": "user", "content": json.dumps({"usage": USED})}}
    for text in (told, {**told, "toolUseResult": {"stdout": '{"usage": {"leafUuid": 3}}'}}):
        assert not any(needle in json.dumps(text).encode() for needle in COUNTING.needles)


# Where a call belongs


def test_a_subagent_in_the_file_of_its_session() -> None:
    (main, side) = calls(line(), line(isSidechain=True, message={"id": "msg_2"}))
    assert (main.subagent, side.subagent) == (None, "subagent")
    assert main.session == side.session == "aaaa"


def test_a_subagent_in_a_file_beside_its_session() -> None:
    path = HOME + "agent-0f1e.jsonl"
    (call,) = calls(line(isSidechain=True, agentId="0f1e"), path=path)
    assert (call.session, call.subagent, call.copied) == ("aaaa", "0f1e", False)
    (call,) = calls(line(sessionId=None), path=path)
    assert (call.session, call.subagent) == ("agent-0f1e", "0f1e")


@pytest.mark.parametrize("folder", ["", "workflows/wf_1/"])
def test_a_subagent_in_the_folder_of_its_session(folder: str) -> None:
    path = f"{HOME}aaaa/subagents/{folder}agent-0f1e.jsonl"
    side = {"isSidechain": True, "agentId": "0f1e", "attributionAgent": "Explore"}
    (call,) = calls(line(**side, sessionId=None), path=path)
    assert (call.session, call.subagent, call.copied) == ("aaaa", "Explore", False)
    assert call.project == "/home/dev/project"


def test_a_copied_line_of_a_fork_is_marked_and_names_its_origin() -> None:
    fork = {"sessionId": "bbbb", "version": "2.1.123"}
    origin = {"sessionId": "aaaa", "messageUuid": "u1"}
    lines = (
        line(**fork, forkedFrom=origin),
        line(**fork, message={"id": "msg_2"}, timestamp="2026-11-15T12:00:01Z"),
    )
    path = HOME + "bbbb.jsonl"
    assert [call.copied for call in calls(*lines, path=path)] == [True, False]
    assert [session.forked_from for session in sessions(*lines, path=path)] == ["aaaa"]
    (session,) = sessions(line(**fork, forkedFrom="aaaa"), path=path)
    assert session.forked_from == "aaaa"


def test_a_line_that_is_older_than_the_start_of_its_file_is_copied() -> None:
    start = b'{"type":"queue-operation","timestamp":"2026-11-15T12:00:05Z","sessionId":"aaaa"}'
    late = line(message={"id": "msg_2"}, timestamp="2026-11-15T12:00:06Z")
    assert [call.copied for call in calls(start, line(), late)] == [True, False]
    # A prompt that waits in the middle of a session does not open it.
    assert [call.copied for call in calls(late, start, line())] == [False, False]


def test_a_line_of_another_session_is_copied() -> None:
    (call,) = calls(line(sessionId="cccc"))
    assert (call.session, call.copied) == ("cccc", True)


@pytest.mark.parametrize(
    ("cwd", "expected"),
    [
        ("/home/dev/project", "/home/dev/project"),
        ("/home/dev/project/src/deep", "/home/dev/project"),
        ("/home/dev/project-2", "/home/dev/project-2"),
        ("/elsewhere", "/elsewhere"),
    ],
)
def test_the_project_is_where_the_session_started_even_in_its_subfolders(
    cwd: str, expected: str
) -> None:
    (call,) = calls(line(cwd=cwd))
    assert call.project == expected
    assert [session.project for session in sessions(line(cwd=cwd))] == [expected]


def test_a_windows_path_is_a_project_too() -> None:
    path = ".claude/projects/C--Users-dev-app/aaaa.jsonl"
    (call,) = calls(line(cwd="C:\\Users\\dev\\app\\src"), path=path)
    assert call.project == "C:\\Users\\dev\\app"


def test_a_line_without_a_folder_or_branch_has_those_of_the_line_before_it() -> None:
    fields: list[dict[str, Any]] = [{"gitBranch": "fix"}, {"cwd": None}, {"gitBranch": ""}]
    fields += [{}, {"gitBranch": "HEAD"}, {"gitBranch": "fix"}]
    found = calls(*(line(message={"id": f"msg_{n}"}, **one) for n, one in enumerate(fields)))
    assert {call.project for call in found} == {"/home/dev/project"}
    assert [call.branch for call in found] == ["fix", "fix", None, None, None, "fix"]


def test_a_session_is_reported_once_until_something_changes() -> None:
    branches = enumerate(["a", "a", "b"])
    found = sessions(*(line(message={"id": f"msg_{n}"}, gitBranch=name) for n, name in branches))
    assert [session.branch for session in found] == ["a", "b"]
    assert [session.at for session in found] == [AT, AT]


# Times


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-15T12:00:00Z", AT),
        ("2026-11-15T14:00:00.250+02:00", AT + 0.25),
        (1794744000250, AT + 0.25),
        ("soon", None),
        (None, None),
    ],
)
def test_times_with_offsets_and_without_milliseconds_are_read(
    written: Any, expected: float | None
) -> None:
    assert [call.at for call in calls(line(timestamp=written))] == [expected]


def test_a_line_without_a_time_has_that_of_the_line_before_it() -> None:
    found = calls(line(), line(message={"id": "msg_2"}, timestamp=None))
    assert [call.at for call in found] == [AT, AT]


def test_a_line_of_a_user_has_a_time_for_the_line_that_follows_it() -> None:
    history = HISTORY.stored()
    memory = history.begin(["aaaa.jsonl"])
    assert history.findings([line(type="user", message={"role": "user"})], memory) == []
    (_, call) = single(history.findings([line(timestamp=None)], memory))
    assert isinstance(call, Call)
    assert call.at == AT


def test_the_table_says_what_a_line_contains_that_the_ledger_reads() -> None:
    assert {needle for row in TABLE for needle in row.needles} == {*COUNTING.needles}
    assert HISTORY.stored().needles == COUNTING.needles


# Titles and limits


def title_line(type: str, **fields: str) -> bytes:
    return json.dumps({"type": type} | fields).encode()


def test_the_best_title_of_a_session_is_reported_last() -> None:
    lines = (
        title_line("last-prompt", leafUuid="u", lastPrompt="first\nprompt", sessionId="aaaa"),
        title_line("last-prompt", leafUuid="u", lastPrompt="second prompt", sessionId="aaaa"),
        title_line("ai-title", aiTitle="Old title", sessionId="aaaa"),
        title_line("ai-title", aiTitle="New title", sessionId="aaaa"),
        title_line("last-prompt", leafUuid="u", lastPrompt="third prompt", sessionId="aaaa"),
        title_line("custom-title", customTitle="Mine", sessionId="aaaa"),
        title_line("ai-title", aiTitle="Newest title", sessionId="aaaa"),
        title_line("custom-title", customTitle=""),
    )
    found = [session.title for session in sessions(*lines)]
    assert found == ["first prompt", "Old title", "New title", "Mine"]


def test_a_summary_is_a_title_only_after_the_message_that_it_names() -> None:
    summary = title_line("summary", summary="Fix the tests", leafUuid="u1")
    assert sessions(summary) == []
    assert sessions(line(uuid="u2"), summary)[1:] == []
    assert sessions(line(uuid="u1"), summary)[1:] == [Session(id="aaaa", title="Fix the tests")]


def test_a_limit_that_ended_a_call_is_reported() -> None:
    quota = {"status": "rejected", "resetsAt": 1794773329, "rateLimitType": "five_hour"}
    message = {"model": "<synthetic>"}
    assert findings(line(message=message, quotaLimits=quota)) == [
        Limit(at=AT, window="five_hour", used=1.0, resets_at=1794773329)
    ]
    assert findings(line(message=message, quotaLimits={"status": "allowed"})) == []


# Damage


def whole(*, text: str = "Hi", **fields: Any) -> bytes:
    return line(message={"content": [{"type": "text", "text": text}]}, **fields)


@pytest.mark.parametrize(
    "damaged",
    [
        whole(text="\ud800 alone"),
        whole().replace(b"Hi", b"\xff\xed\xa0\x80"),
        whole().replace(b": ", b" \t:\r"),
        whole().replace(b"Hi", b"a \x07 b"),
        whole().replace(b"Hi", b"a long text" + b"\x00" * 20 + b'", "cut'),
        whole().replace(b'"Hi"', b"[" * 20_000 + b"]" * 20_000),
        b"\x00\x00\x00" + whole(),
        b'{"parentUuid":null,"type":"assistant","message":{"id":"msg_0","content":[{"typ' + whole(),
        b'{"type":"user","message":{"content":[{"text":"a"}],"usa' + whole(),
        whole() + b"\r",
        b"\xef\xbb\xbf" + whole(),
    ],
)
def test_usage_is_read_from_a_damaged_line(damaged: bytes) -> None:
    (call,) = calls(damaged)
    assert (call.id, call.input, call.output, call.at) == ("msg_1", 3, 5, AT)


def test_usage_is_read_from_a_line_whose_middle_is_left_out() -> None:
    texts = {"old_string": "x" * 500, "new_string": "y" * 500}
    content = [{"type": "tool_use", "name": "Edit", "input": texts}]
    long = line(message={"content": content}, requestId="req_1")
    (call,) = calls(long[: long.index(b"xxx")] + long[long.rindex(b', "new') :])
    assert call == calls(long)[0]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": -3, "output_tokens": 5}, (0, 5)),
        ({"input_tokens": 10**30, "output_tokens": 5}, (0, 5)),
        ({"input_tokens": "3", "output_tokens": 5}, (0, 5)),
        ({"input_tokens": None, "output_tokens": 5, "cache_creation": []}, (0, 5)),
    ],
)
def test_a_count_that_cannot_be_is_not_counted(usage: Any, expected: tuple[int, int]) -> None:
    (call,) = calls(line(usage))
    assert (call.input, call.output) == expected


@pytest.mark.parametrize("end", [1, 50, -1])
def test_a_line_that_is_still_being_written_is_not_a_call(end: int) -> None:
    assert findings(line()[:end]) == []


def test_a_path_that_is_not_text_can_be_stored() -> None:
    history = HISTORY.stored()
    memory: Any = history.begin(["pro\udcffject", "a\udcff.jsonl"])
    assert (memory.folder, memory.session) == ("pro?ject", "a?")


def as_written(part: str, second: int, **more: Any) -> bytes:
    """A line in the order in which Claude Code writes it."""
    message = {"model": "claude-opus-4-8", "id": "msg_1", "role": "assistant", "content": [part]}
    whole = {"message": {**message, "usage": USED}, "requestId": "req_1", "type": "assistant"}
    about = {"uuid": f"u{second}", "timestamp": f"2026-11-15T12:00:{second:02}.000Z"}
    return json.dumps(
        {**whole, **about, "sessionId": "aaaa", **more}, separators=(",", ":")
    ).encode()


def test_a_line_that_is_skipped_as_a_repetition_still_tells_the_time() -> None:
    later = as_written("c", 7, timestamp=None, requestId="req_2").replace(b"msg_1", b"msg_2")
    found = calls(as_written("a", 1), as_written("b", 5), later)
    assert [call.id for call in found] == ["msg_1", "msg_2"]
    assert [call.at for call in found if call.at][1] - (found[0].at or 0) == 4


def test_a_repetition_that_is_older_has_the_time_of_the_call() -> None:
    found = calls(as_written("a", 5), as_written("b", 1))
    assert min(call.at or 0 for call in found) == (found[0].at or 0) - 4


def test_a_repetition_with_a_greater_output_is_reported() -> None:
    grown = as_written("b", 5).replace(b'"output_tokens":', b'"output_tokens":9')
    found = calls(as_written("a", 1), grown)
    assert len(found) == 2
    assert found[1].output > found[0].output
