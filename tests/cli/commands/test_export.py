"""`rook export`: what each format has, what is redacted, and what is refused."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from pyarrow import parquet
from tests.cli.desk import Desk

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "claude" / "transcripts"
SECRET = "sk-ant-api03-" + "A1b2C3d4" * 11 + "AA"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    for case in ("s08c_subagent_background-2.1.325", "s05_permission_denied-2.1.325"):
        shutil.copytree(TRANSCRIPTS / case, made.home, dirs_exist_ok=True)
    return made


def lines(output: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in output.split("\n")[:-1]]


def test_events_have_whole_texts_and_their_place(desk: Desk) -> None:
    rows = lines(desk.rook("export", "--jsonl", "-").stdout)
    assert {row["kind"] for row in rows} == {"prompt", "answer", "command", "path", "output"}
    assert {row["session"] for row in rows} == {
        "5a035b45-e8d1-4713-8f00-0412774e642d",
        "f3242285-d9a7-49d4-99ed-24d165710a72",
    }
    for row in rows:
        assert Path(str(row["source"])).read_bytes()[int(str(row["position"])) :][:1] == b"{"


def test_filters_choose_rows(desk: Desk) -> None:
    commands = lines(desk.rook("export", "--kind", "command", "--jsonl", "-").stdout)
    assert {row["text"] for row in commands} == {"touch created.txt", "sleep 1; echo from-sub"}
    denied = lines(desk.rook("export", "--status", "denied", "--jsonl", "-").stdout)
    assert {row["tool"] for row in denied} == {"Bash", "Write"}
    assert desk.rook("export", "--agent", "codex", "--jsonl", "-").stdout == ""
    assert desk.rook("export", "calls", "--since", "2026-11-16", "--jsonl", "-").stdout == ""


def test_calls_are_counted_once_in_every_format(desk: Desk, tmp_path: Path) -> None:
    as_lines = lines(desk.rook("export", "calls", "--jsonl", "-").stdout)
    as_csv = list(csv.DictReader(io.StringIO(desk.rook("export", "calls", "--csv", "-").stdout)))
    file = tmp_path / "calls.parquet"
    said = desk.rook("export", "calls", "--parquet", str(file)).stderr
    assert said == f"[rook] {len(as_lines)} rows written to {file}\n"
    as_table = parquet.read_table(file).to_pylist()
    assert as_table == as_lines
    assert [row["model"] for row in as_csv] == [row["model"] for row in as_lines]
    assert sum(int(str(row["output"])) for row in as_lines) == 264
    total = json.loads(desk.rook("cost", "--json").stdout)["total"]
    assert total["calls"] == len(as_lines) == 9
    assert total["tokens"]["output"] == 264


def test_sessions_have_titles_and_sums(desk: Desk) -> None:
    rows = lines(desk.rook("export", "sessions", "--jsonl", "-").stdout)
    assert [(row["title"], row["calls"]) for row in rows] == [
        ("delegate in background", 6),
        ("make files", 3),
    ]


def test_secrets_are_redacted_unless_raw(desk: Desk) -> None:
    file = next(desk.home.rglob("f3242285*.jsonl"))
    file.write_bytes(file.read_bytes().replace(b"I could not.", f"key {SECRET}".encode()))
    for flag in ("--jsonl", "--csv"):
        assert SECRET not in desk.rook("export", flag, "-").stdout
        assert SECRET in desk.rook("export", "--raw", flag, "-").stdout


def test_no_cell_is_a_formula(desk: Desk) -> None:
    file = next(desk.home.rglob("f3242285*.jsonl"))
    file.write_bytes(file.read_bytes().replace(b"I could not.", b"=HYPERLINK(1)"))
    texts = [
        row["text"] for row in csv.DictReader(io.StringIO(desk.rook("export", "--csv", "-").stdout))
    ]
    assert "'=HYPERLINK(1)" in texts


def test_what_cannot_be_written_is_refused(desk: Desk, tmp_path: Path) -> None:
    assert "name one of --jsonl" in desk.rook("export").stderr
    both = desk.rook("export", "--jsonl", "-", "--csv", "-")
    assert (both.returncode, "name one of" in both.stderr) == (2, True)
    assert "is a folder" in desk.rook("export", "--csv", str(tmp_path)).stderr
    missing = desk.rook("export", "--csv", str(tmp_path / "no" / "where.csv"))
    assert "can't be written" in missing.stderr


def test_names_of_folders_are_redacted_in_files_too(desk: Desk, tmp_path: Path) -> None:
    for file in desk.home.rglob("*.jsonl"):
        file.write_text(file.read_text().replace("/home/dev/project", f"/home/dev/{SECRET}"))
    out = tmp_path / "rows.jsonl"
    for what in ("events", "calls", "sessions"):
        desk.rook("export", what, "--jsonl", str(out))
        assert "/home/dev/[redacted" in out.read_text()
        assert SECRET not in out.read_text()
        desk.rook("export", what, "--raw", "--jsonl", str(out))
        assert SECRET in out.read_text()


def test_filters_that_would_be_ignored_and_unknown_agents_are_refused(desk: Desk) -> None:
    refused = desk.rook("export", "calls", "--kind", "prompt", "--tool", "Bash", "--jsonl", "-")
    assert refused.returncode == 2
    assert refused.stdout == ""
    assert "--kind, --tool: only events can be chosen by it, not calls" in refused.stderr
    for command in (("export", "--jsonl", "-"), ("search", "retry"), ("watch",)):
        unknown = desk.rook(*command, "--agent", "clude")
        assert unknown.returncode == 2
        assert "did you mean claude?" in unknown.stderr


def test_raw_copies_are_exported_once_their_files_are_gone(desk: Desk) -> None:
    pytest.importorskip("zstandard")
    before = lines(desk.rook("export", "--jsonl", "-").stdout)
    desk.rook("search", "background", ROOK_ARCHIVE_KEEP="raw")
    assert lines(desk.rook("export", "--jsonl", "-").stdout) == before
    shutil.rmtree(desk.home / ".claude")
    after = lines(desk.rook("export", "--jsonl", "-").stdout)
    assert all(str(row.pop("source")).endswith(".jsonl.zst") for row in after)
    for row in before:
        row.pop("source")
    assert sorted(after, key=str) == sorted(before, key=str)
