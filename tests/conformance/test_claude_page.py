"""The real Claude Code on the web page: it works, asks, is answered there, and ends.

As in test_claude.py, its model is scripted and on loopback; without ROOK_TEST_CLAUDE or a
browser this is skipped.
"""

import subprocess
from pathlib import Path

import pytest

from nightrook.testing import Reply, ScriptedMessagesApi
from tests.conformance.bench import ROOK, Bench
from tests.conformance.test_claude import CLAUDE, prepare
from tests.web.browser.harness import Server, Tab, launched

pytestmark = [
    pytest.mark.skipif(not CLAUDE, reason="ROOK_TEST_CLAUDE is not set"),
]

SCRIPT = [
    Reply(text="I'll make the file.", tools=[("Bash", {"command": "touch one.txt"})]),
    Reply(text="The file is there."),
]


def test_it_is_shown_asked_and_answered_on_the_page(tmp_path: Path) -> None:
    bench = Bench(tmp_path, CLAUDE, ScriptedMessagesApi, prepare)
    with ScriptedMessagesApi(SCRIPT) as api:
        environment = bench.environment(api.url)
        started = subprocess.run(
            [ROOK, "run", "--detach", "-q", "--permission", "ask", "Make one.txt"],
            env=environment,
            cwd=bench.project,
            capture_output=True,
            text=True,
            check=True,
        )
        run = started.stdout.split()[0]
        with subprocess.Popen(
            [ROOK, "web", "--no-open"], env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                assert process.stdout is not None
                _answer_on_page(Server(process, process.stdout.readline().strip()), run)
            finally:
                process.kill()
    assert (bench.project / "one.txt").exists()


def _answer_on_page(server: Server, run: str) -> None:
    with launched() as browser:
        tab = Tab(browser.new_context(), server).open("/questions")
        tab.see(".question .primary:not(:disabled)")
        assert tab.page.inner_text(".question .subject") == "touch one.txt"
        tab.page.click(".question .primary")
        tab.see(".question.over .outcome.good")
        tab.page.goto(server.address(f"/runs/{run}"))
        tab.see(".verdict.good")
        assert tab.page.inner_text("section.answer p") == "The file is there."
        assert tab.page.inner_text(".k-tool .title") == "touch one.txt"
        assert "I'll make the file." in tab.page.inner_text(".timeline")
        assert tab.faults == []
        assert tab.elsewhere == []
