"""What is special about `codex app-server`: its stream, and what we say to it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import nightrook
from nightrook.adapter.agent import Task
from nightrook.adapter.drift import ALWAYS_LOOKED_AT, type_name
from nightrook.agents.codex.adapter import recognises
from nightrook.agents.codex.app_server.client import Client, answer
from nightrook.agents.codex.app_server.reader import AppServerReader
from nightrook.agents.codex.app_server.shapes import Item
from nightrook.agents.codex.command import invoke
from nightrook.agents.known_fields import KNOWN_FIELDS
from nightrook.model.errors import UnsupportedError
from nightrook.model.events import (
    Error,
    LimitReported,
    Notice,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    SessionStarted,
    StreamClosed,
    Text,
    ThinkingDelta,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unknown,
    Unreadable,
    UsageReported,
)
from nightrook.model.fold import fold
from nightrook.model.permissions import Permission
from nightrook.model.questions import Ask, Decision
from nightrook.model.verdict import Verdict, judge
from nightrook.runs.run_result import summarise
from tests.recorded import cases, folded, full_name_of, messages
from tests.rules import each

STREAMS = [path for path in cases("codex") if path.parent.name.startswith("app_server_")]
THREAD = {"id": "thread/start", "result": {"thread": {"id": "t", "model": "m", "cwd": "/p"}}}
TURN = {"method": "turn/started", "params": {"threadId": "t", "turn": {"id": "u"}}}
CHANGES = [
    {"path": "/p/new", "kind": {"type": "add"}, "diff": "one\n"},
    {
        "path": "/p/old",
        "kind": {"type": "update", "move_path": None},
        "diff": "@@ -1 +1 @@\n-a\n+b\n",
    },
]
PATCH = {"type": "fileChange", "id": "c", "changes": CHANGES, "status": "inProgress"}


def told(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, "params": {"threadId": "t", "turnId": "u", **params}}


def ended(status: str = "completed", **params: Any) -> dict[str, Any]:
    return told("turn/completed", turn={"id": "u", "status": status}, **params)


def wire(*sent: dict[str, Any]) -> bytes:
    return "".join(json.dumps(message) + "\n" for message in sent).encode()


def events(*sent: dict[str, Any]) -> list[Any]:
    decoder = nightrook.decoder("codex")
    return [record.event for record in decoder.feed(wire(*sent)) + decoder.close()]


def line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()


def said(words: bytes) -> list[dict[str, Any]]:
    return [json.loads(one) for one in words.splitlines()]


# What the agent itself gives.


def raw_copy(path: Path) -> Iterator[dict[str, Any]]:
    """The messages about the thread that we talk with."""
    thread = None
    for message in messages(path):
        thread = thread or message.get("result", {}).get("thread", {}).get("id")
        if message.get("params", {}).get("threadId", thread) == thread:
            yield message


def test_there_are_enough_recordings() -> None:
    assert len(STREAMS) >= 12


@each("path", STREAMS, ids=full_name_of)
def test_a_turn_and_its_text_are_the_agent_s_own(path: Path) -> None:
    turns = [m["params"]["turn"] for m in raw_copy(path) if m.get("method") == "turn/completed"]
    texts = [
        m["params"]["item"]["text"]
        for m in raw_copy(path)
        if m.get("method") == "item/completed" and m["params"]["item"]["type"] == "agentMessage"
    ]
    refused = [m for m in messages(path) if "error" in m]
    results = folded(path).results
    assert len(results) == len(turns) + len(refused) == 1
    if not turns:
        assert not results[0].ok
        return
    assert results[0].ok == (turns[0]["status"] == "completed")
    assert results[0].duration_s == turns[0]["durationMs"] / 1000
    assert results[0].text == (texts[-1] if results[0].ok else None)


@each("path", STREAMS, ids=full_name_of)
def test_the_tokens_of_the_requests_make_up_the_threads_totals(path: Path) -> None:
    before: dict[str, dict[str, int]] = {}
    total: dict[str, dict[str, int]] = {}
    begun = False
    for message in messages(path):
        begun = begun or message.get("method") == "turn/started"
        if message.get("method") == "thread/tokenUsage/updated":
            params = message["params"]
            (total if begun else before)[params["threadId"]] = params["tokenUsage"]["total"]
    tokens = summarise(folded(path), file="", agent="codex").tokens
    if not total:
        assert (tokens.input, tokens.output) == (None, None)
        return
    for name, counted in (("inputTokens", tokens.input), ("outputTokens", tokens.output)):
        grown = [total[t][name] - before.get(t, {}).get(name, 0) for t in total]
        assert counted == sum(grown)  # nothing was cached


@each("path", STREAMS, ids=full_name_of)
def test_a_stream_is_known_by_its_first_message_and_wholly_understood(path: Path) -> None:
    first, *_ = messages(path)
    assert recognises(first)
    records = list(nightrook.decode(path))
    assert not [r for r in records if isinstance(r.event, Unknown | Unreadable)]


# The stream.


def test_a_message_of_an_unknown_method_is_kept_whole() -> None:
    found = [e for e in events(THREAD, told("never/seen", x=1)) if isinstance(e, Unknown)]
    assert [(e.name, json.loads(bytes(e.raw or b""))["params"]["x"]) for e in found] == [
        ("never/seen", 1)
    ]


def test_an_item_of_an_unknown_kind_is_kept_whole() -> None:
    strange = told("item/started", item={"type": "strange", "id": "i"})
    assert [e.name for e in events(THREAD, TURN, strange) if isinstance(e, Unknown)] == [
        "item/started/strange"
    ]


def test_a_field_of_another_type_does_not_lose_the_line() -> None:
    answer = {"type": "agentMessage", "id": "m", "text": "Hi"}
    odd = {**told("item/completed", item=answer), "params": {"threadId": 7, "item": answer}}
    found = events(THREAD, TURN, odd)
    assert Text(id="m", text="Hi") in found
    closed = found[-1]
    assert isinstance(closed, StreamClosed)
    assert [field.field for field in closed.unknown_fields] == ["params.threadId"]


def test_every_type_has_its_known_fields() -> None:
    reader = AppServerReader()
    stages = {"item/started", "item/completed"}
    kinds = {str(shape.__struct_config__.tag) for shape in get_args(Item)}
    types = {type_name(shape) for shape in reader.table} - stages
    types |= {f"{stage}/{kind}" for stage in stages for kind in kinds}
    assert types == set(KNOWN_FIELDS["codex/app_server"])


@each("path", STREAMS, ids=full_name_of)
def test_a_stream_of_a_checked_version_has_no_unknown_field(path: Path) -> None:
    state = folded(path)
    assert state.closed is not None
    assert state.closed.unknown_fields == ()


def test_new_fields_are_counted_wherever_they_are() -> None:
    answer = {"type": "agentMessage", "id": "m", "text": "Hi", "mood": "good"}
    sent = [
        {"id": "thread/start", "result": {"thread": {"id": "t"}, "weather": "fair"}},
        {**TURN, "sentBy": "server"},
        *[told("item/completed", item={**answer, "id": f"m{n}"}) for n in range(50)],
        {"method": "thread/status/changed", "params": {"threadId": "t", "since": 5}},
        told("turn/plan/updated", plan=[{"step": "look", "status": "pending", "due": 1}]),
    ]
    closed = events(*sent)[-1]
    assert isinstance(closed, StreamClosed)
    assert [(found.type, found.field, found.count) for found in closed.unknown_fields] == [
        ("item/completed/agentMessage", "params.item.mood", ALWAYS_LOOKED_AT),
        ("response", "result.weather", 1),
        ("thread/status/changed", "params.since", 1),
        ("turn/plan/updated", "params.plan[].due", 1),
        ("turn/started", "sentBy", 1),
    ]


def test_the_plan_includes_the_current_step() -> None:
    steps = [{"step": "look", "status": "completed"}, {"step": "do", "status": "inProgress"}]
    plan = told("turn/plan/updated", plan=steps)
    items = (
        PlanItem(text="look", status="completed"),
        PlanItem(text="do", status="in_progress"),
    )
    found = [e for e in events(THREAD, TURN, plan, plan) if isinstance(e, PlanChanged)]
    assert found == [PlanChanged(items=items)]


def test_the_parts_of_a_summary_are_parted_in_the_pieces_too() -> None:
    part = told("item/reasoning/summaryPartAdded", itemId="r", summaryIndex=1)
    first = told("item/reasoning/summaryPartAdded", itemId="r", summaryIndex=0)
    found = [e for e in events(THREAD, TURN, first, part) if isinstance(e, ThinkingDelta)]
    assert found == [ThinkingDelta(id="r", text="\n\n")]


def test_the_end_of_another_thread_s_turn_is_not_ours() -> None:
    child = {**ended(), "params": {**ended()["params"], "threadId": "child"}}
    found = [e for e in events(THREAD, TURN, child) if isinstance(e, TurnFinished)]
    assert found == []


def test_a_request_that_is_refused_before_a_turn_is_a_failure() -> None:
    refused = {"id": "thread/resume", "error": {"code": -32600, "message": "no rollout found"}}
    assert events(refused)[:-1] == [
        TurnStarted(origin="prompt"),
        Error(kind="config", message="no rollout found", retryable=False),
        TurnFinished(ok=False, errors=("no rollout found",)),
    ]


def test_an_interrupt_that_comes_too_late_is_not_a_second_result() -> None:
    late = {"id": "turn/interrupt", "error": {"code": -32600, "message": "no active turn"}}
    found = [e for e in events(THREAD, TURN, ended(), late) if isinstance(e, TurnFinished)]
    assert found == [TurnFinished(ok=True)]


@pytest.mark.parametrize(
    ("minutes", "window"),
    [(300, "5 hours"), (10080, "7 days"), (1440, "1 day"), (45, "45 minutes"), (None, "primary")],
)
def test_a_limit_is_called_by_its_time(minutes: int | None, window: str) -> None:
    primary = {"usedPercent": 50, "windowDurationMins": minutes, "resetsAt": 9}
    limits = told("account/rateLimits/updated", rateLimits={"primary": primary})
    expected = LimitReported(window=window, status="allowed", used=0.5, resets_at=9.0)
    assert expected in events(THREAD, limits)


def test_a_limit_that_is_reached_stops_the_work() -> None:
    limits = {"primary": {"usedPercent": 100}, "rateLimitReachedType": "rate_limit_reached"}
    found = events(THREAD, told("account/rateLimits/updated", rateLimits=limits))
    assert LimitReported(window="primary", status="rejected", used=1.0) in found


def test_only_a_tool_server_that_does_not_start_is_news() -> None:
    def startup(status: str) -> dict[str, Any]:
        return told("mcpServer/startupStatus/updated", name="tiny", status=status, error="gone")

    found = events(THREAD, startup("starting"), startup("ready"), startup("failed"))
    notice = Notice(level="warning", text="MCP server tiny did not start: gone")
    assert [e for e in found if isinstance(e, Notice)] == [notice]


def test_noise_before_the_first_message_loses_nothing() -> None:
    decoder = nightrook.decoder("codex")
    assert decoder.feed(b"npm warn\n\n") == []
    records = decoder.feed(wire(THREAD)) + decoder.close()
    kinds = [type(record.event) for record in records]
    assert kinds == [Unreadable, SessionStarted, StreamClosed]
    assert records[1].offset == len(b"npm warn\n\n")


def test_noise_without_end_is_not_held_for_ever() -> None:
    decoder = nightrook.decoder("codex")
    records = [r for _ in range(30) for r in decoder.feed(b"x" * 65535 + b"\n")]
    assert len(records) == 30


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {"codexHome": "/x"}},
        {"id": 1, "result": {"thread": {}}},
        {"method": "turn/started", "params": {}},
        {"id": 1, "error": {}},
    ],
)
def test_what_other_servers_may_write_is_not_recognised(message: dict[str, Any]) -> None:
    assert not recognises(message)


# What we say.


@pytest.mark.parametrize(
    ("permission", "settings"),
    [
        ("ask", {}),
        ("agent", {"approvalPolicy": "never"}),
        ("edit", {"approvalPolicy": "never", "sandbox": "workspace-write"}),
        ("plan", {"approvalPolicy": "never", "sandbox": "read-only"}),
        ("all", {"approvalPolicy": "never", "sandbox": "danger-full-access"}),
    ],
)
def test_a_thread_is_asked_for_at_once(permission: Permission, settings: dict[str, str]) -> None:
    task = Task(prompt="Hi", model="m", permission=permission, via="app-server", args=("-c", "a=1"))
    call = invoke(task)
    bounded = ("-c", "features.unbounded_connection_retries=false")
    assert call.command == ("codex", "app-server", *bounded, "-c", "a=1")
    assert call.keep_stdin_open
    first, second, third = said(call.stdin or b"")
    assert (first["method"], second) == ("initialize", {"method": "initialized"})
    assert (third["method"], third["params"]) == ("thread/start", {**settings, "model": "m"})


def test_a_thread_is_resumed() -> None:
    *_, last = said(Client(Task(prompt="Go on", resume="t-1")).begin())
    assert (last["method"], last["params"]["threadId"]) == ("thread/resume", "t-1")


def test_plain_text_cannot_be_had() -> None:
    with pytest.raises(UnsupportedError, match="app-server has no plain text"):
        invoke(Task(prompt="Hi", via="app-server", stream=False))


def test_the_prompt_is_sent_once_when_the_thread_has_started() -> None:
    client = Client(Task(prompt="Fix ü"))
    started = SessionStarted(session="t")
    (turn,) = said(client.on_event(started, lambda: b""))
    text = [{"type": "text", "text": "Fix ü"}]
    assert (turn["method"], turn["params"]) == ("turn/start", {"threadId": "t", "input": text})
    assert client.on_event(started, lambda: b"") == b""


def test_only_a_turn_can_be_interrupted() -> None:
    client = Client(Task(prompt="Hi"))
    client.on_event(SessionStarted(session="t"), lambda: b"")
    assert client.interrupt() == b""
    client.on_event(TurnStarted(), lambda: line(TURN))
    (stop,) = said(client.interrupt())
    assert stop["method"] == "turn/interrupt"
    assert stop["params"] == {"threadId": "t", "turnId": "u"}


def test_a_command_is_asked_for_without_its_shell() -> None:
    asked = told(
        "item/commandExecution/requestApproval",
        itemId="c",
        command="/bin/bash -lc 'touch x'",
        reason="It writes.",
    )
    assert Client(Task(prompt="Hi")).read(line({**asked, "id": 0})) == Ask(
        id="0",
        name="shell",
        kind="execute",
        title="touch x",
        reason="It writes.",
        always="shell(touch x)",
    )


def test_a_request_for_a_patch_includes_its_changes() -> None:
    client = Client(Task(prompt="Hi"))
    for event in events(THREAD, TURN, told("item/started", item=PATCH)):
        if isinstance(event, ToolStarted):
            client.on_event(event, lambda: b"")
    asked = {**told("item/fileChange/requestApproval", itemId="c"), "id": 3}
    assert client.read(line(asked)) == Ask(
        id="3",
        name="apply_patch",
        kind="edit",
        title="/p/new, /p/old",
        detail=(" /p/new:", "+one", " /p/old:", "-a", "+b"),
        always="apply_patch(/p/new, /p/old)",
        scope="any later change to these files",
    )


def patch_asked(*changes: dict[str, Any], **params: Any) -> Ask:
    client = Client(Task(prompt="Hi"))
    for event in events(THREAD, TURN, told("item/started", item={**PATCH, "changes": changes})):
        if isinstance(event, ToolStarted):
            client.on_event(event, lambda: b"")
    asked = {**told("item/fileChange/requestApproval", itemId="c", **params), "id": 3}
    ask = client.read(line(asked))
    assert ask is not None
    return ask


def test_a_patch_says_what_else_it_grants_and_what_always_means() -> None:
    ask = patch_asked(CHANGES[0], grantRoot="/srv")
    assert ask.notes == ("also allows every write below /srv for the rest of the session",)
    assert (ask.detail, ask.scope) == (("+one",), "any later change to this file")


def test_a_patch_says_which_files_it_moves_and_deletes() -> None:
    moved = {"path": "/p/a", "kind": {"type": "update", "move_path": "/etc/b"}, "diff": ""}
    gone = {"path": "/p/c", "kind": {"type": "delete"}, "diff": "one\n"}
    ask = patch_asked(moved, gone)
    assert ask.title == "/p/a, /p/c, /etc/b"
    assert ask.always == "apply_patch(/p/a, /p/c, /etc/b)"
    assert ask.detail == (" /p/a moves to /etc/b:", " /p/c is deleted:", "-one")
    strange = {"path": "/p/a", "kind": {"type": "update"}, "diff": "not a hunk"}
    assert patch_asked(strange).detail == (" not a hunk",)


@pytest.mark.parametrize(
    ("params", "title", "notes"),
    [
        ({"command": "ls", "cwd": "/srv"}, "ls", ()),
        (
            {"command": "ls", "networkApprovalContext": {"host": "a.org", "protocol": "https"}},
            "ls",
            ("connects to a.org (https)",),
        ),
        (
            {"networkApprovalContext": {"host": "a.org", "protocol": "https"}},
            "connects to a.org (https)",
            (),
        ),
        (
            {"command": "y", "kind": "writeStdin", "environmentId": "remote"},
            "y",
            ("types into a command that is running", "on the environment remote"),
        ),
        # A shell of the agent's own could do anything with a harmless command.
        ({"command": "/tmp/x/bash -lc 'ls'"}, "/tmp/x/bash -lc 'ls'", ()),
        ({"command": "/usr/bin/bash -c 'ls'"}, "ls", ()),
    ],
)
def test_a_command_says_everything_that_decides(
    params: dict[str, Any], title: str, notes: tuple[str, ...]
) -> None:
    asked = {**told("item/commandExecution/requestApproval", itemId="c", **params), "id": 0}
    ask = Client(Task(prompt="Hi")).read(line(asked))
    assert ask is not None
    assert (ask.title, ask.notes, ask.cwd) == (title, notes, params.get("cwd"))


@pytest.mark.parametrize(("allow", "word"), [(True, "accept"), (False, "decline")])
@pytest.mark.parametrize("kind", ["commandExecution", "fileChange"])
def test_a_decision_names_the_request(allow: bool, word: str, kind: str) -> None:
    asked = line({**told(f"item/{kind}/requestApproval", itemId="c"), "id": 7})
    (response,) = said(answer(asked, Decision(allow=allow)))
    assert response == {"id": 7, "result": {"decision": word}}


def test_requests_that_cannot_be_answered_are_refused() -> None:
    asked = {**told("item/tool/requestUserInput", itemId="c"), "id": "q"}
    requests = [e for e in events(THREAD, asked) if isinstance(e, PermissionRequested)]
    assert requests == [PermissionRequested(id="q", name="item/tool/requestUserInput")]
    ask = Client(Task(prompt="Hi")).read(line(asked))
    assert ask == Ask(id="q", about="other", name="item/tool/requestUserInput")
    (response,) = said(answer(line(asked), Decision(allow=False, by="nobody")))
    assert (response["id"], response["error"]["code"]) == ("q", -32601)


def test_a_request_of_an_unknown_method_is_refused_too() -> None:
    client = Client(Task(prompt="Hi"))
    asked = {**told("never/seen"), "id": 9}
    (response,) = said(client.on_event(Unknown(name="never/seen"), lambda: line(asked)))
    assert (response["id"], response["error"]["code"]) == (9, -32601)
    assert client.on_event(Unknown(name="never/seen"), lambda: line(told("never/seen"))) == b""


def test_a_notification_asks_nothing() -> None:
    client = Client(Task(prompt="Hi"))
    assert client.read(line(TURN)) is None
    assert client.read(b"no json") is None


def test_usage_before_the_turn_is_what_an_earlier_one_used() -> None:
    counted = {"inputTokens": 5, "outputTokens": 1}
    usage = told("thread/tokenUsage/updated", tokenUsage={"total": counted, "last": counted})
    assert not any(isinstance(e, UsageReported) for e in events(THREAD, usage, TURN, usage))


def judged(*sent: dict[str, Any]) -> Verdict:
    decoder = nightrook.decoder("codex")
    return judge(fold(decoder.feed(wire(*sent)) + decoder.close()))


def goal(status: str) -> dict[str, Any]:  # as 0.169.0 wrote it
    aim = {"threadId": "t", "objective": "port all", "status": status, "tokensUsed": 945}
    return told("thread/goal/updated", goal=aim)


ANSWER = told("item/completed", item={"type": "agentMessage", "id": "m", "text": "Begun."})


@pytest.mark.parametrize("status", ["active", "paused", "blocked"])
def test_a_turn_that_ends_before_its_goal_is_reached_is_not_done(status: str) -> None:
    verdict = judged(THREAD, TURN, goal(status), ANSWER, ended())
    assert verdict.status == "incomplete"
    assert f"the goal is still {status}: port all" in verdict.sentence


@pytest.mark.parametrize(
    "last",
    [
        [goal("complete")],
        [told("thread/goal/cleared")],
        [ended(), TURN, goal("complete"), ANSWER],
        [
            goal("complete"),
            told("thread/goal/updated", threadId="other", goal={"status": "active"}),
        ],
    ],
)
def test_a_goal_that_is_reached_or_given_up_or_a_subagents_leaves_a_success(
    last: list[dict[str, Any]],
) -> None:
    assert judged(THREAD, TURN, goal("active"), *last, ANSWER, ended()).status == "success"


def test_a_look_at_an_image_is_a_call() -> None:
    item = {"type": "imageView", "id": "call_1", "path": "/p/p.png"}
    sent = [told(f"item/{what}", item=item) for what in ("started", "completed")]
    started, finished = events(THREAD, TURN, *sent)[2:4]
    assert (started.name, started.kind, started.title) == ("view_image", "read", "/p/p.png")
    assert (finished.id, finished.status) == ("call_1", "ok")
