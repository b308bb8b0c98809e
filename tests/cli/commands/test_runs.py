"""`rook runs` as a user calls it: columns, filters, the last line, JSON."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.cli.desk import Desk
from tests.store.samples import INFO, VERDICT

from nightrook.store.run_folder import create_run

KEYS = {"cwd", "model", "tokens", "session", "exit_code", "files"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def fill(desk: Desk, count: int, **verdict: object) -> None:
    """Make runs that have ended."""
    for number in range(count):
        info = msgspec.structs.replace(INFO, started_at=1000.0 + number, recorder_pid=None)
        folder = create_run(desk.home / "runs-home", msgspec.structs.replace(info, runner_pid=None))
        folder.write_verdict(msgspec.structs.replace(VERDICT, **verdict))


def test_a_list_ends_with_the_total_and_how_many_more_there_are(desk: Desk) -> None:
    fill(desk, 30)
    lines = desk.rook("runs").stdout.splitlines()
    assert len(lines) == 1 + 20 + 1
    assert lines[-1] == "[rook] 20 runs · $2.5000 · 10 more: use --all or --limit N"
    assert desk.rook("runs", "--all").stdout.splitlines()[-1] == "[rook] 30 runs · $3.7500"
    assert len(desk.rook("runs", "--all", "--json").stdout.splitlines()) == 30


def test_a_total_says_what_is_unknown_or_estimated(desk: Desk) -> None:
    fill(desk, 1)
    fill(desk, 2, spent_usd=None, cost_source="unknown")
    fill(desk, 1, cost_source="estimated")
    fill(desk, 1, status="not_started", spent_usd=None, cost_source="unknown")
    last = desk.rook("runs").stdout.splitlines()[-1]
    assert last == "[rook] 5 runs · at least ~$0.2500 (2 runs reported no cost)"


def test_a_row_has_the_folder_and_the_model(desk: Desk) -> None:
    desk.rook("run", "Fix it")
    head, row, _ = desk.rook("runs").stdout.splitlines()
    assert " ".join(head.split()) == "RUN WHEN AGENT MODEL STATUS TIME COST FOLDER WHAT"
    assert " ~/project " in row
    assert "claude-" in row[head.index("MODEL") : head.index("STATUS")]


def test_a_narrow_terminal_does_without_folder_and_model(desk: Desk) -> None:
    fill(desk, 1, model="claude-sonnet-4-5-20250929")
    _, shown = desk.on_terminal("runs", TERM="xterm")
    assert "FOLDER" not in shown
    assert "WHAT" in shown
    assert max(map(len, desk.on_terminal("runs", TERM="xterm", NO_COLOR="1")[1].split("\n"))) <= 80


def test_filters_choose_the_runs(desk: Desk) -> None:
    fill(desk, 3)
    desk.rook("run", "Fix it")
    named = [run["what"] for run in rows(desk, "--cwd", ".")]
    assert named == [run["what"] for run in rows(desk, "--since", "1h")] == ["Fix it"]
    assert len(rows(desk, "--status", "denied", "--agent", "claude")) == 3
    nothing = desk.rook("runs", "--agent", "codex")
    assert nothing.stdout == "No runs match. See all of them with:  rook runs --all\n"
    assert "Did you mean 'denied'?" in desk.rook("runs", "--status", "denyed").stderr


def rows(desk: Desk, *words: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in desk.rook("runs", "--json", *words).stdout.splitlines()]


def test_json_of_runs_loops_and_a_run_has_the_same_keys(desk: Desk) -> None:
    told = json.loads(desk.rook("run", "--json", "Fix it").stdout)
    (listed,) = rows(desk)
    assert told.keys() >= KEYS
    assert {key: told[key] for key in KEYS} == {key: listed[key] for key in KEYS}
    assert (told["cwd"], told["exit_code"]) == (str(desk.project), 0)
    assert told["tokens"]["input"] > 0
    assert told["session"]
    desk.rook("loop", "Fix it", "--until", "Done.")
    loop = json.loads(desk.rook("loops", "--json").stdout)
    assert (loop["cwd"], loop["exit_code"]) == (str(desk.project), 0)
    assert {key: loop[key] for key in ("model", "tokens", "files")} == {
        key: told[key] for key in ("model", "tokens", "files")
    }
    assert loop["session"]
