"""No secret of a session reaches what is printed or written: search, show and export."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.archive.secrets import PARTS, SECRETS
from tests.cli.sayings import say

from nightrook.cli.main import cli

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "claude" / "transcripts"
SESSION = "f3242285"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session that has every secret in a prompt, a command, an answer, an output."""
    home = tmp_path / "home"
    shutil.copytree(TRANSCRIPTS / "s05_permission_denied-2.1.325", home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "nightrook"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    say(
        next(home.rglob(f"{SESSION}*.jsonl")),
        (f"marked before {each} behind" for each in SECRETS.values()),
    )
    return home


def rook(*words: str) -> str:
    result = CliRunner().invoke(cli, [*words])
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.stdout


def leaked(text: str) -> list[str]:
    return [part for part in PARTS if part[:16] in text]


def test_there_are_forty_kinds() -> None:
    assert len(SECRETS) >= 40


def test_the_secrets_are_in_the_session(home: Path) -> None:
    file = next(home.rglob(f"{SESSION}*.jsonl"))
    assert len(leaked(file.read_text(encoding="utf-8"))) == len(PARTS)


def test_no_secret_is_found(home: Path) -> None:
    for words in (("--all",), ("--json", "--limit", "1000"), ()):
        shown = rook("search", "marked", "--limit", "1000", *words)
        assert "before" in shown
        assert leaked(shown) == []
    assert leaked(rook("search", '"' + next(iter(SECRETS.values())) + '"', "--all")) == []


def test_no_secret_is_shown(home: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    rook("show", SESSION, "--html", str(page))
    texts = [rook("show", SESSION, *words) for words in ((), ("--full",), ("--md", "--full"))]
    for text in (*texts, rook("show", SESSION, "--json"), page.read_text(encoding="utf-8")):
        assert text.count("marked before") >= len(SECRETS)
        assert leaked(text) == []


def test_no_secret_is_exported(home: Path, tmp_path: Path) -> None:
    for flag in ("--jsonl", "--csv"):
        shown = rook("export", "events", flag, "-")
        assert shown.count("marked before") >= 4 * len(SECRETS)
        assert leaked(shown) == []
    parquet = pytest.importorskip("pyarrow.parquet")
    rook("export", "events", "--parquet", str(tmp_path / "events.parquet"))
    text = json.dumps(parquet.read_table(tmp_path / "events.parquet").to_pylist())
    assert text.count("marked before") >= 4 * len(SECRETS)
    assert leaked(text) == []
    assert leaked(rook("export", "sessions", "--jsonl", "-")) == []
