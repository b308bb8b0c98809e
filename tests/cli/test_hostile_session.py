"""A stored session full of hostile text, written as a page and opened in a real browser."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner
from tests.cli.sayings import say
from tests.display.document.payloads import HTML
from tests.display.document.test_hostile_documents import Shape, Sink, browsed

from nightrook.cli.main import cli

TRANSCRIPTS = Path(__file__).parents[1] / "agents" / "claude" / "transcripts"
SESSION = "f3242285"


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.slow
def test_nothing_of_a_session_runs_or_is_fetched(
    tmp_path: Path, sink: Sink, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(TRANSCRIPTS / "s05_permission_denied-2.1.325", home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "nightrook"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    payloads = [text.replace("SINK", sink.address) for text in HTML]
    assert len(payloads) >= 30
    say(next(home.rglob(f"{SESSION}*.jsonl")), payloads)
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["show", SESSION, "--html", str(page)])
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert Shape(text).text.count(payloads[0]) >= 4
    monkeypatch.setenv("HOME", str(tmp_path))
    browsed(tmp_path, text)
    assert sink.calls == []
