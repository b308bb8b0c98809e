"""What `rook watch` follows: sessions in files, documents and stores, and runs."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.archive.watch.watch import Watch
from nightrook.archive.watch.watch_rows import Row, Update
from nightrook.model.events import Text, UserMessage
from nightrook.process.liveness import start_ticks
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo
from tests.archive.watch.samples import (
    SESSION,
    add_text,
    append,
    claude_file,
    claude_line,
    gemini_document,
    opencode_store,
    opened,
    said,
)

pytestmark = pytest.mark.linux("inotify")
NOW = time.time()


class Desk:
    """A home of a user, what is watched of it, and what was seen."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.nightrook = folder / "nightrook"
        self._watch: Watch | None = None

    def start(self, active_s: float = 600.0, **options: object) -> list[Update]:
        self._watch = Watch(self.nightrook, [self.home], active_s=active_s, **options)  # type: ignore[arg-type]
        return self._watch.start()

    def look(self) -> list[Update]:
        assert self._watch is not None
        return self._watch.look()

    def forget(self) -> list[Update]:
        assert self._watch is not None
        return self._watch.forget()

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    made = Desk(tmp_path)
    yield made
    made.close()


def texts(updates: list[Update]) -> list[str]:
    events = [record.event for update in updates for record in update.records]
    return [event.text for event in events if isinstance(event, Text | UserMessage)]


def rows(updates: list[Update]) -> list[Row]:
    return [update.row for update in updates]


def test_an_interactive_session_is_seen_from_its_first_line_with_its_cost(desk: Desk) -> None:
    desk.home.mkdir()
    assert desk.start() == []
    file = claude_file(desk.home)
    file.write_text(claude_line("user", "Fix the tests"))
    (update,) = desk.look()
    assert (update.is_first, texts([update])) == (True, ["Fix the tests"])
    append(file, said("Done."))
    (update,) = desk.look()
    row = update.row
    assert (update.is_first, texts([update])) == (False, ["Done."])
    assert (row.name, row.label, row.project) == (SESSION, "claude 11111111", "/work/shop")
    assert row.tokens.total == 1100
    assert row.cost.source == "estimated"
    assert row.cost.usd == pytest.approx(0.0075)  # 1000 at $5 and 100 at $25 a million
    assert desk.look() == []


def test_half_a_line_is_not_lost(desk: Desk) -> None:
    file = claude_file(desk.home)
    file.write_text("")
    desk.start()
    line = said("Done.")
    append(file, line[:50])
    assert texts(desk.look()) == []
    append(file, line[50:])
    assert texts(desk.look()) == ["Done."]


def test_what_was_written_recently_is_active_at_the_start_and_what_happened_is_not_new(
    desk: Desk,
) -> None:
    recent, old = claude_file(desk.home), claude_file(desk.home, "old")
    recent.write_text(said("before"))
    old.write_text(said("long ago", sessionId="old", at=1))
    os.utime(old, (1, 1))
    started = desk.start()
    assert [(row.name, row.tokens.total) for row in rows(started)] == [(SESSION, 1100)]
    assert texts(started) == []
    (row,) = rows(started)
    assert row.is_waiting(row.changed_at + 3)
    append(old, said("again", 2, sessionId="old"))
    (update,) = desk.look()
    assert (update.row.name, update.is_first, texts([update])) == ("old", True, ["again"])
    assert update.row.tokens.total == 2200


def test_a_session_waits_for_a_person_after_its_answer_and_not_while_it_works(desk: Desk) -> None:
    file = claude_file(desk.home)
    desk.start()
    file.write_text(claude_line("user", "Fix it") + said("I look."))
    (answered,) = rows(desk.look())
    assert not answered.is_waiting(answered.changed_at + 1)
    assert answered.is_waiting(answered.changed_at + 3)
    call = [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}]
    append(file, claude_line("assistant", call, id="msg_2"))
    (working,) = rows(desk.look())
    assert not working.is_waiting(working.changed_at + 300)
    ask = [{"type": "tool_use", "id": "t2", "name": "AskUserQuestion", "input": {}}]
    append(file, claude_line("assistant", ask, id="msg_3"))
    (asking,) = rows(desk.look())
    assert asking.is_waiting(asking.changed_at)


def test_what_a_subagent_does_belongs_to_its_session_and_costs_it(desk: Desk) -> None:
    file = claude_file(desk.home)
    file.write_text(claude_line("user", "Fix it") + said("I delegate."))
    desk.start()
    subagent = file.parent / SESSION / "subagents" / "agent-a1.jsonl"
    subagent.parent.mkdir(parents=True)
    subagent.write_text(said("I am a subagent.", 2, isSidechain=True, agentId="a1"))
    (update,) = desk.look()
    assert (update.row.name, update.row.tokens.total) == (SESSION, 2200)
    assert update.row.cost.usd == pytest.approx(0.015)
    parents = [getattr(record.event, "parent", None) for record in update.records]
    assert (texts([update]), parents[0]) == (["I am a subagent."], "a1")


def test_a_file_that_is_cut_or_replaced_is_read_again_without_repeating_what_was_seen(
    desk: Desk,
) -> None:
    file = claude_file(desk.home)
    file.write_text(said("one", at=NOW) + said("two", 2, at=NOW + 1))
    desk.start()
    file.write_text(said("three", 3, at=NOW + 2))  # cut
    assert texts(desk.look()) == ["three"]
    new = file.with_suffix(".new")
    new.write_text(
        said("two", 2, at=NOW + 1) + said("three", 3, at=NOW + 2) + said("four", 4, at=NOW + 3)
    )
    new.replace(file)  # rotated
    (update,) = desk.look()
    assert (texts([update]), update.row.tokens.total) == (["four"], 3300)


def test_a_file_that_is_deleted_ends_nothing_and_may_come_back(desk: Desk) -> None:
    file = claude_file(desk.home)
    file.write_text(said("one", at=NOW))
    desk.start()
    file.unlink()
    assert desk.look() == []
    file.write_text(said("two", 2, at=NOW + 1))
    assert texts(desk.look()) == ["two"]


def test_a_home_that_does_not_exist_yet_is_found_when_it_is_made(desk: Desk) -> None:
    assert desk.start() == []
    claude_file(desk.home).write_text(said("hello"))
    assert texts(desk.look()) == ["hello"]
    append(claude_file(desk.home), said("again", 2))
    assert texts(desk.look()) == ["again"]


def test_a_document_is_read_again_and_only_what_is_new_in_it_is_reported(desk: Desk) -> None:
    chats = desk.home / ".gemini" / "tmp" / "shop" / "chats"
    chats.mkdir(parents=True)
    document = chats / "session-1.json"
    document.write_text(gemini_document("one"))
    desk.start()
    document.write_text(gemini_document("one", "two"))
    assert texts(desk.look()) == ["two"]
    document.write_text('{"sessionId": "half')  # it is being written
    assert desk.look() == []


def test_a_store_is_followed_by_the_file_beside_it_without_changing_its_folder(desk: Desk) -> None:
    store = opencode_store(desk.home)
    with opened(store) as connection:
        add_text(connection, 1, "before")
        desk.start()
        before = sorted(path.name for path in store.parent.iterdir())
        add_text(connection, 2, "through the log")
        assert store.stat().st_mtime < Path(f"{store}-wal").stat().st_mtime + 1
        (update,) = desk.look()
        assert (update.row.name, texts([update])) == ("ses_1", ["through the log"])
        assert sorted(path.name for path in store.parent.iterdir()) == before


def test_of_an_old_session_in_a_store_only_what_is_new_is_reported(desk: Desk) -> None:
    store = opencode_store(desk.home)
    with opened(store) as connection:
        add_text(connection, 1, "long ago")
        connection.execute(
            "UPDATE part SET time_created = 1000, data = json_set(data, '$.time', json('{}'))"
        )
        connection.execute("UPDATE message SET time_created = 1000")
        connection.commit()
        assert desk.start() == []
        add_text(connection, 2, "now")
        assert texts(desk.look()) == ["now"]


def test_a_session_that_is_quiet_for_long_is_let_go_and_continues_where_it_was(desk: Desk) -> None:
    file = claude_file(desk.home)
    file.write_text(said("one"))
    desk.start(active_s=-1.0)
    append(file, said("two", 2))
    assert texts(desk.look()) == ["two"]
    (over,) = desk.forget()
    assert (over.is_over, over.row.name) == (True, SESSION)
    append(file, said("three", 3))
    (update,) = desk.look()
    assert (update.is_first, texts([update]), update.row.tokens.total) == (True, ["three"], 3300)


def test_only_what_is_wanted_is_shown(desk: Desk) -> None:
    claude_file(desk.home).write_text(said("one"))
    assert rows(desk.start(wants=lambda row: row.project == "/elsewhere")) == []
    desk.close()
    assert rows(desk.start(agent="codex")) == []
    desk.close()
    assert len(desk.start(agent="claude", wants=lambda row: row.project == "/work/shop")) == 1


def test_other_files_and_damaged_lines_disturb_nothing(desk: Desk) -> None:
    file = claude_file(desk.home)
    desk.start()
    (file.parent / "notes.txt").write_text("hello")
    os.mkfifo(file.parent / "pipe.jsonl")
    file.write_text("not json\n" + said("fine"))
    assert texts(desk.look()) == ["fine"]


def living_run(desk: Desk, stream: bytes) -> RunFolder:
    """A run of this process, which has written a stream."""
    pid = os.getpid()
    info = RunInfo(
        agent="claude",
        command=["claude"],
        cwd="/work/shop",
        started_at=time.time(),
        runner_pid=pid,
        runner_ticks=start_ticks(pid),
    )
    folder = create_run(desk.nightrook, info)
    write(folder, stream)
    return folder


def write(folder: RunFolder, stream: bytes) -> None:
    """Write to the log of a run, as its recorder does."""
    with open(folder.path / "stdout.raw", "ab") as log, open(folder.path / "arrivals", "ab") as at:
        begin = log.tell()
        log.write(stream)
        at.write(b"%.6f o %d %d\n" % (time.time(), begin, len(stream)))


INIT = b'{"type":"system","subtype":"init","session_id":"%b","cwd":"/work/shop","model":"m"}\n'
DONE = (
    b'{"type":"result","subtype":"success","is_error":false,"result":"ok","total_cost_usd":0.5}\n'
)


def test_a_run_is_followed_to_its_verdict(desk: Desk) -> None:
    desk.start()
    folder = living_run(desk, INIT % SESSION.encode())
    (update,) = desk.look()
    assert (update.row.kind, update.row.name) == ("run", folder.name)
    assert (update.is_first, update.row.label) == (True, f"claude {folder.name}")
    write(folder, DONE)
    (update,) = desk.look()
    assert update.row.cost.usd == 0.5
    verdict = VerdictInfo(status="success", sentence="s", exit_code=0, ended_at=time.time())
    folder.write_verdict(verdict)
    (update,) = desk.look()
    assert (update.is_over, update.row.status) == (True, "success")
    assert desk.look() == []


def test_a_run_that_is_alive_is_active_at_the_start(desk: Desk) -> None:
    folder = living_run(desk, INIT % b"s1")
    (update,) = desk.start()
    assert (update.row.name, update.records) == (folder.name, [])


def test_the_stored_session_of_a_run_is_not_shown_beside_it(desk: Desk) -> None:
    desk.start()
    folder = living_run(desk, b"")
    file = claude_file(desk.home)
    file.write_text(said("stored before the run names its session"))
    assert {row.kind for row in rows(desk.look())} == {"run"}
    write(folder, INIT % SESSION.encode())
    append(file, said("more", 2))
    assert {row.kind for row in rows(desk.look())} == {"run"}


def test_a_session_of_another_agent_is_shown_while_a_run_has_not_named_its_session(
    desk: Desk,
) -> None:
    store = opencode_store(desk.home)
    desk.start()
    living_run(desk, b"")
    with opened(store) as connection:
        add_text(connection, 1, "hello")
        assert texts(desk.look()) == ["hello"]


def test_a_run_whose_folder_is_removed_is_over(desk: Desk) -> None:
    folder = living_run(desk, INIT % b"s1")
    desk.start()
    shutil.rmtree(folder.path)
    (update,) = desk.look()
    assert (update.is_over, update.row.status) == (True, None)
