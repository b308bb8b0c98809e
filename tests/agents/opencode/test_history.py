"""What OpenCode keeps on disk, and what of it counts."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from nightrook.adapter.history import Call, Session
from nightrook.agents.opencode.history import HISTORY
from nightrook.agents.opencode.reader import STORED, begin
from tests.agents.histories import counted, place_of, read_all, tokens, transcript
from tests.agents.stores import (
    CREATED,
    MESSAGES,
    TOKENS,
    add_message,
    add_session,
    answer,
    findings,
    made,
    step,
    store_of,
    unpacked,
)
from tests.rules import each

STORAGE = ".local/share/opencode/storage"

V2 = """
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, fork_session_id text,
  fork_boundary text, directory text, title text, time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer,
  time_created integer, time_updated integer, data text);
"""


def test_a_store_has_what_the_model_reported(tmp_path: Path) -> None:
    found = findings(HISTORY, unpacked("opencode", "text", tmp_path))
    project = "/home/dev/cap/w/opencode/run/ws/text"
    assert found == [
        Session(
            id="ses_e1c95e5e7ffeBKZ5QCOMqn843V", at=1794816768.258, project=project, title="text"
        ),
        Call(
            id="1794816754189 fake fake-model 1000 40 0 200 50 1",
            session="ses_e1c95e5e7ffeBKZ5QCOMqn843V",
            at=1794816754.189,
            model="fake-model",
            input=1000,
            output=40,
            cache_read=200,
            cache_write_5m=50,
            cost_usd=0.0038475,
            project=project,
        ),
    ]


def test_a_recorded_fork_and_subagent_count_once_each(tmp_path: Path) -> None:
    """The scripted model answered five requests of 1.18: one, its fork, and one with a subagent."""
    found = findings(HISTORY, unpacked("opencode", "fork_and_subagent", tmp_path))
    assert tokens(found) == {"calls": 5, "input": 37_678, "output": 68}
    calls = [call for call in found if isinstance(call, Call)]
    assert [(call.copied, call.subagent) for call in calls] == [
        (False, None),
        (True, None),
        *[(False, None)] * 3,
        (False, "general"),
    ]


def test_a_fork_counts_only_what_it_added(tmp_path: Path) -> None:
    added = answer(CREATED + 5000)
    store = store_of(
        tmp_path / "opencode.db",
        ("original", "m1", answer(cost=0.5), [step(), step()]),
        ("fork", "m2", answer(cost=0.5), [step(), step()]),
        ("fork", "m3", added, [step(cost=1.5)]),
    )
    calls = counted(findings(HISTORY, store))
    assert [call.cost_usd for call in calls] == [0.25, 0.25, 1.5]


def test_a_subagent_is_a_session_with_a_parent(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(made(path, MESSAGES)) as store:
        add_session(store, "parent")
        add_session(store, "child", parent_id="parent")
        add_message(store, "parent", "m1", answer(), [step()])
        add_message(store, "child", "m2", answer(CREATED + 1, agent="explore"), [step()])
    calls = counted(findings(HISTORY, path))
    assert {call.session: call.subagent for call in calls} == {"parent": None, "child": "explore"}


def v2_store(path: Path, schema: str = V2) -> sqlite3.Connection:
    store = made(path, schema)
    for id, fork in (("one", None), ("two", "one")):
        row = (id, None, fork, None, "/app", "Work", CREATED, CREATED)
        store.execute("INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    return store


def add_v2(store: sqlite3.Connection, session: str, id: str, created: int = CREATED) -> None:
    data = answer(created, model={"id": "glm-5", "providerID": "zai"}, content=[])
    for name in ("role", "modelID", "providerID"):
        del data[name]
    for number, type in enumerate(("user", "assistant")):
        row = (f"{id}{number}", session, type, 1, created, created, json.dumps(data))
        store.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def test_version_2_stores_a_message_for_each_request_and_names_the_fork(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(v2_store(path)) as store:
        add_v2(store, "one", "m1")
        add_v2(store, "two", "m2")
        add_v2(store, "two", "m3", CREATED + 5000)
    found = findings(HISTORY, path)
    assert tokens(found) == {"calls": 2, "input": 400, "output": 68, "cache_read": 2000,
        "cache_write_5m": 100, "reasoning": 14}  # fmt: skip
    sessions = [each for each in found if isinstance(each, Session)]
    assert [session.forked_from for session in sessions] == [None, "one"]


def test_what_version_2_took_over_from_version_1_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(v2_store(path, MESSAGES + V2)) as store:
        add_session(store, "one")
        add_message(store, "one", "m1", answer(), [step()])
        add_v2(store, "one", "m1")
        add_v2(store, "one", "m2", CREATED + 5000)
    assert [call.at for call in counted(findings(HISTORY, path))] == [
        CREATED / 1000,
        CREATED / 1000 + 5,
    ]


def test_documents_of_earlier_versions_have_messages_and_sessions() -> None:
    found = read_all(HISTORY, transcript("opencode", "before_1_2"))
    assert found == [
        Call(
            id="document 1758400002000 anthropic claude-sonnet-4-5 1000 40 0 200 50",
            session="ses_66f0c1d2affeXyZ",
            at=1758400002.0,
            model="claude-sonnet-4-5",
            input=1000,
            output=40,
            cache_read=200,
            cache_write_5m=50,
            cost_usd=0.0038475,
            project="/home/dev/app",
            fallback=True,
        ),
        Session(
            id="ses_66f0c1d2affeXyZ",
            at=1758400009.5,
            project="/home/dev/app",
            title="Greeting",
            version="0.14.3",
        ),
    ]


def test_documents_that_a_store_took_over_count_once(tmp_path: Path) -> None:
    store = store_of(tmp_path / "opencode.db", ("ses_1", "m1", answer(), [step(), step()]))
    document = json.dumps(answer(sessionID="ses_1")).encode()
    both = [
        *findings(HISTORY, store),
        *STORED.findings([document], begin(["message", "ses_1", "m1.json"])),
    ]
    assert [call.fallback for call in counted(both)] == [False, False]


def test_a_document_without_its_session_has_that_of_its_folder() -> None:
    (found,) = STORED.findings(
        [json.dumps(answer()).encode()], begin(["message", "ses_9", "m1.json"])
    )
    assert isinstance(found, Call)
    assert found.session == "ses_9"


@each("document", [{}, [], answer(tokens={}), {"role": "user", "tokens": TOKENS}, {"id": ""}])
def test_documents_without_use_have_no_calls(document: Any) -> None:
    assert STORED.findings([json.dumps(document).encode()], begin([])) == []


@each(
    ("path", "kind"),
    [
        (".local/share/opencode/opencode.db", "sqlite"),
        (".local/share/opencode/opencode-dev.db", "sqlite"),
        (".local/share/opencode/opencode.db-wal", None),
        (f"{STORAGE}/message/ses_1/msg_1.json", "document"),
        (f"{STORAGE}/session/project/ses_1.json", "document"),
        (f"{STORAGE}/part/msg_1/prt_1.json", None),
    ],
)
def test_only_stores_messages_and_sessions_are_read(path: str, kind: str | None) -> None:
    place = place_of(HISTORY, path)
    assert (place and place.kind) == kind


def test_the_store_of_a_fork_of_the_program_is_not_recognised() -> None:
    tables = b"CREATE TABLE `session` (); CREATE TABLE `part` ();"
    assert HISTORY.recognises(tables)
    assert not HISTORY.recognises(tables + b"CREATE TABLE `kilo_board` ();")
