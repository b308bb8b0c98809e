"""Runs that go on elsewhere, attached to or piped, watched on a real terminal."""

import json
import re
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk
from tests.cli.terminal.test_foreground import (
    SPINNER,
    WORKS,
    assert_clean,
    drawn_since,
    has_status,
    rook,
)
from tests.process.recording import wait_for
from tests.terminals import Terminal
from tests.warm import ROOK

_HEARD = "waiting for the agent to end; Ctrl-C again leaves it"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    for path in (tmp_path / "home" / "runs").glob("*/run.json"):
        if not (path.parent / "verdict.json").exists():
            desk.rook("attach", "--stop", path.parent.name)


def detach(desk: Desk, script: str) -> str:
    done = desk.rook("run", "--detach", "Fix the tests", script=script)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def piped(desk: Desk, agent: str, *flags: str, script: str = WORKS, columns: int = 90) -> Terminal:
    """A pipeline in the foreground of a terminal."""
    pipeline = f"{agent} | {ROOK} {' '.join(flags)}"
    return Terminal(
        ["/bin/sh", "-c", pipeline], desk.environment(script), cwd=desk.folder, columns=columns
    )


def test_who_attaches_sees_what_goes_on_until_it_ends(desk: Desk) -> None:
    name = detach(desk, WORKS)
    with rook(desk, "attach", columns=200) as going:
        going.until(lambda: re.search("(?m)^. Bash: .* [1-9]+s   ", going.text) is not None)
        assert f" · run {name}" in going.text.split("\n")[0]  # as a run of one's own begins
        desk.rook("stop", name)
        assert going.finish() == 130
        assert_clean(going)
        assert "[rook] interrupted" in going.text


@pytest.mark.parametrize("how", ["ctrl-c", signal.SIGTERM, signal.SIGHUP])
def test_who_leaves_an_attached_run_leaves_no_status_line(
    desk: Desk, how: str | signal.Signals
) -> None:
    name = detach(desk, WORKS)
    with rook(desk, "attach", name) as going:
        going.until(lambda: has_status(going, "Bash: "))
        if isinstance(how, signal.Signals):
            going.kill(how)
        else:
            going.type("\x03")
        assert going.finish() == 130
        assert_clean(going)
        assert f"[rook] run {name} continues" in going.text
    assert not (desk.folder / "home/runs" / name / "verdict.json").exists()


def test_the_time_that_is_shown_is_the_run_s_and_not_the_viewer_s(desk: Desk) -> None:
    name = detach(desk, WORKS)
    began = (desk.folder / "home/runs" / name / "run.json").stat().st_mtime
    wait_for(lambda: time.time() - began > 2)
    with rook(desk, "attach", name) as going:
        going.until(lambda: has_status(going, "Bash: "))
        status = next(line for line in going.text.split("\n") if SPINNER.match(line))
        assert int(re.findall(r"   (\d+)s", status)[0]) >= 2
        going.type("\x03")
        going.finish()


def test_quiet_and_finished_runs_are_attached_to_without_a_status_line(desk: Desk) -> None:
    name = detach(desk, "say=Done. delay=0.3")
    with rook(desk, "attach", "-q", name) as quiet:
        assert quiet.finish() == 0
        assert not any(frame.encode() in quiet.raw for frame in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
        assert quiet.text.startswith("Done.")


def test_an_edit_that_is_attached_to_has_its_lines(desk: Desk) -> None:
    desk.rook("demo", "--speed", "200", script="")
    with rook(desk, "attach") as going:
        assert going.finish() == 4
        assert "+2 −1" in going.text
        assert_clean(going)


def test_a_pipe_on_a_terminal_has_a_status_line_that_is_then_gone(desk: Desk) -> None:
    with piped(desk, "claude", script="play=short delay=0.5", columns=200) as going:
        going.until(lambda: has_status(going))
        assert going.finish() == 0
        assert_clean(going)
        assert " · run " in going.text.split("\n")[0]
        assert "[claude] Complete" in going.text


def test_a_pipe_keeps_one_status_line_when_its_terminal_is_resized(desk: Desk) -> None:
    with piped(desk, "claude", columns=100) as going:
        going.until(lambda: has_status(going, "Bash: "))
        for columns in (30, 140):
            going.resize(columns, 40)
            going.until(partial(drawn_since, going, len(going.raw)))
            assert len(SPINNER.findall(going.text)) == 1
        going.type("\x03")
        going.finish()


def test_ctrl_c_in_a_pipe_is_answered_above_the_status_line(desk: Desk) -> None:
    with piped(desk, "claude") as going:
        going.until(lambda: has_status(going, "Bash: "))
        going.type("\x03")
        going.finish()
        assert_clean(going)
        assert f"[rook] {_HEARD}" in going.text.split("\n")
        assert "[claude] FAILED: interrupted" in going.text
    (path,) = desk.folder.glob("home/runs/*/verdict.json")
    assert json.loads(path.read_text())["status"] == "interrupted"


def test_a_second_ctrl_c_in_a_pipe_leaves_no_status_line(desk: Desk) -> None:
    with piped(desk, "(trap '' INT; claude | head -n 4; sleep 20)", script="say=x") as going:
        going.until(lambda: has_status(going))
        going.type("\x03")
        going.until(_HEARD)
        going.type("\x03")
        going.until("[rook] interrupted")
        assert not has_status(going)


def test_what_is_passed_on_never_reaches_a_terminal(desk: Desk) -> None:
    agent = "(claude; printf '\\033]0;owned\\007\\n')"
    with piped(desk, agent, "--tee", script="say=Done.") as going:
        assert going.finish() == 0
        assert going.screen.title == ""
        assert "[rook] WARNING: --tee passes nothing on to a terminal" in going.text
        assert '[claude] "Done."' in going.text
        assert '{"type"' not in going.text


def test_tee_into_a_file_shows_the_run_on_the_terminal_with_a_status_line(desk: Desk) -> None:
    with piped(desk, "claude", "--tee", "> passed", script="play=short delay=0.1") as going:
        going.until(lambda: has_status(going))
        assert going.finish() == 0
        assert_clean(going)
    (folder,) = (desk.folder / "home" / "runs").iterdir()
    assert (desk.folder / "passed").read_bytes() == (folder / "stdout.raw").read_bytes()
