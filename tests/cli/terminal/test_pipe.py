"""`agent … | rook` as a user types it, with the scripted agent for a real one."""

import hashlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.commands.test_run import Desk, until
from tests.conftest import ROOT
from tests.process.recording import wait_for
from tests.warm import ROOK, rook_bytes

from nightrook.testing import agent_command

MAX_TURNS = ROOT / "tests/agents/claude/cases/s12_max_turns-2.1.197/wire.jsonl"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@contextmanager
def piped(desk: Desk, *flags: str, script: str = "say=Done.") -> Iterator[subprocess.Popen[str]]:
    """`claude | rook FLAGS`, in a group of its own, as a shell would start it."""
    command = f"claude | {ROOK} {' '.join(flags)}"
    with subprocess.Popen(
        ["sh", "-c", command],
        cwd=desk.folder,
        env=desk.environment(script),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def pipe(desk: Desk, *flags: str, script: str = "say=Done.") -> tuple[int, str, str]:
    with piped(desk, *flags, script=script) as process:
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def stream(*flags: str) -> bytes:
    """What the scripted agent writes."""
    return subprocess.run(agent_command(*flags), capture_output=True, check=False).stdout


def fed(desk: Desk, data: bytes, *flags: str) -> subprocess.CompletedProcess[bytes]:
    return rook_bytes(*flags, cwd=desk.folder, env=desk.environment(""), stdin=data)


def folders(desk: Desk) -> list[Path]:
    return sorted((desk.folder / "home" / "runs").glob("*"))


def only(desk: Desk) -> Path:
    (folder,) = folders(desk)
    return folder


def loaded(folder: Path, name: str) -> dict[str, object]:
    told: dict[str, object] = json.loads((folder / name).read_text())
    return told


def test_a_pipe_shows_the_lines_that_a_run_shows(desk: Desk) -> None:
    code, out, err = pipe(desk, script="speed=0")
    run = desk.rook("run", "x", script="speed=0")
    assert code == run.returncode == 4
    assert out.split("\n") == run.stdout.split("\n")[1:]  # without the command, which nobody knows
    headings = [text.split("\n")[0].rpartition(" · run ")[0] for text in (err, run.stderr)]
    assert headings[0] == headings[1] != ""
    assert err.split("\n")[1] == run.stderr.split("\n")[1]


def test_its_folder_is_like_that_of_every_run(desk: Desk) -> None:
    code, out, err = pipe(desk)
    folder = only(desk)
    assert code == 0
    assert {path.name for path in folder.iterdir()} == {
        *("run.json", "stdout.raw", "stderr.raw", "arrivals"),
        *("exit.json", "verdict.json", "output.md"),
    }
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in folder.iterdir())
    info, ended = loaded(folder, "run.json"), loaded(folder, "exit.json")
    assert (info["agent"], info["piped"], info["command"]) == ("claude", True, [])
    assert (ended["started"], ended["exit_code"], ended["signal"]) == (True, None, None)
    assert (folder / "output.md").read_text() == "Done."
    assert f"rook show {folder.name}" in err
    assert desk.rook("show", folder.name).stdout == out
    assert desk.rook("replay", "--instant").stdout == out
    listed = desk.rook("runs").stdout.split("\n")[1].split()
    assert listed[0] == folder.name
    assert "success" in listed
    assert "(piped)" in listed


def test_a_piped_session_can_be_gone_on_with(desk: Desk) -> None:
    pipe(desk)
    assert desk.rook("run", "--resume", only(desk).name, "Go on").returncode == 0


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("say=x", 0),
        ("say=x exit-code=1", 0),  # a good result wins, and the exit code is not known
        ("error-result", 1),
        ("no-result", 3),
        ("cut-last-line", 3),
        ("speed=0", 4),
        (f"play={MAX_TURNS}", 5),
        ("limit", 6),
        ("bad-flag", 9),
    ],
    ids=lambda value: str(value).rpartition("/")[2],
)
def test_the_exit_code_is_the_verdict_s(desk: Desk, script: str, code: int) -> None:
    assert pipe(desk, script=script)[0] == code


def test_tee_copies_every_byte_and_shows_on_stderr(desk: Desk) -> None:
    data = stream("--script-noise", "--script-line=12000000") + b"\xff\x00\x1b[2J no newline"
    done = fed(desk, data, "--tee")
    assert hashlib.sha256(done.stdout).digest() == hashlib.sha256(data).digest()
    assert (only(desk) / "stdout.raw").read_bytes() == data
    shown = done.stderr.decode()
    assert '[claude] "Done."' in shown
    assert "[rook] WARNING: cannot show all of a line of 12.0 MB: it is at byte " in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("flags", ["", "--tee"])
def test_a_reader_that_leaves_does_not_end_the_recording(desk: Desk, flags: str) -> None:
    (desk.folder / "stream").write_bytes(data := stream("--script-flood=5000000"))
    command = f"{{ {ROOK} {flags} < stream; echo $? > code; }} | head -n 1"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=desk.folder,
        env=desk.environment(""),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.count("\n") == 1
    assert (only(desk) / "stdout.raw").read_bytes() == data
    assert (desk.folder / "code").read_text() == "0\n"
    assert "[rook] success" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stalled_screen_does_not_stall_the_agent(desk: Desk) -> None:
    text = "y\n" * 1_500_000
    command = f"{{ yes | head -c {len(text)}; echo > written; }} | {ROOK}"
    with subprocess.Popen(
        ["sh", "-c", command],
        cwd=desk.folder,
        env=desk.environment(""),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for((desk.folder / "written").exists)  # and nobody has read a line
        out, _ = process.communicate(timeout=60)
    assert out == text


def test_a_stalled_reader_of_what_is_passed_on_does_not_stall_the_agent(desk: Desk) -> None:
    stall = desk.folder / "stall"
    script = f"flood=5000000 print-stall={stall}"
    with piped(desk, "--tee", script=script) as process:
        wait_for(stall.exists)  # the agent has written everything, and nobody has read a byte
        assert process.poll() is None
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out == (only(desk) / "stdout.raw").read_text()


def test_without_a_record_nothing_is_left(desk: Desk) -> None:
    code, out, err = pipe(desk, "--no-record")
    assert code == 0
    assert '[claude] "Done."' in out
    assert "rook show" not in err
    assert not (desk.folder / "home").exists()


def test_without_a_record_everything_is_passed_on_all_the_same(desk: Desk) -> None:
    data = stream("--script-flood=40000000")
    done = fed(desk, data, "--tee", "--no-record")
    assert done.stdout == data
    assert not (desk.folder / "home").exists()


def test_text_that_is_no_agent_s_is_shown_safely_kept_and_not_called_a_success(desk: Desk) -> None:
    done = fed(desk, b"hello \x1b]0;evil\x07\nlast \xff")
    assert done.returncode == 9
    assert done.stdout.decode() == "hello ␛]0;evil␇\nlast \ufffd\n"
    assert b"wrote text, but no messages" in done.stderr
    assert b"--output-format stream-json" in done.stderr
    folder = only(desk)
    assert (folder / "stdout.raw").read_bytes() == b"hello \x1b]0;evil\x07\nlast \xff"
    assert loaded(folder, "run.json")["agent"] is None
    assert desk.rook("show", folder.name).stdout.startswith("hello ␛]0;evil␇\n")


def test_nothing_at_all_leaves_nothing_and_says_what_to_pipe(desk: Desk) -> None:
    done = fed(desk, b"")
    assert done.returncode == 9
    assert b"[rook] not started" in done.stderr
    assert b"| rook" in done.stderr
    assert not folders(desk)


def test_noise_before_the_first_message_is_shown_and_the_agent_is_detected(desk: Desk) -> None:
    done = fed(desk, b"> banner\n" + stream("--script-say=Done."))
    lines = done.stdout.decode().split("\n")
    assert lines[0] == "> banner"
    assert '[claude] "Done."' in lines
    assert done.returncode == 0


def test_a_named_agent_is_taken_at_its_word_and_an_unknown_one_is_wrong_usage(desk: Desk) -> None:
    done = fed(desk, b"hello\n", "--agent", "claude")
    assert done.returncode == 9
    assert done.stdout == b""  # no message, so there is nothing to tell
    assert loaded(only(desk), "run.json")["agent"] == "claude"
    wrong = fed(desk, b"hello\n", "--agent", "cluade")
    assert wrong.returncode == 2
    assert b"no agent named 'cluade'" in wrong.stderr


def test_quiet_and_json_are_as_in_a_run(desk: Desk) -> None:
    assert pipe(desk, "-q")[1] == "Done.\n"
    told = json.loads(pipe(desk, "--json")[1])
    assert (told["status"], told["text"]) == ("success", "Done.")


def test_flags_of_a_pipe_before_a_command_are_wrong_usage(desk: Desk) -> None:
    done = desk.rook("--tee", "runs")
    assert done.returncode == 2
    assert "put the options of 'runs' after it" in done.stderr


def test_the_first_ctrl_c_waits_for_what_the_agent_still_says(desk: Desk) -> None:
    with piped(desk, script="hang-in-tool sigint-result") as process:
        until(process, "[claude] Bash")
        os.killpg(process.pid, signal.SIGINT)  # to all of the pipeline, as a terminal does
        out, err = process.communicate(timeout=60)
    assert "[claude] FAILED: interrupted" in out
    assert "[rook] waiting for the agent to end; Ctrl-C again leaves it" in err
    assert "[rook] interrupted" in err
    assert loaded(only(desk), "verdict.json")["exit_code"] == 130


def test_an_agent_that_finishes_in_spite_of_ctrl_c_has_finished(desk: Desk) -> None:
    reading, writing = os.pipe()
    lines = stream("--script-say=Done.").split(b"\n")
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(b"\n".join(lines[:4]) + b"\n")
        until(process, "[claude] ")
        process.send_signal(signal.SIGINT)
        agent.write(b"\n".join(lines[4:]))
        agent.close()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert '[claude] "Done."' in out
    assert "[rook] success" in err


def test_an_agent_that_ends_without_a_result_after_ctrl_c_was_interrupted(desk: Desk) -> None:
    reading, writing = os.pipe()
    lines = stream("--script-say=Done.").split(b"\n")
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(b"\n".join(lines[:4]) + b"\n")
        until(process, "[claude] ")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert any("waiting for the agent" in line for line in process.stderr)
        agent.close()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "[rook] interrupted" in err
    assert loaded(only(desk), "exit.json")["stopped_for"] is None  # nobody stopped it


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=str)
def test_a_second_ctrl_c_or_a_sigterm_leaves_an_agent_that_does_not_end(
    desk: Desk, signals: tuple[signal.Signals, ...]
) -> None:
    reading, writing = os.pipe()
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(b"\n".join(stream("--script-say=x").split(b"\n")[:4]) + b"\n")
        until(process, "[claude] ")
        assert process.stderr is not None
        for number in signals:
            process.send_signal(number)
            if len(signals) > 1 and number is signals[0]:
                assert any("waiting for the agent" in line for line in process.stderr)
                signals = signals[1:]
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "[rook] interrupted" in err
    assert loaded(only(desk), "exit.json")["stopped_for"] == "stopped"


def test_stop_from_elsewhere_leaves_a_piped_agent(desk: Desk) -> None:
    reading, writing = os.pipe()
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(b"\n".join(stream("--script-say=x").split(b"\n")[:4]) + b"\n")
        until(process, "[claude] ")
        assert desk.rook("runs").stdout.count("running") == 1
        assert desk.rook("stop", only(desk).name[:3]).returncode == 0
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_a_terminal_that_goes_away_does_not_end_the_recording(desk: Desk) -> None:
    reading, writing = os.pipe()
    data = stream("--script-say=Done.")
    half = data.index(b"\n") + 1
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(data[:half])
        wait_for(lambda: folders(desk) and (only(desk) / "run.json").exists())
        process.send_signal(signal.SIGHUP)
        agent.write(data[half:])
        agent.close()
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert (only(desk) / "stdout.raw").read_bytes() == data


def test_a_full_disk_is_told_and_everything_is_shown_all_the_same(desk: Desk) -> None:
    data = stream("--script-flood=3000000")
    (desk.folder / "stream").write_bytes(data)
    # No file may grow beyond a megabyte: to who writes a log, a full disk looks the same.
    done = subprocess.run(
        ["sh", "-c", f"ulimit -f 2048; exec {ROOK} --tee < stream | sha256sum"],
        cwd=desk.folder,
        env=desk.environment(""),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    kept = (only(desk) / "stdout.raw").read_bytes()
    assert kept == data[: len(kept)]
    assert 0 < len(kept) < len(data)
    assert done.stdout.split()[0] == hashlib.sha256(data).hexdigest()
    assert '[claude] "Done."' in done.stderr
    assert "[rook] success" in done.stderr
    assert (
        "[rook] WARNING: the disk is full: from now on the stream is shown but not recorded"
        in done.stderr
    )
    lost = len(data) - len(kept)
    assert f"the disk was full: {lost} bytes of output were lost" in done.stderr
    assert loaded(only(desk), "exit.json")["lost_stdout"] == lost
    assert loaded(only(desk), "verdict.json")["status"] == "success"


def test_a_disk_without_any_room_left_still_has_room_for_the_verdict(desk: Desk) -> None:
    disk = desk.folder / "home"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        data = stream("--script-flood=3000000")
        done = fed(desk, data, "--tee")
        kept = (only(desk) / "stdout.raw").stat().st_size
        assert done.returncode == 0
        assert done.stdout == data
        assert loaded(only(desk), "exit.json")["lost_stdout"] == len(data) - kept
        assert loaded(only(desk), "verdict.json")["status"] == "success"
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_home_that_cannot_be_made_is_told_and_the_stream_is_shown(desk: Desk) -> None:
    (desk.folder / "home").write_text("in the way")
    code, out, err = pipe(desk)
    assert code == 0
    assert '[claude] "Done."' in out
    assert f"[rook] WARNING: nothing is recorded: {desk.folder / 'home'}" in err
    assert "Traceback" not in err


def test_bytes_are_on_disk_before_they_are_shown(desk: Desk) -> None:
    reading, writing = os.pipe()
    lines = stream("--script-say=Done.").split(b"\n")
    with _reading(desk, reading) as process, open(writing, "wb", buffering=0) as agent:
        agent.write(b"\n".join(lines[:4]) + b"\n")
        until(process, "[claude] ")
        process.kill()
    assert (only(desk) / "stdout.raw").read_bytes() == b"\n".join(lines[:4]) + b"\n"
    assert "incomplete" in desk.rook("runs").stdout


@contextmanager
def _reading(desk: Desk, source: int) -> Iterator[subprocess.Popen[str]]:
    """`rook` that reads a pipe of ours."""
    with subprocess.Popen(
        [ROOK],
        cwd=desk.folder,
        env=desk.environment(""),
        stdin=source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(source)
        try:
            yield process
        finally:
            process.kill()
