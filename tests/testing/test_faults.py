"""Each fault of the scripted agent does what its flag says. All real processes."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nightrook.model.events import (
    FileChanged,
    TaskFinished,
    TaskStarted,
    TurnFinished,
    Unknown,
    Unreadable,
    UsageReported,
)
from tests.testing.children import (
    CASES,
    SHORT,
    environment,
    events,
    folded,
    is_ignored,
    mark,
    marked,
    out,
    play,
    read_to,
    started,
    types,
    until,
)

# Its end


def test_it_hangs_after_the_result_until_it_is_asked_to_end() -> None:
    with started("--script-hang-after-result") as child:
        assert read_to(child, "result")["is_error"] is False
        child.terminate()
        assert (child.wait(), out(child).read()) == (143, b"")


def test_it_hangs_in_a_tool() -> None:
    with started("--script-hang-in-tool") as child:
        read_to(child, "assistant")
        child.send_signal(signal.SIGHUP)
        assert (child.wait(), out(child).read()) == (129, b"")


def test_it_ends_without_a_result() -> None:
    done = play("--script-no-result")
    assert (types(done.stdout), done.returncode) == (SHORT[:-1], 0)


def test_the_last_line_is_cut() -> None:
    whole = play("--script-play=short").stdout
    half = play("--script-cut-last-line").stdout
    assert whole.startswith(half)
    assert half.count(b"\n") == whole.count(b"\n") - 1
    assert not half.endswith(b"\n")
    assert play("--script-cut-last-line=5").stdout == whole[:-5]
    last = whole.rstrip().rpartition(b"\n")[0] + b"\n"
    assert play("--script-cut-last-line=1000000").stdout == last


def test_a_result_is_an_error_but_the_exit_code_is_not() -> None:
    done = play("--script-error-result")
    assert done.returncode == 0
    assert folded(done.stdout).results[0].ok is False


def test_a_played_result_that_is_an_error_ends_with_one() -> None:
    wire = CASES / "s11k_fail_529-2.1.325" / "wire.jsonl"
    assert play("--script-play", str(wire)).returncode == 1


def test_a_reader_that_goes_away_does_not_end_it() -> None:
    with started("--script-flood=1000000") as child:
        out(child).close()
        assert child.wait() == 0


def test_sigint_ends_it_without_a_result_unless_asked_for() -> None:
    with started("--script-hang-after-result", "--script-no-result") as child:
        read_to(child, "user")
        child.send_signal(signal.SIGINT)
        assert b'"type":"result"' not in out(child).read()
        assert child.wait() == 0


def test_sigint_brings_the_result_that_the_real_one_writes() -> None:
    with started("--script-sigint-result", "--script-hang-in-tool") as child:
        read_to(child, "assistant")
        child.send_signal(signal.SIGINT)
        rest = out(child).read()
        assert (types(rest), child.wait()) == (["user", "result"], 0)
    (ended,) = events(rest, TurnFinished)
    assert (ended.ok, ended.reason, ended.cost_usd) == (False, "interrupted", 0)


# Its processes and files


def test_a_grandchild_holds_the_pipe() -> None:
    with mark() as name, started("--script-grandchild-holds-pipe=30", MARK=name) as child:
        read_to(child, "result")
        assert child.wait() == 0
        os.set_blocking(out(child).fileno(), False)
        assert out(child).read() is None  # neither more bytes nor an end
        (pid,) = marked(name)
        assert os.getsid(pid) == pid


def test_forkers_move_on_ignore_sigterm_and_leave_their_session() -> None:
    with mark() as name, started("--script-forkers=3", MARK=name) as child:
        read_to(child, "result")
        assert child.wait() == 0
        first = marked(name)
        assert len(first) >= 3
        assert all(os.getsid(pid) != child.pid for pid in first)
        assert all(is_ignored(pid, signal.SIGTERM) for pid in first)
        until(lambda: len(marked(name)) >= 3 and not marked(name) & first)
        assert len(marked(name)) < 30


def test_forkers_end_by_themselves() -> None:
    code = "from nightrook.testing import scripted_agent as s; s.LONGEST_LIFE = 0.5; s.main()"
    with mark() as name:
        command = [sys.executable, "-c", code, "--script-forkers=2"]
        subprocess.run(
            command, env=environment(MARK=name), stdout=subprocess.DEVNULL, check=True, timeout=30
        )
        until(lambda: not marked(name))


def test_it_stops_itself_and_continues_after_sigcont() -> None:
    with started("--script-stop-self") as child:
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        child.send_signal(signal.SIGCONT)
        read_to(child, "result")


def test_it_ignores_sigterm() -> None:
    with started("--script-ignore-sigterm", "--script-hang-after-result") as child:
        read_to(child, "result")
        assert is_ignored(child.pid, signal.SIGTERM)


def test_a_lock_is_removed_at_the_end_and_when_asked_to_end(tmp_path: Path) -> None:
    lock = tmp_path / "index.lock"
    with started(f"--script-lock={lock}", "--script-hang-after-result") as child:
        read_to(child, "result")
        assert lock.exists()
        child.terminate()
        assert (child.wait(), lock.exists()) == (143, False)
    assert (play(f"--script-lock={lock}").returncode, lock.exists()) == (0, False)


def test_it_reports_its_environment_and_how_it_was_called(tmp_path: Path) -> None:
    told, call = tmp_path / "environment", tmp_path / "call"
    flags = (f"--script-print-env={told}", f"--script-print-call={call}", "-p", "--", "$(touch x)")
    play("--script-read-stdin-first", *flags, stdin="Prüfe es".encode(), CLAUDECODE="1")
    assert json.loads(told.read_text())["CLAUDECODE"] == "1"
    assert json.loads(call.read_text()) == {
        "arguments": ["--script-read-stdin-first", *flags],
        "cwd": os.getcwd(),
        "stdin": "Prüfe es",
    }


def test_it_reports_how_long_its_reader_kept_it_waiting(tmp_path: Path) -> None:
    stall = tmp_path / "stall"
    with started("--script-flood=1000000", f"--script-print-stall={stall}") as child:
        out(child).readline()
        assert child.stderr is not None
        assert not select.select([child.stderr], [], [], 0.3)[0]  # its pipe is full meanwhile
        out(child).read()
        child.wait()
    assert float(stall.read_text()) > 0.1


def test_it_says_nothing_before_stdin_ends() -> None:
    with started("--script-read-stdin-first") as child:
        assert child.stdin is not None
        child.stdin.write(b"more to come")
        child.stdin.flush()
        assert not select.select([out(child)], [], [], 0.2)[0]
        child.stdin.close()
        read_to(child, "result")


def test_it_really_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "made.txt"
    (changed,) = events(play(f"--script-write-file={path}").stdout, FileChanged)
    assert path.read_text() == "written by the scripted agent\n"
    assert (changed.path, changed.change, changed.added) == (str(path), "add", 1)


# Its stream


@pytest.mark.parametrize("size", [65535, 65536, 65537, 2_000_000])
def test_a_line_is_as_long_as_asked_for(size: int) -> None:
    written = play(f"--script-line={size}").stdout
    assert size in [len(line) for line in written.split(b"\n")]
    state = folded(written)
    assert (state.results[0].ok, state.open_tools, state.unreadable) == (True, {}, 0)


def test_a_flood_is_as_large_as_asked_for_and_the_same_each_time() -> None:
    first, second = (play("--script-flood=3000000").stdout for _ in range(2))
    assert first == second
    assert 3_000_000 < len(first) < 3_300_000
    assert folded(first).results[0].ok


def test_stderr_is_flooded() -> None:
    done = play("--script-stderr-flood=300000")
    assert (len(done.stderr), types(done.stdout)) == (300_000, SHORT)


def test_noise_stands_between_all_lines() -> None:
    whole, noisy = play("--script-play=short").stdout, play("--script-noise").stdout
    lines = noisy.split(b"\n")
    assert not lines[0].startswith(b"{")
    assert b"\n".join(line for line in lines if line.startswith(b"{")) == whole.rstrip()
    assert len(events(noisy, Unreadable)) == 1 + 2 * len(SHORT)
    assert folded(noisy).results[0].ok


def test_unknown_types_are_unknown() -> None:
    written = play("--script-unknown-types").stdout
    strangers = events(written, Unknown)
    assert [b"telepathy" in bytes(event.raw) for event in strangers] == [True] * 4
    assert folded(written).results[0].ok


def test_strange_text_is_survived() -> None:
    written = play("--script-strange-text").stdout
    state = folded(written)
    assert state.results[0].ok
    # The deepest bomb is too deep for a usual stack; a test before us may have raised its limit.
    assert state.unreadable + state.unknown["bomb"] == 5
    assert state.unreadable <= 1
    assert "\u2028" in state.texts[0]


def test_false_signs_are_nothing_but_a_tool_s_output() -> None:
    state = folded(play("--script-false-signs").stdout)
    assert (len(state.results), state.limits, state.denials, state.errors) == (1, {}, {}, [])


def test_it_is_silent_for_a_while() -> None:
    begun = time.monotonic()
    play("--script-silent=0.3")
    assert time.monotonic() - begun > 0.3


def test_a_background_task_ends_after_the_first_result_and_wakes_it() -> None:
    with started("--script-background-task=0.2") as child:
        read_to(child, "result")
        begun = time.monotonic()
        read_to(child, "result")
        assert time.monotonic() - begun > 0.15
        assert child.wait() == 0
    told = events(play("--script-background-task").stdout, TaskStarted, TaskFinished, TurnFinished)
    assert [type(event) for event in told] == [
        TaskStarted,
        TurnFinished,
        TaskFinished,
        TurnFinished,
    ]


def test_two_results_have_one_growing_cost() -> None:
    first, second = folded(play("--script-two-results").stdout).results
    assert (first.cost_usd, second.cost_usd) == (0.002412, 0.004824)


def test_a_budget_is_spent_in_steps_that_report_their_tokens() -> None:
    written = play("--script-budget").stdout
    final = [e for e in events(written, UsageReported) if e.semantics == "final"]
    spent = [event.output for event in final[:-1]]
    assert spent == sorted(spent)
    assert len(spent) == 12
    (ended,) = events(written, TurnFinished)
    assert ended.models[0].output == sum(event.output for event in final)


def test_retries_are_reported_before_it_continues() -> None:
    state = folded(play("--script-retries").stdout)
    assert state.retries == 3
    assert state.results[0].ok


def test_a_result_may_report_no_cost() -> None:
    (ended,) = folded(play("--script-no-cost").stdout).results
    assert (ended.ok, ended.cost_usd, ended.models, ended.usage) == (True, None, None, None)


# Failures to begin


def test_a_bad_flag_is_reported_on_stderr_only() -> None:
    done = play("--script-bad-flag")
    assert (done.stdout, done.returncode) == (b"", 1)
    assert done.stderr == b"error: unknown option '--no-such-flag'\n"


def test_it_is_not_logged_in() -> None:
    done = play("--script-not-logged-in")
    state = folded(done.stdout)
    assert (done.returncode, state.errors[0].kind, state.results[0].ok) == (1, "auth", False)


def test_a_limit_resets_when_asked_for() -> None:
    now = time.time()
    done = play("--script-limit=600")
    limits = folded(done.stdout).limits
    assert (done.returncode, limits["five_hour"].status) == (1, "rejected")
    assert 590 < (limits["five_hour"].resets_at or 0) - now < 630


def test_a_session_to_go_on_with_may_be_unknown() -> None:
    done = play("--script-resume-unknown", "--resume", "1-2-3")
    (ended,) = folded(done.stdout).results
    assert (done.returncode, ended.errors) == (
        1,
        ("No conversation found with session ID: 1-2-3",),
    )
