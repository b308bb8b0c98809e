"""`rook run --detach`, `rook attach` and `rook stop` as a user calls them."""

import json
import os
import pty
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.commands.test_run import Desk, until
from tests.process.recording import PATIENCE_S, is_gone, wait_for
from tests.warm import ROOK

_HANGING = "hang-in-tool sigint-result"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    for path in (tmp_path / "home" / "runs").glob("*/run.json"):
        if not (path.parent / "verdict.json").exists():
            desk.rook("attach", "--stop", path.parent.name)


def detach(desk: Desk, *words: str, script: str) -> str:
    done = desk.rook("run", "--detach", *words, "Fix the tests", script=script)
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n")


def info(desk: Desk, name: str, file: str = "run.json") -> dict[str, Any]:
    told: dict[str, Any] = json.loads((desk.folder / "home/runs" / name / file).read_text())
    return told


def lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.startswith("[claude] ")]


def is_over(desk: Desk, name: str) -> bool:
    return (desk.folder / "home/runs" / name / "verdict.json").exists()


def test_detach_prints_the_name_and_how_to_find_it_again(desk: Desk) -> None:
    done = desk.rook("run", "--detach", "x", script=_HANGING)
    name = done.stdout.removesuffix("\n")
    assert done.returncode == 0
    assert f"rook attach {name} · rook stop {name}" in done.stderr
    assert "running" in desk.rook("runs").stdout
    assert desk.rook("run", "-d", "-q", "x", script="say=x").stderr == ""


def test_a_detached_run_does_not_hold_what_its_caller_opened(desk: Desk) -> None:
    # A shell that reads the name, or waits on a descriptor, must not wait for the run.
    name = detach(desk, script=_HANGING)
    runner = info(desk, name)["runner_pid"]
    held = [os.readlink(f"/proc/{runner}/fd/{n}") for n in os.listdir(f"/proc/{runner}/fd")]
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    with open(reading, "rb") as pipe:
        again = subprocess.run(
            [ROOK, "run", "-d", "x"],
            cwd=desk.folder,
            env=desk.environment(_HANGING),
            pass_fds=[writing],
            capture_output=True,
            check=False,
        )
        os.close(writing)
        ready, _, _ = select.select([pipe], [], [], PATIENCE_S)
        assert ready  # its end: nobody holds it
    assert again.returncode == 0
    assert not any("/dev/pts" in path or "tty" in path for path in held)


def test_what_keeps_a_detached_run_from_starting_is_told_at_once(desk: Desk) -> None:
    desk_without_agent = {**desk.environment(""), "PATH": "/usr/bin:/bin"}
    missing = subprocess.run(
        [ROOK, "run", "-d", "x"],
        env=desk_without_agent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert missing.returncode == 9
    assert missing.stdout == ""
    assert "npm install -g @anthropic-ai/claude-code" in missing.stderr
    refused = desk.rook("run", "-d", "x", script="bad-flag")
    assert refused.returncode == 9
    assert "error: unknown option '--no-such-flag'" in refused.stderr
    assert desk.rook("run", "-d", "--agent", "cluade", "x").returncode == 2
    assert desk.rook("run", "-d", "--json", "x").returncode == 2
    assert desk.rook("run", "-d", "--timeout", "soon", "x").returncode == 2
    (desk.folder / "file").write_text("")
    environment = {**desk.environment(""), "ROOK_HOME": str(desk.folder / "file")}
    homeless = subprocess.run(
        [ROOK, "run", "-d", "x"], env=environment, capture_output=True, text=True, check=False
    )
    assert homeless.returncode == 2
    assert "choose another home for runs" in homeless.stderr


def test_a_detached_command_that_is_over_already_is_said_to_be(desk: Desk) -> None:
    done = desk.rook("exec", "-d", "--", "sh", "-c", "exit 3")
    name = done.stdout.removesuffix("\n")
    assert done.returncode == 1
    assert done.stderr == f"[rook] it has ended already: failed · rook show {name}\n"


def test_ctrl_c_before_the_name_was_told_means_that_it_is_not_wanted(desk: Desk) -> None:
    with desk.going("exec", "--detach", "--", "sleep", "25", script="") as process:
        wait_for(lambda: list((desk.folder / "home").glob("runs/*/stdout.raw")))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    (folder,) = (desk.folder / "home" / "runs").iterdir()
    assert is_over(desk, folder.name)


def test_a_detached_run_survives_the_end_of_its_terminal(desk: Desk) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(desk.folder)
        script = f"{ROOK} run -d x > name; echo detached; read never"
        os.execve("/bin/sh", ["sh", "-c", script], desk.environment("play=short delay=0.4"))
    _read_until(terminal, b"detached")
    name = (desk.folder / "name").read_text().strip()
    told = info(desk, name)
    assert os.getsid(told["runner_pid"]) == told["runner_pid"]
    os.close(terminal)  # the line hangs up: SIGHUP to whoever is in the terminal's session
    os.waitpid(pid, 0)
    for process in (told["runner_pid"], told["recorder_pid"]):
        os.kill(process, signal.SIGHUP)  # and a shell that tells its jobs
    attached = desk.rook("attach", name)
    assert attached.returncode == 0
    assert lines(attached.stdout) == lines(desk.rook("run", "x", script="play=short").stdout)


def test_what_a_background_runner_complains_of_is_in_the_run_folder(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    folder = desk.folder / "home/runs" / name
    (folder / "verdict.json").mkdir()  # so that the verdict cannot be written
    assert desk.rook("stop", name).returncode == 0
    wait_for(lambda: is_gone(info(desk, name)["runner_pid"]))
    assert "verdict.json" in (folder / "runner.log").read_text()
    assert (folder / "runner.log").stat().st_mode & 0o777 == 0o600
    (folder / "verdict.json").rmdir()
    attached = desk.rook("attach", name)
    assert attached.returncode == 130  # it was stopped, and its recorder told so
    assert f"errors of its background runner: {folder / 'runner.log'}" in attached.stderr


def test_viewers_see_every_line_once_and_none_delays_the_agent(desk: Desk) -> None:
    stall = desk.folder / "stall"
    script = f"play=short delay=0.08 flood=3000000 print-stall={stall}"
    name = detach(desk, script=script)
    with ExitStack() as stack:
        first, second, killed, stalled = (
            stack.enter_context(desk.going("attach", name, script="")) for _ in range(4)
        )
        until(killed, "[claude] ")
        killed.kill()
        stalled.send_signal(signal.SIGSTOP)
        seen = [process.communicate(timeout=60) for process in (first, second)]
        wait_for(lambda: is_over(desk, name))
        stalled.send_signal(signal.SIGCONT)
        late = stalled.communicate(timeout=60)
    whole = desk.rook("show", name).stdout
    assert len(lines(whole)) > 30
    assert [lines(out) for out, _ in (*seen, late)] == [lines(whole)] * 3
    assert [process.returncode for process in (first, second, stalled)] == [0] * 3
    assert float(stall.read_text()) < 5.0  # a viewer that it waited for would keep it for ever


def test_from_now_leaves_out_what_was_before_but_knows_it(desk: Desk) -> None:
    name = detach(desk, script="hang-in-tool sigint-result play=short")
    with desk.going("attach", name, "--from-now", script="") as process:
        until(process, "Agent command")
        # Its line is written after the past was left out: what comes now is all that is shown.
        wait_for(lambda: _has_open(process.pid, "stdout.raw"))
        desk.rook("stop", name)
        out, err = process.communicate(timeout=60)
    assert lines(out) == ["[claude] FAILED: interrupted", "[claude] CUT OFF: Bash: npm run dev"]
    assert "in the middle of Bash" in err
    assert process.returncode == 130


def test_ctrl_c_leaves_the_run_going_on(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    with desk.going("attach", name, script="") as process:
        until(process, "[claude] Bash")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130  # not 0: the run is no success yet
    assert f"[rook] run {name} continues: rook attach {name} · rook stop {name}" in err
    assert "Traceback" not in err
    assert not is_over(desk, name)
    assert not is_gone(info(desk, name)["runner_pid"])


def test_stop_while_others_watch_and_by_the_beginning_of_a_name(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    with desk.going("attach", name, script="") as watching:
        until(watching, "[claude] Bash")
        stopped = desk.rook("attach", name[:3], "--stop")
        watching.communicate(timeout=60)
    assert stopped.returncode == watching.returncode == 130
    assert "[rook] interrupted" in stopped.stderr
    again = desk.rook("attach", name, "--stop")
    assert again.returncode == 2
    assert "is not running" in again.stderr


def test_a_run_in_the_foreground_elsewhere_can_be_watched_and_stopped(desk: Desk) -> None:
    with desk.going("run", "x", script=_HANGING) as running:
        until(running, "[claude] Bash")
        watched = desk.rook("attach", "--stop")
        out, err = running.communicate(timeout=60)
    assert watched.returncode == running.returncode == 130
    assert watched.stdout.endswith(out)
    assert watched.stderr == err


def test_stop_ends_a_detached_run_and_its_whole_tree(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    told = info(desk, name)
    assert desk.rook("stop", name[:3]).returncode == 0
    wait_for(lambda: is_gone(told["runner_pid"]) and is_gone(told["recorder_pid"]))
    assert info(desk, name, "verdict.json")["status"] == "interrupted"
    assert info(desk, name, "exit.json")["survivors"] == 0


@pytest.mark.parametrize(
    ("script", "code"), [("say=x", 0), ("error-result", 1), ("no-result", 3), ("speed=0", 4)]
)
def test_a_finished_run_is_shown_and_gives_its_exit_code(
    desk: Desk, script: str, code: int
) -> None:
    run = desk.rook("run", "x", script=script)
    attached = desk.rook("attach")
    assert attached.returncode == run.returncode == code
    assert attached.stdout == run.stdout
    assert attached.stderr == run.stderr


def test_quiet_and_json_wait_for_the_end(desk: Desk) -> None:
    name = detach(desk, script="say=Done. delay=0.1")
    assert desk.rook("attach", "-q", name).stdout == "Done.\n"
    told = json.loads(desk.rook("attach", "--json", name).stdout)
    assert (told["status"], told["text"]) == ("success", "Done.")


def test_a_command_that_no_adapter_knows_can_be_detached_and_attached_to(desk: Desk) -> None:
    done = desk.rook("exec", "-d", "--", "sh", "-c", "echo '\033[2Jone'; echo two >&2; sleep 0.5")
    attached = desk.rook("attach", done.stdout.strip())
    assert attached.stdout.split("\n")[1:] == ["␛[2Jone", ""]
    assert attached.stderr.split("\n")[0] == "two"
    assert attached.returncode == 0


def test_a_run_whose_processes_are_killed_ends_for_who_watches(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    told = info(desk, name)
    with desk.going("attach", name, script="") as process:
        until(process, "[claude] Bash")
        os.kill(told["runner_pid"], signal.SIGKILL)
        os.kill(told["recorder_pid"], signal.SIGKILL)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "[rook] incomplete" in err


def test_a_piped_run_can_be_attached_to(desk: Desk) -> None:
    command = f"claude | {ROOK}"
    with subprocess.Popen(
        ["sh", "-c", command],
        cwd=desk.folder,
        env=desk.environment("say=Done. delay=0.3"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        until(process, "[claude] ")
        attached = desk.rook("attach")
        process.communicate(timeout=60)
    assert '[claude] "Done."' in attached.stdout
    assert attached.returncode == 0


def test_a_viewer_that_waits_costs_next_to_nothing(desk: Desk) -> None:
    name = detach(desk, script=_HANGING)
    with _attached(desk, name) as process:
        until(process, "[claude] Bash")
        begun, used = time.monotonic(), _cpu_s(process.pid)
        wait_for(lambda: time.monotonic() - begun > 2)
        share = (_cpu_s(process.pid) - used) / (time.monotonic() - begun)
        process.kill()
    assert share < 0.2  # a loop without pauses takes all of a core


def test_a_reader_of_attach_that_leaves_ends_it_without_a_traceback(desk: Desk) -> None:
    desk.rook("run", "x", script="flood=3000000")
    with _attached(desk, "") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        process.wait(60)
    assert "Traceback" not in err
    assert process.returncode in (0, 141)  # as much as was written before it left


@contextmanager
def _attached(desk: Desk, name: str) -> Iterator[subprocess.Popen[str]]:
    with desk.going("attach", *([name] if name else []), script="") as process:
        try:
            yield process
        finally:
            process.kill()


def _read_until(terminal: int, words: bytes) -> bytes:
    seen = b""
    while words not in seen:
        ready, _, _ = select.select([terminal], [], [], PATIENCE_S)
        assert ready, f"{words!r} never came, but {seen!r}"
        seen += os.read(terminal, 65536)
    return seen


def _has_open(pid: int, name: str) -> bool:
    try:
        numbers = os.listdir(f"/proc/{pid}/fd")
        return any(os.readlink(f"/proc/{pid}/fd/{n}").endswith(name) for n in numbers)
    except OSError:
        return False


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
