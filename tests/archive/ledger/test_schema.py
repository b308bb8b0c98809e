"""A ledger of any earlier version is brought up to date, and loses nothing."""

import sqlite3
from pathlib import Path

import pytest

from rookery.adapter.history import Call
from rookery.archive.ledger import schema
from rookery.archive.ledger.ledger import Ledger, LedgerError
from tests.archive.ledger.samples import filled, report

CALL = Call(id="1", session="a", at=1000.0, model="priced", input=1)


def test_a_migration_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with filled(tmp_path / "ledger.db", [("file", [CALL])]) as ledger:
        before = report(ledger)
    added = "CREATE TABLE added (id INTEGER) STRICT; -- with; a comment\nDROP TABLE limits;\n"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, added))
    monkeypatch.setattr("rookery.archive.ledger.ledger.MIGRATIONS", schema.MIGRATIONS)
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
        patched.setattr("rookery.archive.ledger.ledger.MIGRATIONS", schema.MIGRATIONS)
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
