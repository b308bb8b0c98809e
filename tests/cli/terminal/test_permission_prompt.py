"""Asking at the keyboard: every key, silence, and a terminal that is always as it was before."""

import json
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.process.recording import wait_for
from tests.runs.scripted import program
from tests.terminals import COLOURS, Terminal

ROOK = Path(sys.executable).with_name("rook")
KEYS = "[y] once  [a] always in this run  [n] no  [e] no, and say why  (5m, then no)"
_VARYING = ("at", "waited_s", "id", "tool_id")
_MARKED_PASTES = 2004 << 5  # bracketed paste, as the emulator notes it
_ECHO = 3  # the place of the local modes among a terminal's


def on_terminal(command: Sequence[str | Path], env: dict[str, str], cwd: Path) -> Terminal:
    return Terminal(command, env, cwd=cwd, columns=120, rows=60)


class Desk:
    """A folder with a `claude` that asks, and a home for runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program(folder)

    def environment(self, command: str = "rm -r build", **script: Any) -> dict[str, str]:
        return {
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder.parent),
            "ROOK_HOME": str(self.folder / "home"),
            "ROOK_SCRIPT": json.dumps({"ask-permission": command, **script}),
        }

    def terminal(self, *words: str, **script: Any) -> Terminal:
        command: list[str | Path] = [ROOK, "run", *words, "Go"]
        return on_terminal(command, self.environment(**script), self.folder)

    def decisions(self) -> list[dict[str, Any]]:
        """What was decided in the only run, without its times."""
        (path,) = self.folder.glob("home/runs/*/decisions.jsonl")
        told = [json.loads(line) for line in path.read_text().split("\n") if line]
        return [
            {name: value for name, value in one.items() if name not in _VARYING} for one in told
        ]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "desk").mkdir()
    return Desk(tmp_path / "desk")


def test_on_a_terminal_the_question_is_asked_and_y_allows_it_once(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        before = terminal.text
        terminal.type("y")
        assert terminal.finish() == 0
    assert before.endswith(
        "\n[claude] wants to run  Bash"
        "\n         in ~/desk"
        "\n         because: Ask first"
        "\n         │ rm -r build"
        f"\n         {KEYS}"
    )
    assert f"{KEYS}\n         yes, once\n" in terminal.text
    assert "DENIED" not in terminal.text
    assert desk.decisions() == [
        {
            "name": "Bash",
            "title": "rm -r build",
            "decision": {"allow": True, "by": "person", "through": "terminal"},
        }
    ]


def test_a_question_is_in_the_colours_of_the_lines_around_it_if_there_are_any(desk: Desk) -> None:
    for variables, coloured in (
        ({}, True),
        ({"FORCE_COLOR": "0"}, False),
        ({"NO_COLOR": "1"}, False),
    ):
        environment = {**desk.environment(), **variables}
        with on_terminal([ROOK, "run", "Go"], environment, desk.folder) as terminal:
            terminal.until(KEYS)
            terminal.type("n")
            terminal.finish()
        head = b"\x1b[36m[claude]\x1b[0m \x1b[1mwants to run\x1b[0m\x1b[33m  Bash\x1b[0m"
        assert (head in terminal.raw) is coloured
        assert (b"\x1b[1m" in terminal.raw) is coloured


def test_a_allows_it_for_the_whole_run(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("a")
        assert terminal.finish() == 0
    assert "yes, always in this run" in terminal.text
    (decided,) = desk.decisions()
    assert decided["decision"] == {
        "allow": True,
        "always": True,
        "by": "person",
        "through": "terminal",
    }
    assert decided["rule"] == "Bash(rm -r build)"


def test_n_says_no(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("N")
        assert terminal.finish() == 4
    assert f"{KEYS}\n         no\n" in terminal.text
    assert "[claude] DENIED: Bash: rm -r build" in terminal.text
    assert "[rook] denied: 1 tool call was denied at the prompt" in terminal.text
    assert "allow it" not in terminal.text  # a person said no
    assert desk.decisions()[0]["decision"] == {
        "allow": False,
        "by": "person",
        "through": "terminal",
    }
    environment = {**os.environ, **desk.environment()}
    for words in (("show",), ("show", "--full"), ("replay", "--instant"), ("report",)):
        shown = subprocess.run([ROOK, *words], env=environment, capture_output=True, text=True)
        assert shown.returncode == 0
        assert "Bash" in shown.stdout
        assert "allow it" not in shown.stdout + shown.stderr


def test_e_says_no_and_why_and_the_line_can_be_edited(desk: Desk) -> None:
    with desk.terminal("--verbose") as terminal:
        terminal.until(KEYS)
        terminal.type("e")
        terminal.until("why not:")
        terminal.type("wrong\x15use 漢漢\x7fmä\x7fake clean\x1b[D")
        terminal.until("why not: use 漢make clean")
        terminal.type("\r")
        assert terminal.finish() == 4
    assert desk.decisions()[0]["decision"] == {
        "allow": False,
        "reason": "use 漢make clean",
        "by": "person",
        "through": "terminal",
    }
    (path,) = desk.folder.glob("home/runs/*/stdin.raw")
    said = json.loads(path.read_text().split("\n")[1])["response"]["response"]
    assert said == {"behavior": "deny", "message": "The user denied this: use 漢make clean"}


def test_a_reason_that_was_begun_can_be_left_again(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("e")
        terminal.until("why not:")
        terminal.type("\x1b")
        terminal.until(KEYS, times=2)
        terminal.type("y")
        assert terminal.finish() == 0


def test_silence_means_no(desk: Desk) -> None:
    with desk.terminal("--ask-timeout", "0.5") as terminal:
        assert terminal.finish() == 4
    assert "\n         no: not answered in time\n" in terminal.text
    assert desk.decisions()[0]["decision"] == {"allow": False, "by": "timeout"}


def test_neither_other_keys_nor_arrows_nor_pasted_words_decide(desk: Desk) -> None:
    with desk.terminal("--ask-timeout", "2") as terminal:
        terminal.until("(2s, then no)")
        terminal.type("\x1b[A")
        terminal.type("yes")
        terminal.type("x")
        assert terminal.finish() == 4
    assert desk.decisions()[0]["decision"]["by"] == "timeout"


@pytest.mark.parametrize("pasted", ["y" * 4096, "\x1b[200~y\x1b[201~"])
def test_a_paste_decides_nothing(desk: Desk, pasted: str) -> None:
    with desk.terminal("--ask-timeout", "1") as terminal:
        terminal.until("(1s, then no)")
        terminal.type(pasted)
        assert terminal.finish() == 4
    assert desk.decisions()[0]["decision"]["by"] == "timeout"


def test_what_was_typed_before_the_question_does_not_answer_it(desk: Desk) -> None:
    with desk.terminal("--ask-timeout", "0.5", silent=1) as terminal:
        terminal.until("[rook] ")
        terminal.type("y")
        assert terminal.finish() == 4
    assert desk.decisions()[0]["decision"]["by"] == "timeout"


def test_a_long_command_can_be_allowed_when_v_has_shown_all_of_it(desk: Desk) -> None:
    command = "\n".join(f"echo {number}" for number in range(90))
    with desk.terminal(command=command) as terminal:
        terminal.until("[v] see the rest, then decide")
        assert "         … 37 more lines\n" in terminal.text
        assert "echo 89" not in terminal.text
        assert "[y]" not in terminal.text
        terminal.type("v")
        terminal.until("[v] see it again")
        assert "         │ echo 89\n         [y] once  " in terminal.text
        terminal.type("y")
        assert terminal.finish() == 0


def test_nothing_that_an_agent_asks_reaches_the_terminal_as_a_control_character(
    desk: Desk,
) -> None:
    hostile = "ls \x1b]0;title\x07 \x1b[2J \x9b31m\r\u202e\nrm -r build\x1b[A"
    with desk.terminal(command=hostile) as terminal:
        terminal.until("[y] once")
        question = terminal.raw.decode()
        terminal.type("n")
        terminal.finish()
    told = COLOURS.sub("", question[question.rindex("wants to run") :]).replace("\r\n", "\n")
    assert "│ ls ␛]0;title␇ ␛[2J ‹U+009B›31m␍‹U+202E›\n         │ rm -r build␛[A\n" in told
    assert not [c for c in told if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_question_and_the_terminal_is_as_before(
    desk: Desk, number: signal.Signals
) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        assert not terminal.modes[_ECHO] & termios.ECHO
        assert _MARKED_PASTES in terminal.screen.mode
        terminal.kill(number)
        assert terminal.finish() == 130
        assert terminal.modes == terminal.first_modes
        assert _MARKED_PASTES not in terminal.screen.mode
    assert f"{KEYS}\n         no longer asked\n" in terminal.text
    assert "\n[claude] FAILED: interrupted\n" in terminal.text
    assert "\n[rook] interrupted" in terminal.text


def test_ctrl_c_in_the_middle_of_a_reason_stops_the_run(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("e")
        terminal.until("why not:")
        terminal.type("well")
        terminal.until("why not: well")
        terminal.type("\x03")
        assert terminal.finish() == 130
        assert terminal.modes == terminal.first_modes
    assert "why not: well\n         no longer asked" in terminal.text


def test_ctrl_z_gives_the_terminal_back_and_the_question_is_asked_again(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("\x1a")
        os.waitpid(terminal.pid, os.WUNTRACED)
        assert terminal.modes == terminal.first_modes
        assert not terminal.ends_within(0.2)  # what it wrote is read
        assert _MARKED_PASTES not in terminal.screen.mode
        terminal.kill(signal.SIGCONT)
        terminal.until(KEYS, times=2)
        assert _MARKED_PASTES in terminal.screen.mode
        assert not terminal.modes[_ECHO] & termios.ECHO
        terminal.type("y")
        assert terminal.finish() == 0
        assert terminal.modes == terminal.first_modes


def test_on_a_terminal_of_another_size_the_question_is_shown_again(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.resize(130, 60)
        terminal.until(KEYS, times=2)
        assert terminal.text.count("         │ rm -r build\n") == 2
        terminal.type("y")
        assert terminal.finish() == 0


def test_in_the_background_it_waits_until_it_is_brought_to_the_foreground(desk: Desk) -> None:
    environment = {**desk.environment(), "PS1": "$ "}
    environment["PATH"] = f"{ROOK.parent}{os.pathsep}{environment['PATH']}"
    shell = ["/bin/bash", "--norc", "--noprofile", "-i"]
    with on_terminal(shell, environment, desk.folder) as terminal:
        terminal.type("rook run Go &\n")
        terminal.until(KEYS)
        terminal.type("echo y''es\n")  # the shell has the keyboard
        terminal.until("yes")
        terminal.type("fg\n")
        terminal.until(KEYS, times=2)
        terminal.type("y")
        terminal.until("[rook] success")
        terminal.type("exit\n")
        terminal.finish()
    assert "Stopped" not in terminal.text
    assert desk.decisions()[0]["decision"] == {"allow": True, "by": "person", "through": "terminal"}


def test_an_agent_that_dies_is_asked_for_no_longer(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        (path,) = desk.folder.glob("home/runs/*/run.json")
        recorder = json.loads(path.read_text())["recorder_pid"]
        children = Path(f"/proc/{recorder}/task/{recorder}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGKILL)
        assert terminal.finish() == 3
    assert "no longer asked\n" in terminal.text
    assert "[rook] incomplete: was killed by SIGKILL" in terminal.text


def test_without_a_terminal_it_is_denied_and_told_with_the_rule(desk: Desk) -> None:
    done = subprocess.run(
        [ROOK, "run", "--permission", "ask", "Go"],
        cwd=desk.folder,
        env=desk.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # not even a terminal that controls us
    )
    assert done.returncode == 4
    assert "[claude] DENIED: Bash: rm -r build (allow it: 'Bash(rm -r build)')" in done.stdout
    assert desk.decisions()[0]["decision"] == {"allow": False, "by": "nobody"}


def test_without_a_terminal_the_agent_s_own_settings_are_the_default(desk: Desk) -> None:
    environment = {**desk.environment(), "ROOK_SCRIPT": "say=x print-call=call"}
    subprocess.run([ROOK, "run", "Go"], cwd=desk.folder, env=environment, check=True, input=b"")
    told = json.loads((desk.folder / "call").read_text())
    assert told["arguments"] == ["-p", "--output-format", "stream-json", "--verbose"]


@pytest.mark.parametrize("flag", ["--detach", "--no-stream"])
def test_nobody_is_asked_by_a_run_that_nobody_can_answer(desk: Desk, flag: str) -> None:
    environment = {**desk.environment(), "ROOK_SCRIPT": "say=x print-call=call"}
    command: list[str | Path] = [ROOK, "run", flag, "Go"]
    with on_terminal(command, environment, desk.folder) as terminal:
        terminal.finish()
    wait_for((desk.folder / "call").exists)
    assert "--permission-prompt-tool" not in (desk.folder / "call").read_text()


def test_show_and_replay_tell_what_was_decided(desk: Desk) -> None:
    with desk.terminal() as terminal:
        terminal.until(KEYS)
        terminal.type("y")
        terminal.finish()
    for words in (["show"], ["replay", "--instant"]):
        shown = subprocess.run(
            [ROOK, *words], env=desk.environment(), capture_output=True, text=True, check=True
        )
        assert (
            "[claude] Bash: rm -r build\n[rook] asked: Bash: rm -r build · yes, once\n"
            in shown.stdout
        )


def test_plain_text_cannot_be_asked_for_leave(desk: Desk) -> None:
    done = subprocess.run(
        [ROOK, "run", "--permission", "ask", "--no-stream", "Go"],
        env=desk.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "[rook] plain text cannot be answered: choose another --permission\n"


def test_a_request_is_shown_whole_and_the_lines_about_it_without_secrets(
    desk: Desk,
) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9" * 3
    command = f"{'echo a b c; ' * 8}curl -H 'Authorization: token {token}' https://example.org"
    with desk.terminal(command=command) as terminal:
        terminal.until("[y] once")
        terminal.type("y")
        assert terminal.finish() == 0
    request, after = terminal.text.split("[y] once", 1)
    shown = "".join(line.lstrip(" │┆") for line in request.split("\n"))
    assert token in shown
    assert token[4:16] not in after
    assert desk.decisions()[0]["title"] == command
