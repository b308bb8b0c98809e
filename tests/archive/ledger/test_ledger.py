"""The ledger is private, refuses what it cannot read, and can be opened by several at once."""

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stat import S_IMODE

import pytest

from nightrook.adapter.history import Call
from nightrook.archive.ledger import ledger as ledgers
from nightrook.archive.ledger.ledger import Ledger, LedgerError
from nightrook.archive.ledger.schema import MIGRATIONS, version
from nightrook.archive.ledger.sources import Source


def test_a_new_ledger_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.connection.execute("INSERT INTO meta VALUES ('a', 'b')")
        modes = {file.name: S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}


def test_a_ledger_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(LedgerError, match="later version"):
        Ledger.open(path)


def test_a_file_that_is_not_a_database_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"my notes, which are longer than a header of SQLite" * 100)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="move it away"):
        Ledger.open(path)
    assert path.read_bytes() == before


def test_damage_that_is_found_later_is_a_sentence_as_well(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        ledger.connection.executemany(
            "INSERT INTO names (text) VALUES (?)", ((f"model {number}",) for number in range(5000))
        )
    with path.open("r+b") as file:
        file.seek(-40_000, os.SEEK_END)
        file.write(b"\xaa" * 40_000)
    with pytest.raises(LedgerError, match="move it away"), Ledger.open(path) as ledger:
        ledger.connection.execute("SELECT group_concat(text) FROM names").fetchall()


def test_a_full_disk_is_no_reason_to_move_the_ledger_away(
    tmp_path: Path,
) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        pages = ledger.connection.execute("PRAGMA page_count").fetchone()[0]
        ledger.connection.execute(f"PRAGMA max_page_count = {pages}")  # as on a full disk
        calls = [Call(id=str(number), session=str(number)) for number in range(2000)]
        with pytest.raises(LedgerError, match="is full; check the disk"), ledger.batch() as batch:
            batch.add(Source(agent="test", path="file"), calls)
        assert ledger.connection.execute("SELECT count(*) FROM calls").fetchone() == (0,)


def test_several_can_make_the_same_ledger_at_once(tmp_path: Path) -> None:
    def make(_: int) -> int:
        with Ledger.open(tmp_path / "ledger.db") as ledger:
            return version(ledger.connection)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(make, range(16))) == {len(MIGRATIONS)}


def test_every_table_is_strict(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        tables = ledger.connection.execute("PRAGMA table_list").fetchall()
    loose = [name for _, name, kind, _, _, strict in tables if kind == "table" and not strict]
    assert [name for name in loose if not name.startswith("sqlite_")] == []
    with sqlite3.connect(tmp_path / "ledger.db") as plain:
        assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.fixture
def writer(tmp_path: Path) -> sqlite3.Connection:
    """Another process that has begun to write to a database without a write-ahead log."""
    connection = sqlite3.connect(tmp_path / "made.db", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_waits_until_the_other_process_is_done(
    writer: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        writer.close()

    monkeypatch.setattr("nightrook.archive.ledger.ledger.time.sleep", wait)
    with Ledger.open(tmp_path / "made.db") as database:
        assert database.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert len(waits) == 1


def test_gives_up_after_its_patience(
    writer: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "_PATIENCE_S", 0.0)
    with pytest.raises(LedgerError, match="locked; check the disk and try again"):
        Ledger.open(tmp_path / "made.db")
    writer.close()
