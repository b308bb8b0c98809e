"""`rook search` on a terminal, in a pipe and for programs."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nightrook.archive.search import indexing
from nightrook.cli.commands import search
from nightrook.cli.main import cli

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "claude" / "transcripts"
SECRET = "sk-ant-api03-" + "A1b2C3d4" * 11 + "AA"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for case in ("s08c_subagent_background-2.1.325", "s05_permission_denied-2.1.325"):
        shutil.copytree(TRANSCRIPTS / case, tmp_path / "home", dirs_exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "nightrook"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path / "home"


def rook(*words: str) -> Result:
    return CliRunner().invoke(cli, ["search", *words])


def test_a_session_is_shown_with_its_best_hit_and_how_to_resume_it(home: Path) -> None:
    result = rook("background")
    assert result.exit_code == 0
    first, hit, resume = result.stdout.split("\n")[:3]
    assert first.startswith("5a035b45  claude  ")
    assert first.endswith("/home/dev/project  +2")
    assert hit == "  prompt: delegate in background"
    assert resume == (
        "  cd /home/dev/project && claude --resume 5a035b45-e8d1-4713-8f00-0412774e642d"
    )
    assert result.stderr == "[rook] 3 hits; 1 session shown\n"


def test_every_hit_is_shown_on_request(home: Path) -> None:
    shown = rook("background", "--all").stdout
    assert shown.count("answer: ") == 2
    assert rook("touch", "--kind", "command", "--all").stdout.count("command of Bash: ") == 1


def test_programs_get_one_object(home: Path) -> None:
    found = json.loads(rook("background", "--json").stdout)
    assert (found["query"], found["total"]) == ("background", 3)
    keys = {"agent", "session", "project", "at", "kind", "excerpt", "source", "position", "resume"}
    assert all(keys <= hit.keys() for hit in found["hits"])


def test_nothing_found_exits_with_1_and_still_prints_the_object(home: Path) -> None:
    nothing = rook("zebra", "--json")
    assert nothing.exit_code == 1
    assert json.loads(nothing.stdout) == {"query": "zebra", "total": 0, "hits": []}
    assert rook("zebra").stderr == "[rook] nothing found\n"


def test_a_query_without_a_word_is_wrong_usage(home: Path) -> None:
    result = rook("--", "-only")
    assert result.exit_code == 2
    assert "nothing to look for" in result.stderr


def test_a_project_is_a_path_or_its_last_part(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rook("background", "--project", "project").exit_code == 0
    assert rook("background", "--project", "/home/dev/project").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert rook("background", "--project", ".").exit_code == 1


def test_a_period_leaves_out_what_is_outside(home: Path) -> None:
    assert rook("background", "--since", "2026-11-15", "--until", "2026-11-15").exit_code == 0
    assert rook("background", "--since", "2026-11-16").exit_code == 1
    assert rook("background", "--until", "2026-11-14").exit_code == 1
    assert rook("background", "--since", "whenever").exit_code == 2


def test_secrets_are_not_shown_even_where_an_excerpt_is_cut(home: Path) -> None:
    file = next(home.rglob("f3242285*.jsonl"))
    said = f"the key is {SECRET} and more"
    file.write_bytes(file.read_bytes().replace(b"I could not.", said.encode()))
    shown = rook("key", "--json")
    assert shown.exit_code == 0
    assert SECRET[:40] not in shown.stdout
    assert "the key is" in shown.stdout
    assert SECRET[20:40] not in rook("more").stdout


def test_hostile_text_reaches_no_terminal(home: Path) -> None:
    file = next(home.rglob("f3242285*.jsonl"))
    hostile = rb"I \u001b]0;owned\u0007 \u001b[2J could \u202e not."
    file.write_bytes(file.read_bytes().replace(b"I could not.", hostile))
    shown = rook("could", "--all")
    assert shown.exit_code == 0
    assert "could" in shown.stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.stdout)


@pytest.fixture
def commits(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the index be committed after every file."""
    monkeypatch.setattr(indexing, "_FIRST_COMMIT_S", 0)
    monkeypatch.setattr(indexing, "_COMMIT_S", 0)


@pytest.mark.usefixtures("commits")
def test_a_session_is_shown_once_while_the_index_is_made() -> None:
    lines = [line for line in rook("t*").stdout.splitlines() if " claude " in line[:20]]
    assert len(lines) == len({line[:8] for line in lines}) == 2


@pytest.mark.usefixtures("commits")
def test_what_is_found_early_is_shown_early(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    update = search.Results.update

    def noted(results: search.Results) -> None:
        update(results)
        found.append(results.total)

    monkeypatch.setattr(search.Results, "update", noted)
    assert rook("t*").stderr.endswith(
        "[rook] shown as they were indexed; search again: best first\n"
    )
    assert found == sorted(found)
    assert 0 < found[0] < found[-1]


@pytest.mark.usefixtures("commits")
def test_an_interrupt_shows_what_is_found_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*words: object, **options: object) -> Iterator[indexing.Progress]:
        for progress in indexing.fill(*words, **options):  # type: ignore[arg-type]
            yield progress
            raise KeyboardInterrupt

    monkeypatch.setattr(search, "fill", interrupted)
    result = rook("t*")
    assert result.exit_code == 0
    assert "files not indexed yet, the oldest ones: search again\n" in result.stderr


def test_another_process_that_indexes_is_not_waited_for(home: Path) -> None:
    rook("background")
    lock = Path(os.environ["ROOK_HOME"]) / indexing.LOCK
    with lock.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = rook("background")
    assert result.exit_code == 0
    assert "another process is indexing" in result.stderr


def test_bytes_that_are_not_text_are_looked_for_without_an_error(home: Path) -> None:
    for words in (
        ("caf\udcff",),
        ("background", "--tool", "\udcff"),
        ("background", "--project", "\udcff"),
        ("background", "--session", "\udcff"),
    ):
        assert isinstance(rook(*words).exception, SystemExit)
