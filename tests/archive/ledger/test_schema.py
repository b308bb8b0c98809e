"""A ledger of any earlier version is brought up to date, and loses nothing."""

import sqlite3
from hashlib import blake2b
from pathlib import Path

import pytest

from nightrook.adapter.history import Call
from nightrook.archive.ledger import schema
from nightrook.archive.ledger.ledger import Ledger, LedgerError
from tests.archive.ledger.samples import filled, report

CALL = Call(id="1", session="a", at=1000.0, model="priced", input=1)


def test_a_migration_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(tmp_path / "ledger.db", [("file", [CALL])]) as ledger:
        before = report(ledger)
    added = "CREATE TABLE added (id INTEGER) STRICT; -- with; a comment\nDROP TABLE limits;\n"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, added))
    monkeypatch.setattr("nightrook.archive.ledger.ledger.MIGRATIONS", schema.MIGRATIONS)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert report(ledger) == before
        assert schema.version(ledger.connection) == len(schema.MIGRATIONS)
        assert ledger.connection.execute("SELECT count(*) FROM added").fetchone() == (0,)


def test_a_migration_that_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(tmp_path / "ledger.db", [("file", [CALL])]) as ledger:
        before = report(ledger)
        done = schema.version(ledger.connection)
    broken = "DROP TABLE sums;\nCREATE TABLE sums (not valid;\n"
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
        patched.setattr("nightrook.archive.ledger.ledger.MIGRATIONS", schema.MIGRATIONS)
        with pytest.raises(LedgerError):
            Ledger.open(tmp_path / "ledger.db")
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        assert (report(ledger), schema.version(ledger.connection)) == (before, done)


def test_every_migration_leads_to_the_tables_of_a_new_ledger(tmp_path: Path) -> None:
    """Ledgers of all versions end up alike."""
    tables = []
    for version in range(len(schema.MIGRATIONS)):
        path = tmp_path / f"{version}.db"
        with sqlite3.connect(path) as connection:
            for script in schema.MIGRATIONS[: version + 1]:
                connection.executescript(script)
            connection.execute(f"PRAGMA user_version = {version + 1}")
        with Ledger.open(path) as ledger:
            query = "SELECT name, sql FROM sqlite_master ORDER BY name"
            tables.append(ledger.connection.execute(query).fetchall())
    assert all(found == tables[-1] for found in tables)


def test_calls_of_the_first_version_are_known_by_their_new_keys(tmp_path: Path) -> None:
    """A ledger whose keys were hashes of 16 bytes: what is read again is not counted twice."""
    path, key = tmp_path / "ledger.db", blake2b(b"test\x001", digest_size=16).digest()
    with sqlite3.connect(path) as connection:
        connection.executescript(schema.MIGRATIONS[0])
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO sessions (id, agent, session) VALUES (1, 'test', 'a')")
        columns = "key, session_id, source_id, at, timed, own_at, copied, input, output, cache_read"
        columns += ", cache_write_5m, cache_write_1h, reasoning, web_searches, fast, fallback"
        connection.execute(
            f"INSERT INTO calls ({columns}, shared)"
            " VALUES (?, 1, 0, 1000000, 1, 1000000, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
            (key,),
        )
    with filled(path, [("file", [CALL])]) as ledger:
        query = "SELECT count(*), sum(input), sum(own_at IS NULL) FROM calls"
        assert ledger.connection.execute(query).fetchone() == (1, 1, 1)
