"""`rook runs --sessions`: runs, loops and sessions in one list; without it nothing changes."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.archive.report.ledgers import ledger
from tests.cli.desk import Desk

SESSIONS: list[dict[str, Any]] = [
    {
        "at": "2020-11-02T10:00Z",
        "session": "11111111-aaaa",
        "title": "Fix \x1b[2Jthe tests",
        "project": "/srv/app",
        "model": "opus",
        "native_nano": 10**9,
        "input": 1,
    },
    {"at": "2020-11-02T11:00Z", "session": "11111111-aaaa", "native_nano": 10**9, "input": 1},
    {
        "at": "2020-11-02T12:00Z",
        "session": "child",
        "parent": "11111111-aaaa",
        "estimated_nano": 5 * 10**8,
        "input": 1,
    },
    {"at": "2020-11-02T13:00Z", "session": "of a run", "run": "k7f3", "native_nano": 7, "input": 1},
    {"at": "2020-11-03T10:00Z", "agent": "codex", "session": "22222222-bbbb", "input": 5},
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    with ledger(made.home / "runs-home", *SESSIONS):
        pass
    return made


def rows(desk: Desk, *words: str) -> list[dict[str, Any]]:
    lines = desk.rook("runs", "--sessions", "--json", *words).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_sessions_are_listed_beside_runs_and_loops(desk: Desk) -> None:
    desk.rook("loop", "Fix it", "--until", "Done.")
    lines = [" ".join(line.split()) for line in desk.rook("runs", "--sessions").stdout.splitlines()]
    assert lines[0] == "KIND NAME WHEN AGENT MODEL STATUS TIME COST SIZE FOLDER WHAT"
    kinds = [line.split()[0] for line in lines[1:-1]]
    assert sorted(kinds[:2]) == ["loop", "run"]
    assert kinds[2:] == ["session", "session"]
    assert " codex " in lines[3]
    assert lines[3].endswith(" $?")
    assert lines[4].startswith("session 11111111 ")
    assert lines[4].endswith(" 2h 00m ~$2.5000 /srv/app Fix ␛[2Jthe tests")
    assert "2 sessions" in lines[-1]
    assert "(1 row reported no cost)" in lines[-1]


def test_without_the_option_only_runs_are_listed(desk: Desk) -> None:
    assert desk.rook("runs").stdout.startswith("There are no runs yet.")
    assert desk.rook("runs", "--json").stdout == ""


def test_json_says_what_each_is(desk: Desk) -> None:
    desk.rook("loop", "Fix it", "--until", "Done.")
    every = rows(desk)
    assert sorted(row["kind"] for row in every) == ["loop", "run", "session", "session"]
    session = next(row for row in every if row.get("session") == "11111111-aaaa")
    assert session["used"]["calls"] == 3
    assert session["used"]["cost_usd"] == {"native": 2.0, "estimated": 0.5}


def test_filters_and_the_limit_apply_to_sessions(desk: Desk) -> None:
    assert [row["session"] for row in rows(desk, "--agent", "codex")] == ["22222222-bbbb"]
    assert [row["session"] for row in rows(desk, "--cwd", "/srv")] == ["11111111-aaaa"]
    assert len(rows(desk, "--limit", "1")) == 1
    assert rows(desk, "--status", "success") == []
    assert "1 more: use --all" in desk.rook("runs", "--sessions", "-n", "1").stdout
    nothing = desk.rook("runs", "--sessions", "--agent", "amp").stdout
    assert nothing == "No runs, loops or sessions match. See all:  rook runs --sessions --all\n"
