"""Whatever happens to files between two imports, each call is counted, and once."""

import builtins
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from nightrook import agents
from nightrook.adapter.history import History
from nightrook.agents.claude.calls import COUNTING
from nightrook.archive import importer
from nightrook.archive.importer import Problem, bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from nightrook.model.snapshot import TokenCounts
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo
from tests.archive.homes import AT, Home, message
from tests.archive.ledger.samples import totals
from tests.archive.reports import calls_by


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return Home(tmp_path)


def test_only_what_was_appended_is_read(home: Home) -> None:
    file = home.write(message(1) + message(2))
    first = home.import_all()
    assert (first.files, first.read, first.bytes, first.calls) == (1, 1, file.stat().st_size, 2)
    home.append(message(3))
    second = home.import_all()
    assert (second.bytes, second.calls) == (len(message(3).encode()), 1)
    assert home.totals() == (3, 15)


def test_a_file_that_has_not_changed_is_not_opened(home: Home) -> None:
    file = home.write(message(1))
    os.utime(file, (AT, AT))
    home.import_all()
    file.chmod(0)  # also for root, who may open anything: it would count as read
    assert home.import_all().read == 0


def test_half_a_line_is_read_when_it_is_whole(home: Home) -> None:
    line = message(2)
    home.write(message(1) + line[:200])
    home.import_all()
    assert home.totals() == (1, 5)
    home.append(line[200:])
    home.import_all()
    assert home.totals() == (2, 10)


def test_a_whole_last_line_counts_without_its_newline(home: Home) -> None:
    home.write(message(1) + message(2).rstrip("\n"))
    home.import_all()
    assert home.totals() == (2, 10)
    home.append("\n" + message(3))
    home.import_all()
    assert home.totals() == (3, 15)


def test_a_line_without_a_time_has_that_of_a_line_that_was_skipped(home: Home) -> None:
    asked = f'{{"message":{{"role":"user"}},"timestamp":{AT + 86_400}}}\n'
    late = '"timestamp":' + str(AT + 2)
    without_time = message(2).replace(late, '"note":0')
    home.write(message(1) + asked)
    home.import_all()
    home.append(without_time.rstrip("\n"))  # the end of the file may lack its newline
    for following in ("\n", message(3)):
        home.import_all()
        with Ledger.open(home.ledger) as ledger:
            times = [row[0] for row in ledger.connection.execute("SELECT at FROM calls ORDER BY 1")]
        assert times[-1] == (AT + 86_400) * 1000
        home.append(following)


def test_a_damaged_document_is_reported_until_it_is_whole(home: Home) -> None:
    chat = home.path / ".gemini" / "tmp" / "app" / "chats" / "session-1.json"
    chat.parent.mkdir(parents=True)
    tokens = '{"input":5,"output":7}'
    said = f'{{"id":"m1","type":"gemini","timestamp":"2026-11-02","tokens":{tokens}}}'
    whole = f'{{"sessionId":"g","messages":[{said}]}}'
    chat.write_text(whole[:-2])
    (problem,) = bring_up_to_date(home.ledger, (home.path,), names=("gemini",)).problems
    assert problem == Problem(str(chat), "it is damaged, or not completely written")
    chat.write_text(whole)
    assert bring_up_to_date(home.ledger, (home.path,), names=("gemini",)).problems == []
    assert home.totals() == (1, 7)


def test_a_line_without_a_newline_is_not_remembered_by_a_batch_that_ends_with_it(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_MOST_LINES", 0)
    unnamed = json.loads(message(1))
    del unnamed["message"]["id"]
    line = json.dumps(unnamed)
    home.write(f"{line}\n{line}")
    home.import_all()
    home.append("\n" + line)
    home.import_all()
    assert home.totals() == (3, 15)


def test_a_sum_that_grows_has_the_time_of_its_latest_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    path = tmp_path / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    path.parent.mkdir(parents=True)
    ledger = tmp_path / "nightrook" / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute(
            "CREATE TABLE sessions (id, working_dir, updated_at, model_config_json,"
            " accumulated_input_tokens, accumulated_output_tokens)"
        )
        store.execute("INSERT INTO sessions VALUES ('g', '/app', '2026-11-02 12:00', NULL, 10, 1)")
        bring_up_to_date(ledger, (tmp_path,), names=("goose",))
        assert calls_by(ledger, "day") == {"2026-11-02": 1}
        store.execute(
            "UPDATE sessions SET updated_at = '2026-11-04 12:00', accumulated_output_tokens = 5"
        )
    bring_up_to_date(ledger, (tmp_path,), names=("goose",))
    assert calls_by(ledger, "day") == {"2026-11-04": 1}


def test_what_was_counted_stays_when_its_file_is_deleted(home: Home) -> None:
    home.write(message(1)).unlink()
    home.write(message(2))
    home.import_all()
    before = home.report()
    home.file().unlink()
    home.import_all()
    assert home.report() == before
    with Ledger.open(home.ledger) as ledger:
        assert [source.state for source in ledger.sources().values()] == ["gone"]


def test_a_rewritten_file_adds_what_is_new(home: Home) -> None:
    home.write(message(1) + message(2))
    home.import_all()
    home.write(message(9, 7) + message(2))  # as long as before
    home.import_all()
    assert home.totals() == (3, 17)


def test_a_file_that_was_cut_is_read_again(home: Home) -> None:
    home.write(message(1) + message(2) + message(3))
    home.import_all()
    home.write(message(4))
    home.import_all()
    assert home.totals() == (4, 20)


def test_a_file_that_is_replaced_by_a_longer_one_is_read_from_its_start(home: Home) -> None:
    home.write(message(1))
    home.import_all()
    new = home.project / "new"
    new.write_text(message(2) + message(3))
    new.rename(home.file())
    home.import_all()
    assert home.totals() == (3, 15)


def test_a_renamed_file_counts_nothing_twice(home: Home) -> None:
    home.write(message(1) + message(2))
    home.import_all()
    before = home.report()
    home.file().rename(home.file("other"))
    home.import_all()
    assert home.report() == before


def test_a_copied_home_adds_only_what_is_new_there(home: Home, tmp_path: Path) -> None:
    home.write(message(1) + message(2))
    other = Home(tmp_path / "old")
    other.write(message(2) + message(3))
    bring_up_to_date(home.ledger, (home.path, other.path), names=("claude",))
    assert home.totals() == (3, 15)


def test_a_variable_that_moves_a_store_is_followed(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.path.joinpath(".claude").rename(tmp_path / "moved")
    (tmp_path / "moved" / "projects" / "-home-me-app" / "s.jsonl").write_text(message(1))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    home.import_all()
    assert home.totals() == (1, 5)


def test_a_variable_may_name_several_folders(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / name for name in ("work", "private", "a,b")]
    for number, folder in enumerate(folders):
        (folder / "projects" / "-app").mkdir(parents=True)
        (folder / "projects" / "-app" / "s.jsonl").write_text(message(number))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", f"{folders[0]}, {folders[1]},")
    home.import_all()
    assert home.totals() == (2, 10)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folders[2]))
    home.import_all()
    assert home.totals() == (3, 15)


def test_links_that_lead_in_circles_end(home: Home, tmp_path: Path) -> None:
    home.write(message(1))
    (home.project / "up").symlink_to(home.project.parent)
    (home.project / "above").symlink_to(tmp_path)
    (home.project / "self").symlink_to("self")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "t.jsonl").write_text(message(2))
    (elsewhere / "back").symlink_to(elsewhere)
    (home.project.parent / "linked").symlink_to(elsewhere)
    assert home.import_all().files == 2
    assert home.totals() == (2, 10)


def test_what_cannot_be_read_is_reported_and_the_rest_imported(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write(message(1))
    file = str(home.write(message(2), "closed"))
    folder = home.project.parent / "folder"
    folder.mkdir()
    (folder / "t.jsonl").write_text(message(3))
    with monkeypatch.context() as patched:  # root could read what has no permissions
        _close(patched, "open", file)
        _close(patched, "scandir", str(folder))
        problems = home.import_all().problems
    expected = [Problem(path, "Permission denied") for path in (file, str(folder))]
    assert sorted(problems, key=str) == sorted(expected, key=str)
    assert home.totals() == (1, 5)
    assert home.import_all().problems == []
    assert home.totals() == (3, 15)


def test_what_cannot_be_read_in_a_named_folder_is_noted_until_the_next_report(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = tmp_path / "named"
    (named / "closed").mkdir(parents=True)
    (named / "read.jsonl").write_text(message(1))
    closed = named / "closed.jsonl"
    closed.write_text(message(2))
    with monkeypatch.context() as patched:
        _close(patched, "scandir", str(named / "closed"))
        _close(patched, "open", str(closed), builtins)
        found = bring_up_to_date(home.ledger, (), paths=[named])
    expected = {str(named / "closed"), str(closed)}
    assert {problem.path for problem in found.problems} == expected
    assert home.totals() == (1, 5)
    with Ledger.open(home.ledger) as ledger:
        assert len([s for s in ledger.sources().values() if s.problem]) == 2
    bring_up_to_date(home.ledger, (), paths=[named])
    home.import_all()
    assert home.totals() == (2, 10)
    with Ledger.open(home.ledger) as ledger:
        assert not ledger.has_unreadable()


def test_a_file_that_was_read_as_another_agent_s_is_read_from_its_start(home: Home) -> None:
    home.write(message(1))
    home.import_all()
    with Ledger.open(home.ledger) as ledger:
        ledger.connection.execute("UPDATE sources SET agent = 'gemini'")
        ledger.connection.execute("DELETE FROM calls")
    home.append(message(2))
    assert home.import_all().calls == 2


def _close(
    monkeypatch: pytest.MonkeyPatch, function: str, path: str, module: ModuleType = os
) -> None:
    """Let a function of the system refuse one path."""
    real = getattr(module, function)

    def refuse(given: object, *rest: object, **named: object) -> object:
        if given == path:
            raise PermissionError(13, "Permission denied", path)
        return real(given, *rest, **named)

    monkeypatch.setattr(module, function, refuse)


def test_a_pipe_in_place_of_a_file_does_not_block(home: Home) -> None:
    os.mkfifo(home.file("pipe"))
    home.write(message(1))
    home.import_all()
    assert home.totals() == (1, 5)


def test_damaged_lines_lose_only_themselves(home: Home) -> None:
    lines = message(1).encode() + b'{"usage": \xff\xfe\n\0\0\0"usage"\n' + message(2).encode()
    home.file().write_bytes(lines)
    assert home.import_all().problems == []
    assert home.totals() == (2, 10)


def test_nothing_in_an_agent_s_folder_changes(home: Home) -> None:
    home.write(message(1) + message(2)[:50])
    before = home.state()
    home.import_all()
    home.import_all()
    assert home.state() == before


@pytest.mark.linux("O_NOATIME")
def test_reading_a_file_leaves_no_trace(home: Home) -> None:
    os.utime(home.write(message(1)), (1, AT))
    assert home.import_all().calls == 1
    assert home.file().stat().st_atime == 1


def test_a_long_file_is_written_in_several_transactions(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_MOST_LINES", 100)
    home.write("".join(message(number) for number in range(3000)))
    home.import_all()
    assert home.totals() == (3000, 15_000)


def test_a_reader_that_fails_is_reported(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(lines: object, memory: object) -> tuple[()]:
        raise ZeroDivisionError

    claude = agents.history("claude")
    reader = msgspec.structs.replace(COUNTING, findings=fail)
    broken = msgspec.structs.replace(claude, stored=lambda: reader)
    monkeypatch.setattr(agents, "history", lambda name: broken)
    home.write(message(1))
    (problem,) = home.import_all().problems
    assert "its reader failed" in problem.reason


def test_a_history_that_cannot_be_loaded_is_reported_and_the_others_imported(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude = agents.history("claude")

    def load(name: str) -> History:
        if name == "broken":
            raise ImportError("no module")
        return claude

    monkeypatch.setattr("nightrook.archive.importer.history_names", lambda: ("broken", "claude"))
    monkeypatch.setattr(agents, "history", load)
    home.write(message(1))
    (problem,) = bring_up_to_date(home.ledger, (home.path,)).problems
    assert (problem.path, "no module" in problem.reason) == ("broken", True)
    assert home.totals() == (1, 5)


def test_a_run_of_rook_and_its_transcript_are_one(home: Home) -> None:
    home.write(message(1))
    info = RunInfo(agent="claude", command=["claude"], cwd="/home/me/app", started_at=AT)
    folder = create_run(home.ledger.parent, info)
    verdict = VerdictInfo(
        status="success",
        sentence="done",
        exit_code=0,
        ended_at=AT + 9,
        cost_usd=1.0,
        spent_usd=1.0,
        cost_source="native",
        session="s",
        tokens=TokenCounts(input=10, output=9, cache_read=0, cache_write=0),
    )
    folder.write_verdict(verdict)
    home.import_all()
    assert home.totals() == (1, 9)
    with Ledger.open(home.ledger) as ledger:
        assert totals(ledger)[5:7] == (1_000_000_000, 0)


def test_a_run_that_cannot_be_read_is_reported(home: Home) -> None:
    info = RunInfo(agent="claude", command=["claude"], cwd="/home/me/app", started_at=AT)
    folder = create_run(home.ledger.parent, info)
    verdict = VerdictInfo(status="success", sentence="done", exit_code=0, ended_at=AT + 9)
    folder.write_verdict(verdict)
    (file,) = (home.ledger.parent / "runs").glob("*/run.json")
    file.write_text("{")
    home.write(message(1))
    (problem,) = home.import_all().problems
    assert problem.path == str(home.ledger.parent / "runs")
    assert problem.reason.startswith(f"{file}: ")
    assert home.totals() == (1, 5)
