"""SQLite stores are read whole and again when they change, and nothing in their folder changes."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nightrook.adapter.history import Call, Finding, History
from nightrook.agents.goose.history import HISTORY as GOOSE
from nightrook.agents.opencode.history import HISTORY as OPENCODE
from nightrook.agents.opencode.history import KILO_HISTORY as KILO
from nightrook.archive import sqlite_stores
from nightrook.archive.sqlite_stores import StoreReading, read_store, store_schema
from tests.agents.histories import tokens
from tests.agents.stores import (
    CREATED,
    MESSAGES,
    add_message,
    add_session,
    answer,
    findings,
    made,
    step,
    store_of,
    unpacked,
)
from tests.archive.folders import unchanged

RECORDED = [
    (OPENCODE, "text", 1),
    (OPENCODE, "fork_and_subagent", 5),
    (KILO, "shell_ok", 2),
    (KILO, "two_turn_resume", 2),
    (GOOSE, "shell_ok", 2),
]


def calls(readings: list[StoreReading]) -> list[Call]:
    return [
        found
        for reading in readings
        for found in reading.findings
        if isinstance(found, Call) and not found.fallback
    ]


def problems(readings: list[StoreReading]) -> list[str]:
    return [reading.problem for reading in readings if reading.problem]


def let_time_pass(path: Path) -> None:
    """Let all files of a store be old."""
    for file in path.parent.glob(f"{path.name}*"):
        os.utime(file, (1_790_000_000, 1_790_000_000))


@pytest.mark.parametrize(("history", "case", "number"), RECORDED)
@pytest.mark.parametrize("missing", ["nothing", "-shm"])
def test_a_recorded_store_is_read_and_nothing_in_its_folder_changes(
    history: History, case: str, number: int, missing: str, tmp_path: Path
) -> None:
    store = unpacked(history.agent, case, tmp_path)
    Path(f"{store}{missing}").unlink(missing_ok=True)
    with unchanged(tmp_path):
        assert tokens(findings(history, store))["calls"] == number


@pytest.mark.parametrize(("history", "case", "number"), RECORDED)
def test_a_store_in_a_read_only_folder_is_read(
    history: History, case: str, number: int, tmp_path: Path
) -> None:
    store = unpacked(history.agent, case, tmp_path)
    for file in tmp_path.iterdir():
        file.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        with unchanged(tmp_path):
            assert tokens(findings(history, store))["calls"] == number
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("beside", [[], ["-wal"], ["-wal", "-shm"]])
def test_a_store_whose_log_is_empty_or_missing_is_read(beside: list[str], tmp_path: Path) -> None:
    store = store_of(tmp_path / "kilo.db", ("s", "m", answer(), [step()]))
    for suffix in beside:
        Path(f"{store}{suffix}").touch()
    with unchanged(tmp_path):
        assert tokens(findings(KILO, store))["calls"] == 1


def test_a_store_with_an_unfinished_transaction_in_its_journal_is_read_without_it(
    tmp_path: Path,
) -> None:
    path, crashed = tmp_path / "kilo.db", tmp_path / "crashed"
    crashed.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.executescript(MESSAGES)
        add_session(store, "s")
        add_message(store, "s", "m", answer(), [step()])
        store.executescript("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN")
        for number in range(200):  # enough to be written before the end of the transaction
            add_message(store, "s", f"m{number}", answer(CREATED + number + 1), ["x" * 2000])
        for file in tmp_path.glob("kilo.db*"):
            shutil.copyfile(file, crashed / file.name)
    assert (crashed / "kilo.db-journal").stat().st_size
    with unchanged(crashed):
        assert tokens(findings(KILO, crashed / "kilo.db"))["calls"] == 1


def test_a_name_with_characters_of_an_address_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "a?b#c%20 \udcff"
    folder.mkdir()
    store = store_of(folder / "kilo.db", ("s", "m", answer(), [step()]))
    with unchanged(folder):
        assert tokens(findings(KILO, store))["calls"] == 1


def test_the_copy_of_a_store_is_private_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(ours))
    (tmp_path / "theirs").mkdir()
    store = unpacked("goose", "shell_ok", tmp_path / "theirs")
    Path(f"{store}-shm").unlink()
    readings = read_store(GOOSE, store)
    next(readings)
    assert [folder.stat().st_mode & 0o777 for folder in ours.iterdir()] == [0o700]
    assert problems(list(readings)) == []
    assert list(ours.iterdir()) == []


def test_only_sessions_that_changed_are_read_again(tmp_path: Path) -> None:
    path = store_of(
        tmp_path / "kilo.db",
        ("one", "m1", answer(), [step()]),
        ("two", "m2", answer(CREATED + 1), [step()]),
    )
    memory = list(read_store(KILO, path))[-1].memory
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        add_message(store, "two", "m3", answer(CREATED + 2), [step()])
    readings = list(read_store(KILO, path, memory))
    assert [call.session for call in calls(readings)] == ["two", "two"]
    assert calls(list(read_store(KILO, path, readings[-1].memory))) == []


@pytest.mark.parametrize(
    "later", [CREATED - 86_400_000, CREATED + 1], ids=["clock set back", "later"]
)
def test_a_session_whose_time_changed_is_read_again(later: int, tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    memory = list(read_store(KILO, path))[-1].memory
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE session SET time_updated = ?", (later,))
    assert len(calls(list(read_store(KILO, path, memory)))) == 1


def test_a_new_session_is_read_although_the_clock_was_set_back(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    memory = list(read_store(KILO, path))[-1].memory
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        add_session(store, "two", time_updated=CREATED - 86_400_000)
        add_message(store, "two", "m2", answer(CREATED - 86_400_000), [step()])
    assert len(calls(list(read_store(KILO, path, memory)))) == 1


def test_a_store_that_did_not_change_is_not_opened(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    let_time_pass(path)
    memory = list(read_store(KILO, path))[-1].memory
    path.chmod(0)
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    let_time_pass(path)
    assert list(read_store(KILO, path, memory)) == []


def test_a_store_that_changed_a_moment_ago_is_looked_into_again(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    memory = list(read_store(KILO, path))[-1].memory
    assert len(list(read_store(KILO, path, memory))) == 1


@pytest.mark.parametrize(
    "memory", [b"", b"{", b"[]", b'{"marks":[{},{}]}', b'{"marks":5}', b"\xff"]
)
def test_a_memory_that_is_damaged_or_of_other_queries_reads_all(
    memory: bytes, tmp_path: Path
) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    assert len(calls(list(read_store(KILO, path, memory)))) == 1


def test_sessions_that_were_deleted_are_forgotten(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    memory = list(read_store(KILO, path))[-1].memory
    assert b"one" in memory
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("DELETE FROM session")
    assert b"one" not in list(read_store(KILO, path, memory))[-1].memory


def test_each_batch_leaves_a_memory_from_which_reading_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_stores, "_BATCH", 2)
    rows = [(f"s{n}", f"m{n}", answer(CREATED + n), [step()]) for n in range(5)]
    path = store_of(tmp_path / "kilo.db", *rows)
    readings = list(read_store(KILO, path))
    assert [len(calls([reading])) for reading in readings] == [2, 2, 1, 0]
    left = [len(calls(list(read_store(KILO, path, each.memory)))) for each in readings]
    assert left == [3, 1, 0, 0]


def garbage(path: Path) -> None:
    path.write_bytes(b"not a database" * 1000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    store_of(path, *((f"s{n}", f"m{n}", answer(), [step()]) for n in range(50)))
    path.write_bytes(path.read_bytes()[:4096])


def foreign(path: Path) -> None:
    made(path, "CREATE TABLE notes (text TEXT)").close()


def newer(path: Path) -> None:
    made(path, "CREATE TABLE part (text TEXT); CREATE TABLE session (text TEXT)").close()


def missing(path: Path) -> None:
    pass


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (garbage, "file is not a database"),
        (empty, "it isn't a store of kilo"),
        (foreign, "it isn't a store of kilo"),
        (newer, "rook doesn't know this version of its tables"),
        (cut, "database disk image is malformed"),
        (missing, "unable to open database file"),
    ],
)
def test_a_store_that_cannot_be_read_is_a_problem(
    make: Callable[[Path], None], problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "kilo.db"
    make(path)
    with unchanged_listing(tmp_path):
        assert problems(list(read_store(KILO, path))) == [problem]


@contextmanager
def unchanged_listing(folder: Path) -> Iterator[None]:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir())
    yield
    assert sorted((path.name, path.stat().st_mtime_ns) for path in folder.iterdir()) == before


def test_a_folder_in_place_of_a_store_is_a_problem(tmp_path: Path) -> None:
    assert len(problems(list(read_store(KILO, tmp_path)))) == 1


def test_a_damaged_session_does_not_hide_the_others(tmp_path: Path) -> None:
    long = "x" * 100_000
    path = store_of(
        tmp_path / "kilo.db",
        ("one", "m1", answer(), [step()]),
        ("two", "m2", answer(CREATED + 1), [{"text": long}, step()]),
        ("three", "m3", answer(CREATED + 2), [step()]),
    )
    data = bytearray(path.read_bytes())
    page = data.rindex(b"x" * 4000) // 4096 - 5
    data[page * 4096 : page * 4096 + 4] = b"\xff" * 4  # where the next page of the long text is
    path.write_bytes(data)
    readings = list(read_store(KILO, path))
    assert {call.session for call in calls(readings)} >= {"one", "three"}
    assert problems(readings) == ["database disk image is malformed"]


def test_a_store_that_is_locked_is_read_or_a_problem(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        add_session(store, "two")
        readings = list(read_store(KILO, path))
    assert len(calls(readings)) == 1
    assert problems(readings) == []


def test_text_that_is_not_utf_8_is_read(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE session SET title = CAST(x'41ff' AS TEXT)")
    found = findings(KILO, path)
    assert msgspec.structs.asdict(found[0])["title"] == "A\ufffd"


def test_a_store_that_changes_while_it_is_read_as_immutable_is_read_again(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))
    changes = [CREATED + 7]

    def read_and_change(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
        found = KILO.queries[0].read(rows)
        while changes:
            with closing(sqlite3.connect(path, isolation_level=None)) as store:
                add_message(store, "one", "m2", answer(changes.pop()), [step()])
        return found

    query = msgspec.structs.replace(KILO.queries[0], read=read_and_change)
    readings = list(read_store(msgspec.structs.replace(KILO, queries=(query,)), path))
    assert len(calls(readings)) == 2
    assert problems(readings) == []


def test_a_store_that_changes_all_the_time_is_a_problem(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m1", answer(), [step()]))

    def read_and_change(rows: Sequence[tuple[Any, ...]]) -> Sequence[Finding]:
        with closing(sqlite3.connect(path, isolation_level=None)) as store:
            store.execute("UPDATE session SET time_updated = time_updated + 1")
            store.execute(
                f"CREATE TABLE t{len(list(store.execute('SELECT * FROM sqlite_master')))} (a)"
            )
        return []

    query = msgspec.structs.replace(KILO.queries[0], read=read_and_change)
    readings = list(read_store(msgspec.structs.replace(KILO, queries=(query,)), path))
    assert problems(readings) == ["it changes while it is read"]


WRITER = """
import json, sqlite3, sys
path, message, step = sys.argv[1:]
store = sqlite3.connect(path, isolation_level=None, timeout=60)
store.execute("PRAGMA wal_autocheckpoint = 20")
message, number = json.loads(message), 0
for line in sys.stdin:
    for _ in range(5):
        number += 1
        message["time"]["created"] += 1
        store.execute("BEGIN")
        store.execute("INSERT INTO message VALUES (?, 'one', ?, 1, ?)",
                      (f"w{number}", message["time"]["created"], json.dumps(message)))
        store.execute("INSERT INTO part VALUES (?, ?, 'one', 1, 1, ?)",
                      (f"p{number}", f"w{number}", step))
        store.execute("COMMIT")
    print(number, flush=True)
store.close()
"""


@contextmanager
def writer_of(path: Path) -> Iterator[Callable[[], Callable[[], None]]]:
    """An agent that has a store open; it writes when it is called, until what it returns is."""
    command = [sys.executable, "-c", WRITER, str(path), json.dumps(answer()), json.dumps(step())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        input, output = process.stdin, process.stdout
        assert input is not None
        assert output is not None

        def write() -> Callable[[], None]:
            print("go", file=input, flush=True)
            return lambda: assert_written(output.readline())

        yield write
        input.close()


def assert_written(line: str) -> None:
    assert line.strip().isdecimal()


def ids(readings: list[StoreReading]) -> set[str]:
    return {call.id for call in calls(readings)}


def test_a_store_that_its_agent_has_open_is_read_with_what_is_in_the_log(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m", answer(), [step()]))
    with writer_of(path) as write:
        write()()
        assert path.with_name("kilo.db-shm").exists()
        with unchanged(tmp_path):
            assert tokens(findings(KILO, path))["calls"] == 6


def test_a_store_is_read_while_another_process_writes_it(tmp_path: Path) -> None:
    path = store_of(tmp_path / "kilo.db", ("one", "m", answer(), [step()]))
    seen: set[str] = set()
    memory = None
    with writer_of(path) as write:
        for _ in range(10):
            wait = write()
            readings = list(read_store(KILO, path, memory))
            seen |= ids(readings)
            memory = readings[-1].memory
            wait()
    seen |= ids(list(read_store(KILO, path, memory)))
    assert len(seen) == 51
    assert [file.name for file in tmp_path.iterdir()] == ["kilo.db"]


def test_the_schema_of_a_store_says_whose_it_is(tmp_path: Path) -> None:
    stores = {history.agent: (history, case) for history, case, _ in RECORDED}
    for agent, (_, case) in stores.items():
        (tmp_path / agent).mkdir()
        tables = store_schema(unpacked(agent, case, tmp_path / agent))
        first = next(name for name in stores if stores[name][0].recognises(tables))
        assert first == agent
    assert store_schema(tmp_path / "missing.db") == b""
