"""What is done once at the end of a run, a loop or a batch: a command, messages, the desktop."""

import os
from pathlib import Path

import pytest
from tests.cli.desk import Desk

ON_END = 'echo "$ROOK_KIND $ROOK_STATUS $ROOK_EXIT_CODE" >> "$HOME/ended"'


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def ended(desk: Desk) -> list[str]:
    path = desk.home / "ended"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def test_the_command_runs_once_after_a_run(desk: Desk) -> None:
    assert desk.rook("run", "--on-end", ON_END, "Say done").returncode == 0
    assert ended(desk) == ["run success 0"]


def test_it_finds_the_answer_in_a_file(desk: Desk) -> None:
    command = 'cat "$ROOK_ANSWER_FILE"'
    assert "Done." in desk.rook("run", "--on-end", command, "Say done").stderr


def test_it_runs_after_a_failure_and_after_one_that_did_not_start(desk: Desk) -> None:
    desk.rook("exec", "--on-end", ON_END, "--", "sh", "-c", "exit 3")
    desk.rook("exec", "--on-end", ON_END, "--", "no-such-program")
    assert ended(desk) == ["run failed 1", "run not_started 9"]


def test_its_failure_is_a_warning_and_changes_no_exit_code(desk: Desk) -> None:
    done = desk.rook("run", "--on-end", "echo no; exit 3", "Say done")
    assert done.returncode == 0
    assert "[rook] WARNING: --on-end: it exited with code 3: no" in done.stderr


def test_it_runs_once_for_a_loop_and_once_for_a_batch(desk: Desk) -> None:
    desk.rook(
        *("loop", "Say done", "--check", "false", "--max-iterations", "2"), ROOK_ON_END=ON_END
    )
    (desk.project / "tasks.jsonl").write_text('{"prompt": "One"}\n{"prompt": "Two"}\n')
    desk.rook("batch", "tasks.jsonl", ROOK_ON_END=ON_END)
    assert ended(desk) == ["loop ceiling 5", "batch success 0"]


@pytest.mark.parametrize("words", [["run"], ["loop", "--until", "Done."]])
def test_it_runs_once_after_what_was_detached(words: list[str], desk: Desk) -> None:
    """The command writes to a pipe, which the test reads to its end."""
    os.mkfifo(desk.home / "pipe")
    reading = os.open(desk.home / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reading, True)
    writing = os.open(desk.home / "pipe", os.O_WRONLY)  # until the command has its own
    command = f'echo "$ROOK_KIND ended" > {desk.home}/pipe'
    desk.rook(*words, "--detach", "--on-end", command, "Say done")
    with open(reading, encoding="utf-8") as pipe:
        assert pipe.readline() == f"{words[0]} ended\n"
        os.close(writing)
        assert pipe.read() == ""


def test_it_runs_once_after_ctrl_c(desk: Desk) -> None:
    script = f"rook exec --on-end {_quoted(ON_END)} -- sh -c 'kill -INT $PPID_OF_ROOK; sleep 1000'"
    done = desk.shell(f"export PPID_OF_ROOK=$$; exec {script}")
    assert done.returncode == 130
    assert ended(desk) == ["run interrupted 130"]


def test_a_rook_that_the_command_calls_runs_no_command(desk: Desk) -> None:
    nested = f"{ON_END}; rook run 'Say done'"
    desk.rook("run", "Say done", ROOK_ON_END=nested)
    assert ended(desk) == ["run success 0"]


def test_a_projects_command_needs_trust(desk: Desk) -> None:
    desk.project_file.write_text(f"on_end = '''{ON_END}'''\nnotify = ['json://127.0.0.1']\n")
    done = desk.rook("run", "Say done")
    assert ended(desk) == []
    assert "on_end = " in done.stderr
    assert "is ignored: not trusted" in done.stderr
    desk.trust()
    desk.rook("run", "Say done")
    assert ended(desk) == ["run success 0"]


def test_messages_that_cannot_be_sent_are_reported_before_the_start(desk: Desk) -> None:
    done = desk.rook("run", "--notify", "json://token", "Say done")
    assert done.returncode == 0
    assert "WARNING: notify needs apprise: pip install 'nightrook[notify]'" in done.stderr
    assert "token" not in done.stdout + done.stderr


def test_settings_show_only_how_an_address_begins(desk: Desk) -> None:
    done = desk.rook("config", ROOK_NOTIFY="slack://secret/words")
    assert '["slack:…"]' in done.stdout
    assert "secret" not in done.stdout


def test_the_desktop_is_notified_on_a_terminal_if_it_took_long_enough(desk: Desk) -> None:
    _, shown = desk.on_terminal("run", "--desktop-after", "0.001s", "Say done", TERM="xterm")
    assert shown.count("\x1b]9;rook run ") == 1


@pytest.mark.parametrize("option", ["--desktop-after=1000d", "--no-desktop", "--quiet"])
def test_the_desktop_is_not_notified(desk: Desk, option: str) -> None:
    always = "0.001s" if option != "--desktop-after=1000d" else "1000d"
    words = ("run", option, "Say done")
    _, shown = desk.on_terminal(*words, TERM="xterm", ROOK_DESKTOP_AFTER=always)
    assert "\x1b]9;rook" not in shown


def test_without_a_terminal_there_is_no_desktop(desk: Desk) -> None:
    done = desk.rook("run", "--desktop-after", "0.001s", "Say done")
    assert "\x1b" not in done.stdout + done.stderr


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
