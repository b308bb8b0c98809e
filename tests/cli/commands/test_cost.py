"""`rook cost` as a user calls it: the table, JSON, CSV, a page, limits, --check, errors."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from tests.archive.report.ledgers import ledger, ms
from tests.cli.desk import Desk

from nightrook.cli.main import cli

AT = "2026-11-02T10:00Z"
HOSTILE = "\x1b[2J<script>\u202e"
CALLS: list[dict[str, Any]] = [
    {"at": AT, "model": "opus", "input": 1000, "output": 200, "native_nano": 2 * 10**9},
    {"at": "2026-11-03T23:30Z", "model": "mine", "input": 31_000, "project": f"/srv/{HOSTILE}"},
    {"at": "2026-11-03T23:30Z", "agent": "codex", "output": 5, "estimated_nano": 10**9},
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def fill(desk: Desk, *calls: dict[str, Any]) -> None:
    with ledger(desk.home / "runs-home", *calls):
        pass


def test_a_report_is_printed_as_a_table(desk: Desk) -> None:
    fill(desk, *CALLS)
    out = desk.rook("cost", TZ="UTC")
    assert (out.returncode, out.stderr) == (0, "")
    head, first, second, total, spent, *notes = out.stdout.splitlines()
    assert head.split() == ["DAY", "INPUT", "OUTPUT", "CALLS", "UNPRICED", "COST"]
    assert first.split() == ["2026-11-02", "1.0k", "200", "1", "0", "$2.00", "█" * 20]
    assert second.split() == ["2026-11-03", "31.0k", "5", "2", "31.0k", "~$1.00", "▒" * 10]
    assert total.split() == ["TOTAL", "32.0k", "205", "3", "31.0k", "~$3.00"]
    assert spent == (
        "[rook] $2.00 reported by agents · ~$1.00 estimated at list prices · "
        "31.0k tokens without a price"
    )
    assert notes[0].startswith("[rook] no price is known for mine (31,000 tokens); set one in ")


def test_json_has_the_promised_shape_and_exact_figures(desk: Desk) -> None:
    fill(desk, *CALLS)
    words = ("--json", "--by", "day,model", "--timezone", "Europe/Berlin")
    shown = json.loads(desk.rook("cost", *words).stdout)
    assert shown.keys() == {"timezone", "by", "total", "rows", "notes"}
    assert (shown["timezone"], shown["by"]) == ("Europe/Berlin", ["day", "model"])
    nothing = {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0}
    assert shown["rows"][1] == {
        "day": "2026-11-04",
        "model": None,
        "tokens": {**nothing, "output": 5},
        "cost_usd": {"native": 0.0, "estimated": 1.0},
        "unpriced_tokens": 0,
        "calls": 1,
    }
    assert shown["total"] == {
        "tokens": {**nothing, "input": 32_000, "output": 205},
        "cost_usd": {"native": 2.0, "estimated": 1.0},
        "unpriced_tokens": 31_000,
        "calls": 3,
    }


def test_csv_has_the_rows_and_notes_go_to_stderr(desk: Desk) -> None:
    fill(desk, *CALLS)
    out = desk.rook("cost", "--csv", "--by", "agent")
    assert out.stdout.splitlines()[1:] == [
        "someone,32000,200,0,0,2.000000000,0.000000000,31000,2",
        "codex,0,5,0,0,0.000000000,1.000000000,0,1",
    ]
    assert out.stderr.startswith("[rook] no price is known for mine")


def test_check_exits_with_1_when_the_total_is_over(desk: Desk) -> None:
    fill(desk, *CALLS)
    assert desk.rook("cost", "--check", "3").returncode == 0
    over = desk.rook("cost", "--check", "2.99", "--json")
    assert (over.returncode, over.stderr) == (
        1,
        "[rook] over the limit of --check: ~$3.00 of $2.99\n",
    )
    assert json.loads(over.stdout)["total"]["calls"] == 3
    assert desk.rook("cost", "--check", "2", "--agent", "someone").returncode == 0


def test_a_page_is_written_without_anything_that_an_agent_named(desk: Desk) -> None:
    fill(desk, *CALLS)
    out = desk.rook("cost", "--by", "project", "--html", "cost.html")
    assert (out.returncode, out.stdout, out.stderr) == (0, "", "[rook] wrote cost.html\n")
    page = (desk.project / "cost.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "<script>" not in page
    assert "\x1b" not in page
    refused = desk.rook("cost", "--html", "no/such/cost.html")
    assert refused.returncode == 1
    assert "cannot write no/such/cost.html: No such file or directory" in refused.stderr


def test_a_page_has_no_secrets(desk: Desk) -> None:
    fill(desk, {"at": AT, "input": 1, "branch": "with-hunter2-hunter2-hunter2"})
    words = ("cost", "--by", "branch", "--html", "cost.html")
    desk.rook(*words, MY_API_KEY="hunter2-hunter2-hunter2")
    assert "hunter2" not in (desk.project / "cost.html").read_text(encoding="utf-8")


def test_what_an_agent_named_is_safe_on_a_terminal(desk: Desk) -> None:
    fill(desk, *CALLS)
    _, shown = desk.on_terminal("cost", "--by", "project,model", NO_COLOR="1", TERM="xterm")
    assert "\x1b[2J" not in shown
    assert "\u202e" not in shown
    assert "␛[2J<scr" in shown
    assert max(map(len, shown.splitlines())) <= 90  # the columns of the terminal


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--by", "modle"), "--by takes words out of hour, day, "),
        (("--by", "modle"), "did you mean model?"),
        (("--timezone", "Europe/Berlim"), "did you mean Europe/Berlin?"),
        (("--since", "soon"), "--since takes a time such as 7d, today, "),
        (("--since", "1d", "--until", "2d"), "--since takes a time before until (2d)"),
        (("--agent", "cluade"), "did you mean claude?"),
        (("--check", "much"), "'much' is not a number of dollars"),
        (("--csv", "--json"), "--csv and --json can't be combined"),
        (("--limits", "--csv"), "--limits can't be combined with"),
    ],
)
def test_a_mistake_is_answered_with_the_way_out(
    desk: Desk, words: tuple[str, ...], message: str
) -> None:
    out = desk.rook("cost", *words)
    assert (out.returncode, out.stdout) == (2, "")
    assert message in out.stderr


def test_without_any_calls_the_report_says_where_they_would_come_from(desk: Desk) -> None:
    out = desk.rook("cost", "--project", "nowhere")
    assert out.returncode == 0
    assert "no project is or ends in 'nowhere'; projects: none" in out.stdout
    assert "no calls match" in out.stdout


def test_limits_show_what_is_left(desk: Desk) -> None:
    assert "No agent has reported" in desk.rook("cost", "--limits").stdout
    with ledger(desk.home / "runs-home") as connection:
        connection.executemany(
            "INSERT INTO limits (agent, window, plan, at, used, resets_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                ("codex", "five_hour", "pro", ms(AT), 0.85, ms("9000-01-01T00:00Z")),
                ("codex", "weekly", "pro", ms(AT), 0.5, ms("1999-01-01T00:00Z")),
                ("claude", f"mine{HOSTILE}", "", ms(AT), None, None),
            ],
        )
    shown = desk.rook("cost", "--limits", "--agent", "codex").stdout
    head, five, week = (" ".join(line.split()) for line in shown.splitlines())
    assert head == "AGENT PLAN WINDOW USED LEFT RESETS REPORTED"
    assert five.startswith("codex pro 5 hours 85 % 15 % in ")
    assert week.startswith("codex pro week 0 % 100 % ? ")  # it was reset since
    assert "\x1b" not in desk.rook("cost", "--limits").stdout
    limits = json.loads(desk.rook("cost", "--limits", "--json").stdout)["limits"]
    assert [limit["left"] for limit in limits] == [None, 0.15, 1.0]


def test_a_second_report_imports_neither_rich_nor_prices(desk: Desk) -> None:
    fill(desk, *CALLS)
    script = "import sys; from nightrook.cli.main import cli; cli(standalone_mode=False)"
    code = f"{script}; print(*sys.modules, file=sys.stderr)"
    for words in (("--by", "day,model"), ("--json", "--since", "7d")):
        out = subprocess.run(
            [sys.executable, "-c", code, "cost", *words],
            env=desk.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        heavy = {"rich", "genai_prices", "asyncio", "zoneinfo", "html"}
        assert not heavy & set(out.stderr.split())


def test_a_run_and_a_loop_are_reported_by_name(desk: Desk) -> None:
    run = json.loads(desk.rook("run", "--json", "Fix it").stdout)
    desk.rook("loop", "Fix it", "--until", "Done.")
    rows = json.loads(desk.rook("cost", "--json", "--by", "run,loop").stdout)["rows"]
    alone = next(row for row in rows if row["run"] == run["run"])
    assert alone["loop"] is None
    assert alone["cost_usd"]["native"] == run["spent_usd"]
    assert [row["loop"][:5] for row in rows if row["loop"]] == ["loop-"]


def test_every_example_of_the_help_is_a_command_that_works(desk: Desk) -> None:
    fill(desk, *CALLS)
    command = cli.get_command(click.Context(cli), "cost")
    assert command is not None
    examples = [line for line in (command.epilog or "").splitlines() if "rook cost" in line]
    assert len(examples) == 8
    for example in examples:
        words = example.replace("|", " | ").split(" | ")[0].split("||")[0].split()
        assert desk.rook(*words[1:]).returncode in (0, 1), example


def test_keys_and_agents_are_completed(desk: Desk) -> None:
    def completed(words: str) -> list[str]:
        count = len(words.split(" ")) - 1
        asked = {"_ROOK_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(count)}
        lines = desk.rook(**asked).stdout.splitlines()
        return [line.partition(",")[2] for line in lines]

    assert completed("rook cost --by mo") == ["month", "model"]
    assert completed("rook cost --by day,mo") == ["day,month", "day,model"]
    assert completed("rook cost --by model,mo") == ["model,month"]
    assert completed("rook cost --agent dr") == ["droid"]
