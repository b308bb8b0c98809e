"""Runs watched on a real terminal, and the flags that say what is shown."""

import json
import os
import re
import signal
import sys
import termios
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk
from tests.process.recording import wait_for
from tests.terminals import Terminal
from tests.warm import ROOK

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPINNER = re.compile(f"^[{FRAMES}]", re.MULTILINE)
WORKS = "hang-in-tool sigint-result"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def rook(
    desk: Desk,
    *words: str,
    script: str = "",
    columns: int = 90,
    environ: Mapping[str, str] | None = None,
) -> Terminal:
    environment = {**desk.environment(script), **(environ or {})}
    return Terminal([ROOK, *words], environment, columns=columns)


def has_status(going: Terminal, words: str = "") -> bool:
    lines = (line for line in going.text.split("\n") if SPINNER.match(line))
    return any(line[2:].startswith(words) for line in lines)


def drawn_since(going: Terminal, seen: int) -> bool:
    return going.raw[seen:].count(b"\x1b[K") >= 2


def assert_clean(going: Terminal) -> None:
    """Assert that nothing of the status line is left, and that the terminal is as it was."""
    assert not has_status(going)
    drawn = max((going.raw.rfind(frame.encode()) for frame in FRAMES), default=-1)
    assert drawn < 0 or going.raw.rfind(b"\r\x1b[J") > drawn
    assert going.screen.cursor.x == 0
    assert b"\x1b[?" not in going.raw
    assert going.screen.cursor.hidden is False


def test_a_run_on_a_terminal_ends_with_a_summary_and_no_status_line(desk: Desk) -> None:
    with rook(desk, "demo", "--speed", "20") as going:
        going.until(lambda: has_status(going))
        assert going.finish() == 0
        assert_clean(going)
        assert "[claude] │ Bash: grep -rn 'total()' shop tests" in going.text
        assert "+2 −1" in going.text
        assert "17 tools (1 failed, 1 denied) · 1 file +2 −1 · $0.0415" in going.text
        assert "details: rook show " in going.text
        # The answer is laid out, not shown as Markdown.
        assert "Cause: coupons add up" in going.text
        assert "**" not in going.text


def test_the_status_line_tells_what_runs_now(desk: Desk) -> None:
    with rook(desk, "run", "x", script=WORKS) as going:
        going.until(lambda: re.search("(?m)^. Bash: .* [1-9]+s   ", going.text) is not None)
        going.type("\x03")
        going.finish()


def test_an_agent_that_is_watched_tells_what_it_is_writing(desk: Desk) -> None:
    call = desk.folder / "call"
    with rook(desk, "run", "x", script=f"say=x print-call={call}") as going:
        going.finish()
    assert "--include-partial-messages" in call.read_text()
    call.unlink()
    desk.rook("run", "x", script=f"say=x print-call={call}")
    assert "--include-partial-messages" not in call.read_text()


def echoes(going: Terminal) -> bool:
    return bool(going.modes[3] & termios.ECHO)


def test_keys_that_are_typed_during_a_run_do_not_tear_the_status_line(desk: Desk) -> None:
    with rook(desk, "run", "x", script=WORKS) as going:
        going.until(lambda: has_status(going, "Bash: "))
        lines = going.text.split("\n")
        going.type("typed\r\r\r")
        seen = len(going.raw)
        going.until(partial(drawn_since, going, seen))
        assert "typed" not in going.text
        assert len(going.text.split("\n")) == len(lines)
        assert len(SPINNER.findall(going.text)) == 1
        going.type("\x03")
        assert going.finish() == 130
        assert going.modes == going.first_modes
        assert_clean(going)


def test_ctrl_z_switches_the_echo_on_and_the_next_frame_off(desk: Desk) -> None:
    with rook(desk, "run", "x", script=WORKS) as going:
        going.until(lambda: has_status(going, "Bash: "))
        assert not echoes(going)
        going.type("\x1a")
        os.waitpid(going.pid, os.WUNTRACED)
        assert going.modes == going.first_modes
        going.kill(signal.SIGCONT)
        going.until(lambda: not echoes(going))
        going.kill(signal.SIGTERM)
        assert going.finish() == 130
        assert going.modes == going.first_modes


DRAWS_FOREVER = """
import asyncio, sys
from nightrook.cli.terminal.interrupts import on_interrupts
from nightrook.display.screen import Echo

async def main():
    echo = Echo(sys.stdout)
    on_interrupts(lambda number: print("asked", flush=True), echo)
    while True:
        echo.off()
        await asyncio.sleep(0)

asyncio.run(main())
"""


def test_the_third_ctrl_c_leaves_the_echo_on(desk: Desk) -> None:
    with Terminal([sys.executable, "-c", DRAWS_FOREVER], desk.environment("")) as going:
        going.until(lambda: not echoes(going))
        for times in (1, 2):
            going.kill(signal.SIGINT)
            going.until("asked", times=times)
        going.kill(signal.SIGINT)
        assert going.finish() == -signal.SIGINT
        assert going.modes == going.first_modes


@pytest.mark.parametrize("how", ["ctrl-c", signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_interrupted_leaves_no_status_line(
    desk: Desk, how: str | signal.Signals
) -> None:
    with rook(desk, "run", "x", script=WORKS) as going:
        going.until(lambda: has_status(going, "Bash: "))
        if isinstance(how, signal.Signals):
            going.kill(how)
        else:
            going.type("\x03")
        assert going.finish() == 130
        assert_clean(going)
        assert "[rook] interrupted" in going.text
        assert "continue: rook run --resume" in going.text


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_replay_that_is_interrupted_leaves_no_status_line(
    desk: Desk, how: signal.Signals
) -> None:
    assert desk.rook("demo", "--speed", "30", script="").returncode == 0
    with rook(desk, "replay", "--speed", "0.01") as going:
        going.until(lambda: has_status(going))
        going.kill(how)
        assert going.finish() == 130
        assert_clean(going)


def test_a_terminal_that_is_resized_keeps_one_status_line(desk: Desk) -> None:
    with rook(desk, "run", "x", script=WORKS, columns=100) as going:
        going.until(lambda: has_status(going, "Bash: "))
        for columns in (40, 20, 120, 33, 200, 60):
            going.resize(columns, 40)
            seen = len(going.raw)
            # Two frames later it has been drawn for the new width.
            going.until(partial(drawn_since, going, seen))
            assert len(SPINNER.findall(going.text)) == 1
            status = next(line for line in going.text.split("\n") if SPINNER.match(line))
            assert len(status) < columns
        going.kill(signal.SIGTERM)
        assert going.finish() == 130
        assert_clean(going)


def test_what_the_agent_writes_to_stderr_stands_above_the_status_line(desk: Desk) -> None:
    (desk.folder / "claude").write_text(
        "#!/bin/sh\nprintf 'odd \\033[2J thing\\n' >&2\n"
        f"exec {sys.executable} -c 'import time; time.sleep(1)'\n"
    )
    with rook(desk, "run", "x") as going:
        assert going.finish() == 9
        assert "odd ␛[2J thing" in going.text.split("\n")
        assert_clean(going)


@pytest.mark.parametrize(
    ("environ", "colour", "status"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, False, True),
        ({"CI": "true"}, True, False),
    ],
)
def test_colours_and_the_status_line_follow_the_environment(
    desk: Desk, environ: dict[str, str], colour: bool, status: bool
) -> None:
    with rook(desk, "run", "x", script="say=Hello.", environ=environ) as going:
        going.finish()
        assert (b"\x1b[36m" in going.raw) is colour
        assert (b"\x1b[K" in going.raw) is status
        assert_clean(going)


def test_a_dumb_terminal_gets_what_a_pipe_gets(desk: Desk) -> None:
    piped = desk.rook("run", "x", script="say=Hello.").stdout
    command = ["/usr/bin/env", "TERM=dumb", str(ROOK), "run", "--permission", "agent", "x"]
    with Terminal(command, desk.environment("say=Hello."), columns=200) as going:
        assert going.finish() == 0
        assert b"\x1b" not in going.raw
        command_line, *rest = piped.replace("\n", "\r\n").encode().split(b"\r\n")
        assert going.raw.startswith(command_line)
        assert b"\r\n".join(rest) in going.raw


def test_force_color_colours_a_pipe_and_changes_no_word(desk: Desk) -> None:
    plain = desk.rook("run", "x").stdout
    os.environ["FORCE_COLOR"] = "1"
    try:
        coloured = desk.rook("run", "x").stdout
    finally:
        del os.environ["FORCE_COLOR"]
    assert "\x1b[36m[claude]\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain


def test_plain_output_holds_no_return_so_that_crlf_consumers_read_it_right(desk: Desk) -> None:
    done = desk.rook("run", "-v", "x", script="say=one\\rtwo")
    assert "\r" not in done.stdout
    assert done.stdout.endswith("\n")


# The output flags.


def test_quiet_on_a_terminal_is_the_answer_laid_out(desk: Desk) -> None:
    with rook(desk, "run", "-q", "x", script="say=**Done.**") as going:
        assert going.finish() == 0
        assert going.text.split("\n")[0] == "Done."
        assert "[claude]" not in going.text
    assert desk.rook("run", "-q", "x", script="say=**Done.**").stdout == "**Done.**\n"


def test_no_text_leaves_out_what_the_agent_says(desk: Desk) -> None:
    assert '[claude] "Done."' not in desk.rook("run", "--no-text", "x").stdout
    desk.rook("run", "x")
    assert '[claude] "Done."' not in desk.rook("replay", "--instant", "--no-text").stdout


def test_format_jsonl_is_a_record_a_line(desk: Desk) -> None:
    done = desk.rook("run", "--format", "jsonl", "x")
    told = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert [record["seq"] for record in told] == list(range(len(told)))
    assert told[-1]["type"] == "stream_closed"
    assert done.returncode == 0
    assert "[rook] success" in done.stderr
    again = desk.rook("replay", "--format", "jsonl", "--instant")
    assert again.stdout == done.stdout


def test_format_raw_is_every_byte_of_the_agent(desk: Desk) -> None:
    done = desk.rook("run", "--format", "raw", "x", script="say=x noise")
    (folder,) = (desk.folder / "home" / "runs").iterdir()
    assert done.stdout == (folder / "stdout.raw").read_text()
    assert desk.rook("replay", "--format", "raw", "--instant").stdout == done.stdout
    assert desk.rook("exec", "--format", "raw", "--", "printf", "a\\nb").stdout == "a\nb"


def test_raw_bytes_on_a_terminal_are_made_safe(desk: Desk) -> None:
    words = ("exec", "--format", "raw", "--", "printf", "\\033]0;owned\\007x")
    with rook(desk, *words) as going:
        going.finish()
        assert going.screen.title == ""
        assert "␛]0;owned␇x" in going.text


@pytest.mark.parametrize("words", [("--json", "--format", "raw"), ("-q", "--format", "jsonl")])
def test_outputs_that_contradict_each_other_are_wrong_usage(
    desk: Desk, words: tuple[str, ...]
) -> None:
    done = desk.rook("run", *words, "x")
    assert done.returncode == 2
    assert "can't be combined" in done.stderr


def test_verbose_on_a_terminal_shows_the_command(desk: Desk) -> None:
    with rook(desk, "run", "-v", "x", script="say=Hello.") as going:
        assert going.finish() == 0
        assert "[rook] Agent command: claude -p" in going.text
        assert "[rook] claude 2.1.325" in going.text


# Pages and lists.


def test_show_is_a_page_in_the_pager(desk: Desk) -> None:
    desk.rook("demo", "--speed", "200", script="")
    pager = desk.folder / "pager"
    pager.write_text(f'#!/bin/sh\ncat > {desk.folder}/page; echo "$LESS"\n')
    pager.chmod(0o755)
    with rook(desk, "show", environ={"PAGER": str(pager)}) as going:
        assert going.finish() == 0
        assert going.text == "FRX"
    page = (desk.folder / "page").read_text()
    assert "\x1b[32m+        discount = min(self.discount, 100)\x1b[0m" in page
    assert "\x1b[31m-        return full - full * self.discount // 100\x1b[0m" in page
    assert "Cause: coupons add up" in re.sub("\x1b\\[[0-9;]*m", "", page)
    assert "file_path" not in page
    with rook(desk, "show", "--full", environ={"PAGER": str(pager)}) as going:
        going.finish()
    full = (desk.folder / "page").read_text()
    assert "command: grep -rn 'discount' shop" in full
    assert "3 passed in 0.04s" in full


@pytest.mark.parametrize("pager", ["", "cat", "/no/such/pager"])
def test_without_a_pager_the_page_is_shown_at_once(desk: Desk, pager: str) -> None:
    desk.rook("run", "Say hello", script="say=Hello.")
    with rook(desk, "show", environ={"PAGER": pager}) as going:
        assert going.finish() == 0
        assert "Say hello" in going.text
        assert "[rook] success" in going.text


def test_a_pager_that_is_left_early_is_no_error(desk: Desk) -> None:
    desk.rook("demo", "--speed", "200", script="")
    with rook(desk, "show", "--full", environ={"PAGER": "true"}) as going:
        assert going.finish() == 0
        assert "Traceback" not in going.text


def test_show_full_in_a_pipe_is_the_page_without_colours(desk: Desk) -> None:
    desk.rook("demo", "--speed", "200", script="")
    page = desk.rook("show", "--full").stdout
    assert "command: grep -rn 'discount' shop" in page
    assert "\x1b" not in page


def test_runs_on_a_terminal_keep_to_its_width(desk: Desk) -> None:
    desk.rook("run", "A very long prompt " * 20)
    with rook(desk, "runs", columns=60) as going:
        going.finish()
        rows = going.text.split("\n")
    assert max(map(len, rows)) <= 60
    assert rows[1].endswith("…")
    assert rows[2:] == ["[rook] 1 run · $0.0048"]


def test_a_raw_command_s_run_can_be_shown_as_a_page(desk: Desk) -> None:
    desk.rook("exec", "--", "printf", "a\\033[2Jb\\nc")
    with rook(desk, "show", "--no-pager") as going:
        going.finish()
        assert "a␛[2Jb" in going.text.split("\n")
        assert "c" in going.text.split("\n")


BURST = """#!/bin/sh
trap 'touch {folder}/asked' INT TERM
cat {folder}/start
while :; do cat {folder}/lines; done
"""


def test_three_times_ctrl_c_end_a_run_at_once_while_much_is_left_to_show(desk: Desk) -> None:
    text = {"type": "text", "text": "lorem ipsum " * 20}
    message = {"id": "m", "type": "message", "role": "assistant", "content": [text]}
    line = json.dumps({"type": "assistant", "message": message, "session_id": "s"}) + "\n"
    (desk.folder / "lines").write_text(line * 10_000)
    start = '{"type":"system","subtype":"init","session_id":"s","model":"m"}\n'
    (desk.folder / "start").write_text(start)
    agent = desk.folder / "burst" / "claude"
    agent.parent.mkdir()
    agent.write_text(BURST.format(folder=desk.folder))
    agent.chmod(0o755)
    with rook(desk, "exec", "--", str(agent)) as going:
        going.until("lorem ipsum")
        # From here on nothing reads the terminal: rook cannot show the rest.
        going.kill(signal.SIGINT)
        wait_for((desk.folder / "asked").exists)
        going.kill(signal.SIGINT)
        wait_for(lambda: list(desk.folder.glob("home/runs/*/exit.json")))
        going.kill(signal.SIGINT)
        assert going.finish() == -signal.SIGINT
    [line] = desk.rook("runs", "--json").stdout.splitlines()
    assert json.loads(line)["status"] == "interrupted"
