"""The client: what it sends after what an agent wrote, checked against real agents' words."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from nightrook import agents
from nightrook.adapter.agent import Task
from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.agents.acp.client import Client, invoke, refuse
from nightrook.agents.acp.dialects import DIALECTS
from nightrook.agents.acp.permissions import MOST_SHOWN
from nightrook.model.errors import UnsupportedError
from nightrook.model.events import PermissionRequested, ToolStarted
from nightrook.model.permissions import Permission
from nightrook.model.questions import Ask, Decision
from tests.recorded import cases, name_of
from tests.rules import each

Json = dict[str, Any]
RECORDED = [path for path in cases("acp") if path.with_name("sent.jsonl").exists()]
HELLO: Json = {"protocolVersion": 1, "agentInfo": {"name": "x"}, "agentCapabilities": {}}
YES, NO = Decision(allow=True), Decision(allow=False)


def sent(data: bytes) -> list[Json]:
    """What the client sent, without what all messages have."""
    messages = [json.loads(line) for line in data.split(b"\n") if line]
    assert all(message.pop("jsonrpc") == "2.0" for message in messages)
    return messages


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def answer(client: Client, method: str, result: Any) -> list[Json]:
    """What the client sends after the result of a request of its own."""
    return sent(client.on_output(line(id=method, result=result)))


def opened(task: Task, dialect: str | None = None, session: Json | None = None) -> list[Json]:
    """What the client sends after the session is open, until it waits for the prompt's result."""
    client = Client(task, DIALECTS.get(dialect or ""))
    answer(client, "initialize", HELLO)
    messages = answer(client, "session/new", {"sessionId": "s1", **(session or {})})
    for message in messages:
        if message["method"] != "session/prompt":
            messages += sent(client.on_output(line(id=message["id"], result={})))
    return messages


def asks(id: Any, options: list[Json] | None) -> bytes:
    call = {"toolCallId": "c1", "title": "rm -r build", "kind": "execute"}
    params = {"sessionId": "s1", "toolCall": call, "options": options}
    return line(id=id, method="session/request_permission", params=params)


def option(id: str, kind: str, name: str = "") -> Json:
    return {"optionId": id, "kind": kind, "name": name or id}


def test_it_leads_an_agent_to_the_prompt_and_offers_neither_files_nor_terminals() -> None:
    client = Client(Task(prompt="Fix it", cwd="/repo"))
    (hello,) = sent(client.begin())
    assert hello["params"]["protocolVersion"] == 1
    assert hello["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    assert answer(client, "initialize", HELLO) == [
        {
            "id": "session/new",
            "method": "session/new",
            "params": {"cwd": "/repo", "mcpServers": []},
        }
    ]
    assert answer(client, "session/new", {"sessionId": "s1"}) == [
        {
            "id": "session/prompt",
            "method": "session/prompt",
            "params": {"sessionId": "s1", "prompt": [{"type": "text", "text": "Fix it"}]},
        }
    ]


def test_output_may_be_cut_anywhere() -> None:
    client = Client(Task(prompt="Fix it"))
    whole = line(id="initialize", result=HELLO)
    pieces = [client.on_output(whole[n : n + 1]) for n in range(len(whole))]
    assert [piece != b"" for piece in pieces] == [False] * (len(whole) - 1) + [True]


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_an_agent_of_another_version_gets_no_session(version: object) -> None:
    assert answer(Client(Task(prompt="")), "initialize", {"protocolVersion": version}) == []


@pytest.mark.parametrize(
    ("able", "method"),
    [
        ({"sessionCapabilities": {"resume": {}}, "loadSession": True}, "session/resume"),
        ({"loadSession": True}, "session/load"),
        ({}, "session/load"),  # the agent itself says that it cannot
    ],
)
def test_a_session_is_resumed_or_else_loaded(able: Json, method: str) -> None:
    client = Client(Task(prompt="Go on", resume="s9", cwd="/repo"))
    (request,) = answer(client, "initialize", {**HELLO, "agentCapabilities": able})
    assert request["method"] == method
    assert request["params"] == {"sessionId": "s9", "cwd": "/repo", "mcpServers": []}
    (prompt,) = answer(client, method, None)
    assert prompt["params"]["sessionId"] == "s9"


def test_after_an_error_there_is_no_prompt() -> None:
    client = Client(Task(prompt="Go on", resume="s9"))
    answer(client, "initialize", HELLO)
    assert client.on_output(line(id="session/load", error={"code": -32601})) == b""
    assert client.on_output(line(id="session/load", result=None)) != b""


MODES = {"modes": {"currentModeId": "default", "availableModes": [{"id": "plan"}]}}
MODE_OPTION = {"configOptions": [{"id": "how", "category": "mode", "options": []}]}


@pytest.mark.parametrize(
    ("permission", "dialect", "session", "requests"),
    [
        ("plan", "gemini", MODES, [("session/set_mode", {"modeId": "plan"})]),
        ("all", "qwen", MODES, [("optional session/set_mode", {"modeId": "yolo"})]),
        ("ask", "vibe", MODES, [("session/set_mode", {"modeId": "ask"})]),
        (
            "ask",
            "vibe",
            {},  # without modes there is none in which it would ask nobody
            [("optional session/set_config_option", {"configId": "mode", "value": "ask"})],
        ),
        (
            "plan",
            "opencode",
            MODE_OPTION,
            [("session/set_config_option", {"configId": "how", "value": "plan"})],
        ),
        (
            "all",
            "copilot",
            MODES,
            [("optional session/set_config_option", {"configId": "allow_all", "value": "on"})],
        ),
        ("agent", "gemini", MODES, []),
        ("all", None, MODES, []),
    ],
)
def test_a_permission_selects_a_mode(
    permission: Permission, dialect: str | None, session: Json, requests: list[tuple[str, Json]]
) -> None:
    *settings, prompt = opened(Task(prompt="Go", permission=permission), dialect, session)
    assert [(one["id"], one["params"]) for one in settings] == [
        (id, {"sessionId": "s1", **values}) for id, values in requests
    ]
    assert prompt["method"] == "session/prompt"


def test_an_agent_is_known_by_the_name_that_it_gives_itself() -> None:
    client = Client(Task(prompt="Go", permission="ask"))
    answer(client, "initialize", {**HELLO, "agentInfo": {"name": DIALECTS["codex"].info}})
    (mode,) = answer(client, "session/new", {"sessionId": "s1", **MODES})
    assert (mode["id"], mode["params"]["modeId"]) == ("session/set_mode", "read-only")


MODEL_OPTION = {"configOptions": [{"id": "which", "category": "model"}]}


@pytest.mark.parametrize(
    ("session", "method", "values"),
    [
        ({"models": {}}, "session/set_model", {"modelId": "large"}),
        ({}, "session/set_model", {"modelId": "large"}),
        (MODEL_OPTION, "session/set_config_option", {"configId": "which", "value": "large"}),
    ],
)
def test_a_model_is_selected_before_the_prompt(session: Json, method: str, values: Json) -> None:
    chosen, _ = opened(Task(prompt="Go", model="large"), session=session)
    assert (chosen["method"], chosen["params"]) == (method, {"sessionId": "s1", **values})


@pytest.mark.parametrize("permission", ["plan", "edit", "ask"])
def test_a_mode_that_is_needed_and_refused_ends_the_conversation(permission: Permission) -> None:
    client = Client(Task(prompt="Go", permission=permission), DIALECTS["gemini"])
    answer(client, "initialize", HELLO)
    (mode,) = answer(client, "session/new", {"sessionId": "s1", **MODES})
    assert mode["method"] == "session/set_mode"
    assert client.on_output(line(id=mode["id"], error={"code": -32602})) == b""


def test_a_mode_that_only_spares_questions_may_be_refused() -> None:
    client = Client(Task(prompt="Go", permission="all"), DIALECTS["gemini"])
    answer(client, "initialize", HELLO)
    (mode,) = answer(client, "session/new", {"sessionId": "s1", **MODES})
    refused = sent(client.on_output(line(id=mode["id"], error={"code": -32602})))
    assert [message["method"] for message in refused] == ["session/prompt"]


ONCE, ALWAYS = option("a", "allow_once"), option("b", "allow_always")
REJECT, NEVER = option("c", "reject_once"), option("d", "reject_always")
SWITCH = option("e", "allow_once", "Switch to another mode and allow")  # qwen 0.24.4


@pytest.mark.parametrize(
    ("options", "decision", "chosen"),
    [
        ([NEVER, REJECT, ALWAYS, ONCE], YES, "a"),
        ([ALWAYS, NEVER, REJECT, ONCE], NO, "c"),
        ([SWITCH, ONCE, REJECT], YES, "a"),
        ([ALWAYS, REJECT], YES, "b"),
        ([ONCE, NEVER], NO, "d"),
        ([ALWAYS, ONCE], Decision(allow=True, always=True), "a"),  # rook remembers it
        ([ONCE], NO, None),
        ([REJECT], YES, None),
        ([], YES, None),
        (None, YES, None),
    ],
)
@pytest.mark.parametrize("id", [0, 7, 1.5, 2**70, "seven"])
def test_an_option_is_chosen_by_its_kind(
    id: object, options: list[Json] | None, decision: Decision, chosen: str | None
) -> None:
    client, question = Client(Task(prompt="Go")), asks(id, options)
    ask = client.read(question)
    assert ask is not None
    assert (ask.id, ask.kind, ask.title) == (str(id), "execute", "rm -r build")
    outcome = {"outcome": "selected", "optionId": chosen} if chosen else {"outcome": "cancelled"}
    assert sent(client.answer(question, decision)) == [{"id": id, "result": {"outcome": outcome}}]


def test_a_request_that_comes_twice_is_asked_and_answered_once() -> None:
    client, question = Client(Task(prompt="Go")), asks(1, [ONCE])
    assert client.read(question) is not None
    assert client.read(question) is None
    assert client.answer(question, YES) != b""
    assert client.answer(question, YES) == b""


def test_a_question_has_the_name_that_the_reader_gave_to_its_request() -> None:
    client = Client(Task(prompt="Go"))
    client.on_event(PermissionRequested(id="1#2", tool_id="c1"), bytes)
    ask = client.read(asks(1, [ONCE]))
    assert ask is not None
    assert ask.id == "1#2"
    assert sent(client.answer(asks(1, [ONCE]), YES))[0]["id"] == 1


def test_a_person_sees_the_lines_that_a_change_adds_and_removes() -> None:
    diff = {"type": "diff", "path": "/a", "oldText": "one\ntwo\n", "newText": "one\n2\n"}
    call = {"toolCallId": "c1", "title": "Edit a", "kind": "edit", "content": [diff]}
    params = {"toolCall": call, "options": []}
    ask = Client(Task(prompt="")).read(
        line(id=1, method="session/request_permission", params=params)
    )
    assert ask is not None
    assert ask.detail == (" /a:", "-two", "+2")


def question(**call: Any) -> Ask:
    params = {"toolCall": {"toolCallId": "c1", **call}, "options": []}
    ask = Client(Task(prompt="")).read(
        line(id=1, method="session/request_permission", params=params)
    )
    assert ask is not None
    return ask


def text(words: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": words}}


def change(path: str) -> Json:
    return {"type": "diff", "path": path, "oldText": "1", "newText": "2"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"rawInput": {"command": "make"}}, {"rawInput": {"command": "make clean"}}),
        (  # kimi 2.1.0
            {"title": "Bash", "content": [text("Running: make")]},
            {"title": "Bash", "content": [text("Running: make clean")]},
        ),
        (  # gemini 0.61.0
            {"title": "make", "kind": "execute", "content": [text("[in /x] (run it)")]},
            {"title": "make clean", "kind": "execute", "content": [text("[in /x] (run it)")]},
        ),
        ({"rawInput": {"command": "a # b rm c"}}, {"rawInput": {"command": "a # b\nrm c"}}),
        ({"rawInput": {"command": "a", "cwd": "/x"}}, {"rawInput": {"command": "a", "cwd": "/y"}}),
        (
            {"rawInput": {"command": ["make"], "description": "Build it"}},
            {"rawInput": {"command": ["rm", "-r", "."], "description": "Build it"}},
        ),
        (
            {"rawInput": {"cmd": "make", "path": "/x"}},
            {"rawInput": {"cmd": "rm -r .", "path": "/x"}},
        ),
        (
            {"title": "Read a file", "rawInput": {"path": "/x"}},
            {"title": "Delete a file", "rawInput": {"path": "/x"}},
        ),
        ({"rawInput": {"reads": "/x"}}, {"rawInput": {"deletes": "/x"}}),
        (
            {"kind": "fetch", "rawInput": {"url": "x", "method": "GET"}},
            {"kind": "fetch", "rawInput": {"url": "x", "method": "POST"}},
        ),
        (
            {"kind": "edit", "rawInput": {"command": "create", "path": "/x"}},  # openhands
            {"kind": "edit", "rawInput": {"command": "create", "path": "/y"}},
        ),
        (
            {"kind": "edit", "locations": [{"path": "/x"}], "content": [change("/x")]},
            {"kind": "edit", "locations": [{"path": "/x"}], "content": [change("/y")]},
        ),
        (
            {"kind": "delete", "locations": [{"path": "/x"}]},
            {"kind": "delete", "locations": [{"path": "/x"}, {"path": "/y"}]},
        ),
    ],
)
def test_what_is_always_allowed_is_this_call_and_no_other(one: Json, other: Json) -> None:
    rules = [question(name="Bash", **call).always for call in (one, other)]
    assert None not in rules
    assert rules[0] != rules[1]


def test_a_command_is_the_same_in_whatever_words_it_is_described() -> None:
    calls = [{"command": "make", "description": words} for words in ("Build it", "Make all")]
    rules = [question(kind="execute", rawInput=call).always for call in calls]
    assert rules == ["execute(make)", "execute(make)"]


def test_a_file_may_be_changed_again_in_any_way() -> None:
    calls = [{"path": "/x", "content": words} for words in ("1", "2")]
    asks = [question(kind="edit", rawInput=call) for call in calls]
    assert {(ask.always, ask.scope) for ask in asks} == {
        ("edit(/x)", "any later change to this file")
    }


def test_a_command_that_begins_like_a_long_one_is_another() -> None:
    def rule(command: str) -> str | None:
        client = Client(Task(prompt=""))
        update = {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "kind": "execute",
            "rawInput": {"command": command},
        }
        started = line(method="session/update", params={"sessionId": "s1", "update": update})
        for record in agents.decoder("acp").feed(started):
            client.on_event(record.event, bytes)
        ask = client.read(asks(1, []))
        return ask.always if ask else None

    assert rule("x" * 5000) == rule("x" * 5000)
    assert rule("x" * 5000) != rule("x" * 5000 + "; rm -r .")


def test_a_person_sees_every_file_and_all_input_of_a_call() -> None:
    places = [{"path": "/x"}, {"path": "/y"}]
    assert question(kind="delete", locations=places).detail == (" /y",)
    ask = question(
        kind="execute",
        rawInput={"command": "make", "description": "Build", "unsafe": True},
        content=[text("Build")],
    )
    assert ask.detail == (" Build", " unsafe: true")


@pytest.mark.parametrize(
    ("kind", "input", "folder"),
    [
        ("execute", {"command": "make", "cwd": "/elsewhere"}, "/elsewhere"),  # codex-acp 2.6.0
        ("execute", {"command": "make", "cwd": 7}, None),
        ("execute", {"command": "make"}, None),
        ("search", {"pattern": "x", "directory": "/elsewhere"}, None),
    ],
)
def test_a_person_sees_in_which_folder_a_command_runs(
    kind: str, input: Json, folder: str | None
) -> None:
    assert question(kind=kind, rawInput=input).cwd == folder


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        ([ONCE, ALWAYS], ()),
        ([], ()),
        ([ALWAYS, REJECT], ("the agent does not ask again after a yes",)),
    ],
)
def test_a_person_is_told_if_a_call_can_only_be_allowed_for_ever(
    options: list[Json], notes: tuple[str, ...]
) -> None:
    ask = Client(Task(prompt="")).read(asks(1, options))
    assert ask is not None
    assert ask.notes == notes


def test_the_name_of_a_tool_is_no_rule() -> None:
    assert question(name="Bash", title="Bash").always is None
    assert question().always is None


def test_a_person_sees_the_input_of_a_call_that_shows_nothing_else() -> None:
    ask = question(title="edit", kind="edit", rawInput={"path": "/a", "before": "1\n2", "n": 3})
    assert (ask.title, ask.detail) == ("/a", (" before: 1", "   2", " n: 3"))


def test_what_is_too_long_to_be_shown_can_only_be_allowed_once() -> None:
    huge = "x\n" * (MOST_SHOWN // 2)
    diff = {"type": "diff", "path": "/a", "oldText": None, "newText": huge}
    for call in ({"content": [diff]}, {"rawInput": {"path": "/a", "content": huge}}):
        ask = question(kind="edit", title="Write a", **call)
        assert (ask.always, ask.scope) == (None, None)
        assert ask.notes == ("it is too long to be shown as a whole",)
        assert ask.detail[-1].endswith("more lines")


def test_a_long_input_that_the_start_of_a_call_named_is_not_always_allowed() -> None:
    client = Client(Task(prompt=""))
    raw = msgspec.Raw(msgspec.json.encode({"path": "/a", "content": "x" * MOST_SHOWN}))
    client.on_event(ToolStarted(id="c1", name="write", kind="edit", title="/a", input=raw), bytes)
    ask = client.read(asks(1, [ONCE]))
    assert ask is not None
    assert (ask.always, ask.notes) == (None, ("it is too long to be shown as a whole",))


def test_what_is_too_long_to_be_shown_is_said() -> None:
    ask = question(title="edit", content=[text("\n".join(map(str, range(1000))))])
    assert (len(ask.detail), ask.detail[-1]) == (401, " … 600 more lines")


@pytest.mark.parametrize("method", ["fs/read_text_file", "terminal/create", "moon/phase"])
def test_what_was_not_offered_is_refused_and_the_work_continues(method: str) -> None:
    (reply,) = sent(Client(Task(prompt="")).on_output(line(id="r1", method=method, params={})))
    assert (reply["id"], reply["error"]["code"]) == ("r1", -32601)


def test_notifications_noise_and_broken_lines_get_no_reply() -> None:
    client = Client(Task(prompt=""))
    noise = b'hello\n[{"id"]\n{"id":\n' + line(method="moon/rises", params={}) + line(id=None)
    assert client.on_output(noise) == b""


def test_only_the_response_that_is_awaited_counts() -> None:
    client = Client(Task(prompt="Go"))
    assert answer(client, "session/new", {"sessionId": "early"}) == []
    assert len(answer(client, "initialize", HELLO)) == 1
    assert answer(client, "initialize", HELLO) == []
    (prompt,) = answer(client, "session/new", {"sessionId": "s1"})
    assert prompt["params"]["sessionId"] == "s1"
    assert answer(client, "session/new", {"sessionId": "late"}) == []
    (cancel,) = sent(client.interrupt())
    assert cancel["params"]["sessionId"] == "s1"
    assert answer(client, "session/prompt", {"stopReason": "end_turn"}) == []
    assert client.interrupt() == b""


@pytest.mark.parametrize("end", [{"result": {"stopReason": "end_turn"}}, {"error": {"code": 1}}])
def test_what_is_asked_after_the_prompt_returned_is_cancelled(end: Json) -> None:
    client = Client(Task(prompt="Go", permission="all"))
    client.begin()
    answer(client, "initialize", HELLO)
    answer(client, "session/new", {"sessionId": "s1"})
    assert client.on_output(line(id="session/prompt", **end)) == b""
    (reply,) = sent(client.on_output(asks(5, [ONCE])))
    assert reply == {"id": 5, "result": {"outcome": {"outcome": "cancelled"}}}
    assert client.read(asks(5, [ONCE])) is None


DEEP = b"[" * 3000 + b"]" * 3000
LONG = b'"' + b"x" * (DEFAULT_CAP + 1) + b'"'


@pytest.mark.parametrize("value", [DEEP, LONG], ids=["deep", "long"])
def test_a_request_that_is_too_deep_or_too_long_is_refused_as_well(value: bytes) -> None:
    request = b'{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":' + value + b"}\n"
    (reply,) = sent(Client(Task(prompt="")).on_output(request))
    assert (reply["id"], reply["error"]["code"]) == (7, -32601)


@pytest.mark.parametrize("value", [DEEP, LONG], ids=["deep", "long"])
def test_a_request_for_permission_that_is_too_deep_or_too_long_is_asked(value: bytes) -> None:
    client = Client(Task(prompt=""))
    request = asks(7, [ONCE]).replace(b'"rm -r build"', b'"rm -r build", "rawInput": ' + value)
    assert client.read(request) is not None
    (reply,) = sent(client.answer(request, YES))
    assert reply["result"]["outcome"] == {"outcome": "selected", "optionId": "a"}


def test_a_batch_is_answered_and_what_it_asks_is_not_granted() -> None:
    client = Client(Task(prompt="Go", permission="all"))
    batch = b"[%s,%s,%s,7]\n" % (
        line(id="initialize", result=HELLO),
        line(id=4, method="moon/phase"),
        asks(5, [ONCE]),
    )
    opens, refused, denied = sent(client.on_output(batch.replace(b"\n", b"") + b"\n"))
    assert opens["method"] == "session/new"
    assert (refused["id"], refused["error"]["code"]) == (4, -32601)
    assert denied == {"id": 5, "result": {"outcome": {"outcome": "cancelled"}}}
    assert client.read(batch) is None
    assert client.read(b"[" + asks(6, [ONCE]).strip() + b"]") is None


@pytest.mark.parametrize("before", [b"loading... ", b'{"jsonrpc":"2.0","met'])
def test_a_message_without_a_newline_before_it_is_answered(before: bytes) -> None:
    client = Client(Task(prompt="Go"))
    (opens,) = sent(client.on_output(before + line(id="initialize", result=HELLO)))
    assert opens["method"] == "session/new"


def test_what_is_asked_after_some_words_in_the_same_line_is_asked() -> None:
    client, words = Client(Task(prompt="")), b"loading... " + asks(5, [ONCE])
    assert client.on_output(words) == b""
    assert client.read(words) is not None
    (reply,) = sent(client.answer(words, YES))
    assert reply["result"]["outcome"] == {"outcome": "selected", "optionId": "a"}


def test_what_is_asked_after_another_message_in_the_same_line_is_cancelled() -> None:
    client = Client(Task(prompt="", permission="all"))
    words = line(method="moon/rises").strip() + asks(5, [ONCE])
    (reply,) = sent(client.on_output(words))
    assert reply == {"id": 5, "result": {"outcome": {"outcome": "cancelled"}}}
    assert client.read(words) is None


def test_what_is_asked_after_a_stop_is_answered_once() -> None:
    client = Client(Task(prompt="Go", permission="all"))
    client.interrupt()
    assert len(sent(client.on_output(asks(5, [ONCE])))) == 1
    assert client.read(asks(5, [ONCE])) is None


def test_a_stop_cancels_the_prompt_and_every_open_question() -> None:
    client = Client(Task(prompt="Go"))
    answer(client, "initialize", HELLO)
    answer(client, "session/new", {"sessionId": "s1"})
    client.read(asks(4, [ONCE]))
    cancel, dropped = sent(client.interrupt())
    assert cancel == {"method": "session/cancel", "params": {"sessionId": "s1"}}
    assert dropped == {"id": 4, "result": {"outcome": {"outcome": "cancelled"}}}
    (late,) = sent(client.on_output(asks(5, [ONCE])))
    assert late == {"id": 5, "result": {"outcome": {"outcome": "cancelled"}}}


def test_a_stop_before_the_prompt_sends_nothing() -> None:
    client = Client(Task(prompt="Go"))
    assert client.interrupt() == b""
    assert answer(client, "initialize", HELLO) != []
    assert answer(client, "session/new", {"sessionId": "s1"}) == []


def test_only_the_permission_for_everything_allows_what_is_asked() -> None:
    ask = Client(Task(prompt="")).read(asks(1, [ONCE]))
    assert ask is not None
    allowed = {
        permission: Client(Task(prompt="", permission=permission)).permits(ask)
        for permission in ("ask", "edit", "all", "plan", "agent")
    }
    assert [permission for permission, is_so in allowed.items() if is_so] == ["all"]


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (Task(prompt="", stream=False), "plain text"),
        (Task(prompt="", allow=("Bash",)), "rules for single tools"),
        (Task(prompt="", max_turns=3), "--max-turns"),
        (Task(prompt="", permission="edit"), "no mode for --permission edit"),
        (Task(prompt="", permission="plan"), "no mode for --permission plan"),
    ],
)
def test_what_the_protocol_has_no_word_for_is_refused(task: Task, reason: str) -> None:
    with pytest.raises(UnsupportedError, match=reason):
        refuse("acp", task, None)


def test_arguments_come_after_the_command() -> None:
    call = invoke(Task(prompt="", args=("--debug",)), ("vibe-acp",), None)
    assert call.command == ("vibe-acp", "--debug")


def exchange(path: Any) -> Iterator[Json]:
    """What our client sends if a recorded agent's words come to it, in our own ids."""
    methods = {
        message["id"]: message["method"]
        for message in map(json.loads, path.with_name("sent.jsonl").read_text().splitlines())
        if "method" in message and "id" in message
    }
    first = next(method for method in methods.values() if method != "initialize")
    resume = None if first == "session/new" else "s9"
    client = Client(Task(prompt="Look at hello.txt and fix calc.py", resume=resume, cwd="/home"))
    decoder = agents.decoder("acp")
    yield from sent(client.begin())
    for text in path.read_text().splitlines():
        message = json.loads(text)
        if "method" not in message:
            message["id"] = methods[message["id"]]
        data = json.dumps(message).encode() + b"\n"
        for record in decoder.feed(data):
            client.on_event(record.event, bytes)
        yield from sent(client.on_output(data))
        if (ask := client.read(data)) is not None:
            yield from sent(client.answer(data, Decision(allow="forbidden" not in str(ask))))


@each("path", RECORDED, ids=name_of)
def test_it_says_to_a_recorded_agent_what_the_recording_client_said(path: Any) -> None:
    """Up to the first prompt's end the methods and the answers are the same, in the same order."""
    ours = list(exchange(path))
    told = [json.loads(text) for text in path.with_name("sent.jsonl").read_text().splitlines()]
    until = next(n for n, one in enumerate(told) if one.get("method") == "session/prompt")
    chosen = ("session/set_mode", "session/set_model")
    begun = [one["method"] for one in told[: until + 1] if one["method"] not in chosen]
    failed = "gemini_main_again" in str(path)  # there is no prompt after an error
    assert [one["method"] for one in ours if "method" in one] == begun[: -1 if failed else None]
    answers = {one["id"]: one["result"] for one in ours if "result" in one}
    expected = {
        one["id"]: one["result"] for one in told if "outcome" in ((one.get("result")) or {})
    }
    assert answers == expected
