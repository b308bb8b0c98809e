"""`rook watch` as people use it: in a pipe, as JSON and on a terminal."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.archive.watch.samples import SESSION, append, claude_file, claude_line, said
from tests.terminals import Terminal

ROOK = Path(sys.executable).with_name("rook")
pytestmark = pytest.mark.linux("inotify")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ROOK_HOME": str(tmp_path / "nightrook"),
    }


@contextmanager
def started(env: Mapping[str, str], *options: str) -> "Iterator[subprocess.Popen[str]]":
    """The command in a pipe; it is ended with the block."""
    command: list[str | Path] = [ROOK, "watch", *options]
    with subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: "subprocess.Popen[str]", count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    """End it as Ctrl-C does; its exit code and what it printed last."""
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, rest


def test_in_a_pipe_each_event_is_a_line_with_the_name_of_its_session(
    env: Mapping[str, str], tmp_path: Path
) -> None:
    file = claude_file(tmp_path)
    file.write_text(claude_line("user", "Fix it"))
    with started(env) as process:
        assert lines(process, 1) == ["[rook] session claude 11111111 · 2.1.325 · /work/shop"]
        secret = "sk-ant-api03-" + "a" * 80
        append(file, said("\x1b[31mDone.") + claude_line("user", f"Use {secret}"))
        assert lines(process, 3) == [
            '[claude 11111111] "␛[31mDone."',
            "[claude 11111111] Complete (cost: ~$0.0075)",
            "[claude 11111111] > Use [redacted: Anthropic key]",
        ]
        assert ended(process) == (130, "")


def test_json_has_an_object_for_each_event(env: Mapping[str, str], tmp_path: Path) -> None:
    file = claude_file(tmp_path)
    file.write_text(claude_line("user", "Fix it"))
    with started(env, "--json") as process:
        (first,) = map(json.loads, lines(process, 1))
        assert (first["name"], first["cost_source"], "event" in first) == (
            SESSION,
            "unknown",
            False,
        )
        append(file, said("Done."))
        change = json.loads(lines(process, 1)[0])
        assert (change["event"]["type"], change["event"]["text"]) == ("text", "Done.")
        assert change["tokens"]["input"] == 1000
        ended(process)


def test_on_a_terminal_a_table_shows_what_is_active_and_ctrl_c_takes_it_away(
    env: Mapping[str, str], tmp_path: Path
) -> None:
    with Terminal([ROOK, "watch"], env, columns=100, rows=12) as terminal:
        terminal.until("nothing is active")
        claude_file(tmp_path).write_text(claude_line("user", "Fix it"))
        terminal.until("1 active")
        assert "[claude 11111111] > Fix it" in terminal.text
        assert "waiting for the model" in terminal.text
        terminal.resize(60, 12)
        append(claude_file(tmp_path), said("Done."))
        terminal.until('"Done."')
        terminal.type("\x03")
        assert terminal.finish() == 130
        assert "[rook] 1 active" not in terminal.text.split('"Done."')[-1]
        assert "\x1b[?1049h" not in terminal.raw.decode()


def test_filters_that_make_no_sense_are_refused(env: Mapping[str, str]) -> None:
    done = subprocess.run(
        [ROOK, "watch", "--since", "yesterday"], env=env, capture_output=True, text=True
    )
    assert (done.returncode, "--since" in done.stderr) == (2, True)


def test_a_long_prompt_has_no_part_of_a_secret(env: Mapping[str, str], tmp_path: Path) -> None:
    file = claude_file(tmp_path)
    file.write_text(claude_line("user", "Fix it"))
    secret = "zyxwvutsrqponmlkjihgfedcba9876543210"
    with started({**env, "SHOP_API_TOKEN": secret}) as process:
        lines(process, 1)
        append(file, claude_line("user", "x" * 187 + f" {secret}"))  # it would be cut in the secret
        (printed,) = lines(process, 1)
        assert "zyxw" not in printed
