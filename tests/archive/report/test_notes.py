"""Notes: what was not read, not found, not priced and not reported, and what to do."""

import sqlite3
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.adapter.history import History
from nightrook.archive.report.build import build
from tests.archive.report.ledgers import ledger, query

AT = "2026-11-02T10:00Z"


def notes(connection: sqlite3.Connection, **wanted: str) -> tuple[str, ...]:
    return build(connection, query(**wanted)).notes


def test_models_without_a_price_are_named_with_the_way_to_set_one(tmp_path: Path) -> None:
    calls = [
        {"at": AT, "model": "mine", "input": 1000},
        {"at": AT, "model": "yours", "input": 200, "output": 34_000},
        {"at": AT, "model": "known", "input": 5, "estimated_nano": 0},
    ]
    with ledger(tmp_path, *calls) as connection:
        assert notes(connection) == (
            "no price is known for yours (34,200 tokens), mine (1,000 tokens); set one in "
            "prices.toml beside your rook.toml, or in the file that [prices] file names there",
        )
        assert notes(connection, model="known") == ()


def test_tokens_of_a_model_that_is_not_reported_are_noted(tmp_path: Path) -> None:
    with ledger(tmp_path, {"at": AT, "input": 1000}) as connection:
        assert notes(connection) == (
            "1,000 tokens are without a price because their model is not reported",
        )


def test_files_that_could_not_be_read_are_named(tmp_path: Path) -> None:
    with ledger(tmp_path) as connection:
        for number in range(7):
            connection.execute(
                "INSERT INTO sources (agent, path, kind, state, problem)"
                " VALUES ('a', ?, 'lines', 'unreadable', 'Permission denied')",
                (f"/x/{number}\x1b[2J",),
            )
        (note,) = notes(connection)
    assert note.startswith("7 files could not be read, and may be missing here: /x/0␛[2J (Perm")
    assert note.endswith(", 2 more")


def test_a_filter_that_matches_nothing_names_what_there_is(tmp_path: Path) -> None:
    call = {"at": AT, "model": "m1", "project": "/work/app", "estimated_nano": 0}
    with ledger(tmp_path, call) as connection:
        assert notes(connection, project="nowhere") == (
            "no project is or ends in 'nowhere'; projects: /work/app",
        )
        assert notes(connection, model="m") == ("no model is named 'm'; models: m1",)
        assert notes(connection, project="app", model="m1") == ()


def test_what_an_agent_does_not_report_is_noted_where_it_has_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def history(name: str) -> History:
        note = f"the cost of {name} is never written down"
        return History(agent=name, places=(), recognises=lambda _: False, notes=(note,))

    monkeypatch.setattr(agents, "history", history)
    calls = [{"at": AT, "agent": name, "estimated_nano": 0} for name in ("kimi", "droid")]
    with ledger(tmp_path, *calls) as connection:
        assert notes(connection, agent="kimi") == ("kimi: the cost of kimi is never written down",)
        assert len(notes(connection)) == 2


def test_an_agent_without_a_history_has_no_notes(tmp_path: Path) -> None:
    call = {"at": AT, "agent": "unheard of", "estimated_nano": 0}
    with ledger(tmp_path, call) as connection:
        assert notes(connection) == ()
