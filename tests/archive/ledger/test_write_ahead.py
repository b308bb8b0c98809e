"""A database is switched to a write-ahead log while another process writes to it."""

import sqlite3
from pathlib import Path

import pytest

from nightrook.archive.ledger import ledger as ledgers
from nightrook.archive.ledger.ledger import Ledger, LedgerError


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

    monkeypatch.setattr("nightrook.archive.ledger.write_ahead.time.sleep", wait)
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
