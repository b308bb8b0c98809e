"""`rook run` and its kin as a user calls them, with the scripted agent for a real one."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.process.recording import wait_for
from tests.runs.scripted import program
from tests.warm import ROOK, rook

UNCHECKED = "--max-cost-unchecked"


class Desk:
    """A folder with a `claude` on PATH, and a home for runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program(folder)

    def environment(self, script: str) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
            "ROOK_HOME": str(self.folder / "home"),
            "ROOK_SCRIPT": script,
        }

    def rook(
        self, *words: str, script: str = "say=Done.", stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return rook(*words, cwd=self.folder, env=self.environment(script), stdin=stdin)

    @contextmanager
    def going(self, *words: str, script: str) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [ROOK, *words],
            cwd=self.folder,
            env=self.environment(script),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def until(process: subprocess.Popen[str], words: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"{words!r} never came")


def status(desk: Desk) -> str:
    """Return the status of the newest run, "" before there is one."""
    listed = desk.rook("runs", "--json").stdout.split("\n")[0]
    return str(json.loads(listed)["status"]) if listed else ""


def test_a_run_shows_its_command_its_lines_and_how_it_ended(desk: Desk) -> None:
    done = desk.rook("run", "Fix the tests")
    lines = done.stdout.split("\n")
    assert done.returncode == 0
    assert lines[0] == (
        "[rook] Agent command: claude -p --output-format stream-json --verbose 'Fix the tests'"
    )
    assert '[claude] "Done."' in lines
    assert any(line.startswith("[claude] Complete (cost: ") for line in lines)
    assert "[rook] success" in done.stderr
    assert "rook show " in done.stderr


def test_quiet_is_the_answer_alone_and_json_one_object(desk: Desk) -> None:
    assert desk.rook("run", "-q", "x").stdout == "Done.\n"
    told = json.loads(desk.rook("run", "--json", "x").stdout)
    assert (told["status"], told["text"], told["ok"]) == ("success", "Done.", True)


@pytest.mark.parametrize("script", ["say=x error-result", "bad-flag"])
def test_quiet_without_an_answer_is_nothing(desk: Desk, script: str) -> None:
    assert desk.rook("run", "-q", "x", script=script).stdout == ""


def test_the_exit_code_tells_how_it_ended(desk: Desk) -> None:
    assert desk.rook("run", "x", script="say=x no-result").returncode == 3
    assert desk.rook("run", "x", script="say=x error-result exit-code=0").returncode == 1
    assert desk.rook("run", "--timeout", "0.5", "x", script="hang-in-tool").returncode == 124


def test_a_missing_agent_tells_how_to_install_it(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": "/usr/bin:/bin", "ROOK_HOME": str(tmp_path)}
    done = subprocess.run(
        [ROOK, "run", "x"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 9
    assert "npm install -g @anthropic-ai/claude-code" in done.stderr
    assert "rook demo" in done.stderr


def test_a_prompt_can_come_from_a_file_or_standard_input(desk: Desk) -> None:
    (desk.folder / "prompt").write_text("from a file")
    script = f"say=x read-stdin-first print-call={desk.folder}/call"
    assert desk.rook("run", "--prompt-file", "prompt", script=script).returncode == 0
    assert "from a file" in (desk.folder / "call").read_text()
    assert desk.rook("run", "--prompt-file", "-", script=script, stdin="piped").returncode == 0
    assert "piped" in (desk.folder / "call").read_text()


@pytest.mark.parametrize("name", ["prompt", "-"])
def test_a_prompt_that_is_no_utf_8_is_read_as_far_as_it_is_text(desk: Desk, name: str) -> None:
    said = b"caf\xc3\xa9 \xff!"
    call = f"read-stdin-first print-call={desk.folder}/call"
    (desk.folder / "prompt").write_bytes(said)
    done = subprocess.run(
        [ROOK, "run", "--prompt-file", name],
        cwd=desk.folder,
        env={**desk.environment(f"say=x {call}"), "LC_ALL": "C"},
        input=said if name == "-" else b"",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((desk.folder / "call").read_text())["stdin"] == "café \ufffd!"


def test_what_stands_behind_two_dashes_is_the_agent_s(desk: Desk) -> None:
    script = f"say=x print-call={desk.folder}/call"
    assert desk.rook("run", "go", "--", "--strange", "7", script=script).returncode == 0
    assert "--strange" in (desk.folder / "call").read_text()


def test_wrong_usage_is_one_line_and_2(desk: Desk) -> None:
    assert desk.rook("run").returncode == 2
    assert desk.rook("run", "  ").returncode == 2
    assert desk.rook("run", "--timeout", "soon", "x").returncode == 2
    assert desk.rook("run", "--max-cost", "-1", "x").returncode == 2
    unquoted = desk.rook("run", "Fix", "the", "tests")
    assert unquoted.returncode == 2
    assert "put it in quotes" in unquoted.stderr
    assert desk.rook("run", "--agent", "cluade", "x").returncode == 2
    wrong = desk.rook("run", "--resume", "nope", "x")
    assert wrong.returncode == 2
    assert "no run named 'nope'" in wrong.stderr


def test_stderr_of_the_agent_is_passed_on_safely(desk: Desk) -> None:
    done = desk.rook("exec", "--", "sh", "-c", "printf '\\033[2Jevil\\n' >&2; echo '\\033]0;x'")
    assert "\x1b" not in done.stderr + done.stdout
    assert "␛[2Jevil" in done.stderr


def test_colours_of_plain_text_are_left_out_wherever_it_is_shown(desk: Desk) -> None:
    text = "printf '\\033[1;31mbad\\033[0m\\033[2J\\n'"
    done = desk.rook("exec", "--", "sh", "-c", f"{text}; {text} >&2; exit 1")
    assert "\nbad␛[2J\n" in done.stdout
    assert "bad␛[2J\n" in done.stderr
    for again in ("show", "attach"):
        told = desk.rook(again)
        assert "bad␛[2J" in told.stdout
        assert "␛[1" not in told.stdout + told.stderr


def test_exec_adds_what_is_missing_and_says_so(desk: Desk) -> None:
    done = desk.rook("exec", "--", "claude", "-p", "hi")
    assert done.returncode == 0
    assert "[rook] added: --output-format stream-json --verbose" in done.stderr
    assert '[claude] "Done."' in done.stdout


def test_exec_leaves_a_text_format_alone_and_shows_it_raw(desk: Desk) -> None:
    done = desk.rook("exec", "--", "claude", "-p", "--output-format", "text", "hi")
    assert "added" not in done.stderr
    assert '"type":"result"' in done.stdout  # the scripted agent writes messages all the same
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (("exec", "--max-cost", "1", UNCHECKED, "--", "echo", "hi"), "--max-cost"),
        (("exec", "-d", "--max-cost", "1", UNCHECKED, "--", "echo", "hi"), "--max-cost"),
        (("run", "--no-stream", "--max-tokens", "10", "hi"), "--max-tokens"),
    ],
)
def test_a_limit_that_plain_text_cannot_tell_of_is_told_beforehand(
    desk: Desk, words: tuple[str, ...], flag: str
) -> None:
    done = desk.rook(*words)
    told = f"WARNING: plain text does not report usage: rook cannot stop the run at {flag}\n"
    assert done.stderr.count(told) == 1
    assert done.returncode == 0


def test_exec_leaves_a_command_alone_that_is_no_prompt(desk: Desk) -> None:
    done = desk.rook(
        "exec", "--", "claude", "mcp", "list", script=f"say=x print-call={desk.folder}/call"
    )
    assert "added" not in done.stderr
    assert done.stdout.startswith("[rook] Agent command: claude mcp list\n")
    assert "stream-json" not in (desk.folder / "call").read_text()
    assert '"type":"result"' in desk.rook("show").stdout


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 0), ("exit 4", 1), ("kill -9 $$", 3)], ids=str
)
def test_a_command_that_no_adapter_knows_is_judged_by_its_end(
    desk: Desk, command: str, code: int
) -> None:
    done = desk.rook("exec", "--", "sh", "-c", f"echo hello; {command}")
    assert "hello" in done.stdout.split("\n")
    assert done.returncode == code


def test_verbose_ends_with_the_stream_s_figures(desk: Desk) -> None:
    done = desk.rook("run", "-v", "x", script="say=x noise")
    assert "[rook] stream stats: " in done.stderr
    assert " 0 errors" not in done.stderr


def test_an_oversized_line_is_announced(desk: Desk) -> None:
    done = desk.rook("run", "x", script="say=x line=12300000")
    assert "[rook] WARNING: cannot show all of a line of 12.3 MB: it is at byte " in done.stdout
    assert done.returncode == 0


def test_runs_are_listed_shown_and_replayed(desk: Desk) -> None:
    assert "no runs yet" in desk.rook("runs").stdout
    desk.rook("run", "First thing")
    desk.rook("run", "Second thing", script="say=x error-result")
    listed = desk.rook("runs").stdout.split("\n")
    head = ["RUN", "WHEN", "AGENT", "MODEL", "STATUS", "TIME", "COST", "FOLDER", "WHAT"]
    assert listed[0].split() == head
    assert "failed" in listed[1]
    assert "Second thing" in listed[1]
    assert "success" in listed[2]
    told = [json.loads(line) for line in desk.rook("runs", "--json").stdout.split("\n")[:-1]]
    assert [run["what"] for run in told] == ["Second thing", "First thing"]
    shown = desk.rook("show", told[1]["name"])
    assert '[claude] "Done."' in shown.stdout
    assert "[rook] success" in shown.stderr
    assert "[rook] failed" in desk.rook("show").stderr
    assert desk.rook("replay", "--instant", told[1]["name"]).stdout == shown.stdout
    assert desk.rook("replay", "--speed", "1000", told[1]["name"]).stdout == shown.stdout


def test_show_of_an_unknown_run_names_the_nearest(desk: Desk) -> None:
    assert desk.rook("show").returncode == 2
    assert desk.rook("show", "../../etc").returncode == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_a_run_and_says_so(desk: Desk, number: signal.Signals) -> None:
    with desk.going("run", "x", script="hang-in-tool sigint-result") as process:
        until(process, "[claude] ")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "[rook] interrupted" in err


def test_stop_ends_a_run_from_elsewhere(desk: Desk) -> None:
    with desk.going("run", "x", script="hang-in-tool sigint-result") as process:
        until(process, "[claude] ")
        name = json.loads(desk.rook("runs", "--json").stdout.split("\n")[0])["name"]
        assert desk.rook("stop", name).returncode == 0
        process.communicate(timeout=30)
    assert process.returncode == 130
    gone = desk.rook("stop", name)
    assert gone.returncode == 2
    assert "is not running" in gone.stderr


def test_a_run_whose_rook_was_killed_is_healed_as_incomplete(desk: Desk) -> None:
    with desk.going("run", "x", script="hang-in-tool") as process:
        until(process, "[claude] ")
        process.kill()
    wait_for(lambda: status(desk) != "running")
    assert status(desk) == "incomplete"


def test_a_run_whose_rook_was_killed_can_be_resumed(desk: Desk) -> None:
    with desk.going("run", "x", script="hang-in-tool") as process:
        until(process, "[claude] ")
        process.kill()
    (run,) = (desk.folder / "home" / "runs").iterdir()
    tries = []

    def ended() -> bool:  # its recorder, too
        tries.append(desk.rook("run", "--resume", run.name, "Go on", script="say=hi"))
        return tries[-1].returncode != 2

    wait_for(ended)
    assert tries[-1].returncode == 0
    assert "--resume" in tries[-1].stdout


def test_a_folder_of_which_nothing_is_known_is_not_said_to_run(desk: Desk) -> None:
    (desk.folder / "home" / "runs" / "zzzz").mkdir(parents=True, mode=0o700)
    told = json.loads(desk.rook("runs", "--json").stdout)
    assert (told["status"], told["what"]) == ("damaged", "it has no run.json")


def test_the_demo_leaves_a_run_that_can_be_shown(desk: Desk) -> None:
    done = desk.rook("demo", "--speed", "200", script="")
    assert done.returncode == 0
    assert "[claude] DENIED: " in done.stdout
    assert "[claude] ERROR: exit 1" in done.stdout
    assert "[claude] Complete (cost: $0.0415)" in done.stdout
    shown = desk.rook("show")
    assert "[claude] Complete (cost: $0.0415)" in shown.stdout
    assert "17 tools (1 failed, 1 denied) · 1 file +2 −1 · $0.0415\n" in shown.stderr


def test_nobody_is_told_to_go_on_with_the_demo(desk: Desk) -> None:
    told = desk.rook("demo", "--speed", "200", script="")
    shown = desk.rook("show")
    assert "details: rook show " in told.stderr
    assert "--resume" not in told.stderr + shown.stderr
    name = json.loads(desk.rook("runs", "--json").stdout)["name"]
    again = desk.rook("run", "--resume", name, "Go on")
    assert again.returncode == 2
    assert f"run {name!r} was a demo and has no session to resume: start" in again.stderr


def test_a_prompt_that_is_not_utf_8_is_mended(desk: Desk) -> None:
    assert desk.rook("run", "a\udcffb").returncode == 0


def test_the_json_of_a_run_tells_what_a_script_needs_to_go_on(desk: Desk) -> None:
    told = json.loads(desk.rook("run", "--json", "x", script="say=Fine.").stdout)
    (name,) = (path.name for path in (desk.folder / "home" / "runs").iterdir())
    assert (told["run"], told["exit_code"], told["sentence"]) == (name, 0, "done")
    assert told["session"]
    assert told["duration_s"] > 0
    assert (told["turns"], told["steps"]) == (1, 2)  # a prompt, and what the last lines call turns
    assert told["resets_in_s"] is None
    assert (told["ok"], told["text"]) == (True, "Fine.")


def test_a_damaged_folder_does_not_hide_the_other_runs(desk: Desk) -> None:
    desk.rook("run", "x")
    broken = desk.folder / "home" / "runs" / "zzzz"
    broken.mkdir(mode=0o700)
    (broken / "run.json").write_text("{")
    done = desk.rook("runs")
    assert done.returncode == 0
    assert "success" in done.stdout
    assert "damaged" in done.stdout
