"""`rook show SESSION`: a stored session as a page, HTML, Markdown and JSON."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nightrook.cli.main import cli

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "claude" / "transcripts"
SESSION = "5a035b45-e8d1-4713-8f00-0412774e642d"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    case = TRANSCRIPTS / "s08c_subagent_background-2.1.325"
    shutil.copytree(case, tmp_path / "home", dirs_exist_ok=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "nightrook"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path / "home"


def rook(*words: str) -> Result:
    return CliRunner().invoke(cli, ["show", *words])


def test_a_session_is_a_page_with_prompts_subagents_and_what_each_turn_used(home: Path) -> None:
    lines = rook("5a035b45").stdout.splitlines()
    assert lines[0].startswith(f"session {SESSION} · ")
    assert lines[2:] == [
        "[rook] claude 2.1.325 · /home/dev/project",
        "> delegate in background",
        "[claude] Agent: Bg                                               general-purpose",
        '[claude] │ "Subagent looks."',
        "[claude] │ Read: a.txt",
        "[claude] │ Bash: sleep 1; echo from-sub                                     1.7s",
        '[claude] │ "Subagent 1 report."',
        '[claude] "Launched in the background."',
        "[rook] turn 1: 14.9k tokens · ~$0.0105",
        '[claude] "Background agent reported back."',
        "[rook] turn 2: 3.7k tokens · ~$0.0020",
        "[rook] session: 2 turns · 18.7k tokens · ~$0.0125",
        "[rook] 1 subagent: Bg ~$0.0062",
        f"[rook] resume: cd /home/dev/project && claude --resume {SESSION}",
    ]


def test_full_shows_outputs_and_what_programs_wrote(home: Path) -> None:
    shown = rook(SESSION, "--full").stdout
    assert "    from-sub\n" in shown
    assert "> SUBMARK1 read a.txt\n" in shown
    assert "> <task-notification>\n" in shown


def test_programs_get_one_object_with_turns_and_steps(home: Path) -> None:
    made = json.loads(rook("5a035b45", "--json").stdout)
    assert (made["kind"], made["name"], made["status"]) == ("session", SESSION, "answered")
    assert made["turns"] == [
        {"turn": 1, "tokens": 14921, "cost_usd": 0.0104562, "cost_source": "estimated"},
        {"turn": 2, "tokens": 3739, "cost_usd": 0.0020472, "cost_source": "estimated"},
    ]
    assert made["tokens"] == sum(turn["tokens"] for turn in made["turns"])
    bash = next(step for step in made["steps"] if step["label"] == "Bash")
    assert (bash["depth"], bash["title"]) == (1, "sleep 1; echo from-sub")
    assert {"kind": "output", "text": "from-sub", "left_out": 0} in bash["blocks"]


def test_a_session_is_written_as_a_page_and_printed_as_markdown(home: Path) -> None:
    page = home.parent / "session.html"
    assert rook("5a035b45", "--html", str(page)).exit_code == 0
    text = page.read_text()
    assert f"rook session {SESSION}" in text
    assert "<b>Turn 2</b>" in text
    assert "~$0.0020" in text
    shown = rook("5a035b45", "--md").stdout
    assert shown.startswith(f"### rook session `{SESSION}`: answered\n")
    assert "**Turn 1** · `14.9k tokens` · `~$0.0105`" in shown


def test_formats_are_not_combined(home: Path) -> None:
    result = rook("5a035b45", "--md", "--json")
    assert result.exit_code == 2
    assert "can't be combined" in result.stderr


def test_an_unknown_name_says_where_to_look(home: Path) -> None:
    result = rook("nosuch")
    assert result.exit_code == 2
    assert "no run and no session is called 'nosuch'" in result.stderr
    assert rook("caf\udcff").exit_code == 2


def test_a_session_whose_files_are_gone_says_how_to_find_what_is_kept(home: Path) -> None:
    rook("5a035b45")
    shutil.rmtree(home / ".claude")
    result = rook("5a035b45")
    assert result.exit_code == 2
    assert "rook search --session 5a035b45 WORDS" in result.stderr


def test_a_raw_copy_is_shown_when_the_files_are_gone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("zstandard")
    monkeypatch.setenv("ROOK_ARCHIVE_KEEP", "raw")
    before = rook("5a035b45", "--full").stdout
    assert CliRunner().invoke(cli, ["search", "background"]).exit_code == 0
    shutil.rmtree(home / ".claude")
    assert rook("5a035b45", "--full").stdout == before
    assert CliRunner().invoke(cli, ["search", "background"]).exit_code == 0
