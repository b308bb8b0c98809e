"""`-q`: nothing but the answer, also on stderr, unless the run fails."""

from functools import partial
from pathlib import Path

import pytest
from tests.cli.desk import Desk
from tests.flat_facts import flat_facts
from tests.recorded import cases, name_of

from nightrook.cli.terminal.ending import print_end
from nightrook.config.options import ViewOptions
from nightrook.model.verdict import Verdict
from nightrook.story.feed import Feed
from nightrook.story.story import Story
from nightrook.story.tail import Tail

WARNED = "[rook] WARNING: codex may not change any file"
WIRE = {name_of(path): path for path in cases("claude")}["s02_read_edit_bash-2.1.325"]
NOISY = f"echo noise >&2\ncat {WIRE}"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.parametrize("command", [["run", "-q", "x"], ["exec", "-q", "--", "claude", "-p", "x"]])
def test_quiet_writes_nothing_but_the_answer_of_a_success(desk: Desk, command: list[str]) -> None:
    desk.project_file.write_text('allow = ["Read"]\n')  # ignored, and said so
    desk.program("claude", NOISY)
    done = desk.rook(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    aloud = desk.rook(*(word for word in command if word != "-q"))
    assert "noise\n" in aloud.stderr
    assert ("is ignored: not trusted" in aloud.stderr) == (command[0] == "run")
    assert ("[rook] added: " in aloud.stderr) == (command[0] == "exec")


def test_quiet_is_silent_on_a_terminal_too(desk: Desk) -> None:
    desk.program("claude", NOISY)
    code, shown = desk.on_terminal("run", "-q", "x")
    assert code == 0
    assert "noise" not in shown
    assert "[rook]" not in shown


def test_quiet_shows_everything_of_a_failure(desk: Desk) -> None:
    desk.program("codex", "echo noise >&2\nexit 3")
    done = desk.rook("run", "-q", "--agent", "codex", "--via", "exec", "x")
    assert (done.returncode, done.stdout) == (9, "")
    warned, noise, end, _ = done.stderr.splitlines()
    assert warned.startswith(WARNED)
    assert noise == "noise"
    assert end.startswith("[rook] not started: ")


def test_quiet_shows_an_error_of_rook_and_what_came_before_it(desk: Desk) -> None:
    desk.project_file.write_text('allow = ["Read"]\n')
    done = desk.rook("run", "-q", "--resume", "nosuch", "x")
    assert done.returncode == 2
    assert "is ignored: not trusted" in done.stderr
    assert "\n[rook] no run named 'nosuch'; " in done.stderr


def test_quiet_keeps_what_says_that_data_was_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = Verdict.of("success", flat_facts(lost_bytes=5, left_behind=("sleep",)))
    story = Story(Feed("claude", partial(Tail, tmp_path)))
    story.end(verdict)
    print_end(ViewOptions(quiet=True), story)
    lost = "[rook] WARNING: the disk was full: 5 bytes of output were lost\n"
    assert capsys.readouterr() == ("", lost)


def test_quiet_is_silent_in_the_background_when_attached_and_in_a_pipe(desk: Desk) -> None:
    desk.program("claude", NOISY)
    started = desk.rook("run", "-q", "--detach", "x")
    assert (started.returncode, started.stderr) == (0, "")
    waited = desk.rook("attach", "-q", started.stdout.strip())
    assert (waited.returncode, waited.stderr) == (0, "")
    assert waited.stdout
    desk.program("claude", f"cat {WIRE}")
    piped = desk.shell("claude | rook -q")
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout == waited.stdout
