"""`rook show --html` and `--md`: a run as a document to keep or to send."""

import os
import stat
from pathlib import Path

import pytest
from tests.conftest import SESSION
from tests.runs.folders import ended, live
from tests.store.samples import append
from tests.warm import rook


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    folder = ended(home, name="done", prompt="Fix <the> tests", agent="claude")
    append(folder, "stdout", SESSION.read_bytes())
    return home


def environment(home: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "ROOK_HOME": str(home), "HOME": str(home.parent), **more}


def test_a_run_is_written_as_one_private_page(home: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        done = rook("show", "done", "--html", str(tmp_path / "run.html"), env=environment(home))
    finally:
        os.umask(before)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"[rook] wrote {tmp_path}/run.html\n"
    page = (tmp_path / "run.html").read_text()
    assert stat.S_IMODE((tmp_path / "run.html").stat().st_mode) == 0o600
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    assert "<h1>Fix &lt;the&gt; tests</h1>" in page
    assert page.count("<details") > 3


def test_a_run_is_printed_as_markdown(home: Path) -> None:
    done = rook("show", "done", "--md", env=environment(home))
    assert done.returncode == 0
    assert done.stdout.startswith("### rook run `done`:")
    assert "#### Timeline" in done.stdout
    whole = rook("show", "done", "--md", "--full", env=environment(home)).stdout
    assert len(whole) > len(done.stdout)


def test_a_running_run_is_written_as_far_as_it_has_come(home: Path, tmp_path: Path) -> None:
    folder = live(home, 8, name="now", agent="claude")
    page = tmp_path / "run.html"
    done = rook("show", folder.name, "--html", str(page), env=environment(home))
    assert done.returncode == 0, done.stderr
    assert '<span class="pill runs">running</span>' in page.read_text()


def test_secrets_of_the_environment_are_not_in_a_document(home: Path, tmp_path: Path) -> None:
    folder = ended(home, name="leak", prompt="use s3cr3t-value-123456", agent="claude")
    append(folder, "stdout", SESSION.read_bytes().replace(b"Bash", b"s3cr3t-value-123456"))
    page = tmp_path / "run.html"
    variables = environment(home, MY_API_KEY="s3cr3t-value-123456")
    assert rook("show", "leak", "--html", str(page), env=variables).returncode == 0
    shown = page.read_text() + rook("show", "leak", "--md", "--full", env=variables).stdout
    assert "s3cr3t-value" not in shown
    assert "[redacted" in shown


def test_what_cannot_be_exported_says_why(home: Path, tmp_path: Path) -> None:
    both = rook("show", "done", "--html", "x.html", "--md", env=environment(home), cwd=tmp_path)
    assert both.returncode == 2
    assert "--html, --md and --json can't be combined" in both.stderr
    loop = rook("show", "loop-x", "--md", env=environment(home))
    assert (loop.returncode, "is a loop, not a run" in loop.stderr) == (2, True)
    folder = rook("show", "done", "--html", str(tmp_path), env=environment(home))
    assert folder.returncode != 0
    assert not [*tmp_path.glob("*.html")]
