"""`rook loop`, `rook loops`, `rook show LOOP` and `rook batch`, as a user calls them."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from tests.loops.playing import calls, install, repository
from tests.terminals import Terminal
from tests.warm import ROOK, rook

from nightrook.store.list import newest_first


def signalled(work: Path, number: signal.Signals) -> tuple[str, int]:
    """Run a loop, and send it a signal in the middle of a tool; give its name and exit code."""
    command = [
        str(ROOK),
        "loop",
        "Fix it",
        "--until",
        "DONE",
        "--cwd",
        str(work),
        "--format",
        "jsonl",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as going:
        assert going.stdout is not None
        name: str = json.loads(going.stdout.readline())["loop"]
        for line in going.stdout:
            if json.loads(line)["type"] == "tool_started":
                going.send_signal(number)
        return name, going.wait(60)


def test_a_loop_is_told_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=no", "say=DONE write-file=ok"], monkeypatch)
    done = rook("loop", "Fix it", "--until", "DONE", "--check", "test -f ok", "--cwd", str(work))
    assert done.returncode == 0
    lines = done.stdout.split("\n")
    told = [line.partition(" · ")[0] for line in lines if line.startswith("[rook]")]
    assert told[1:] == [
        "[rook] at most 20 iterations",
        told[2],
        "[rook] ── iteration 1 of 20",
        "[rook] success",
        told[5],
        "[rook] continues",
        "[rook] ── iteration 2 of 20",
        "[rook] success",
        told[9],
        "[rook] done",
        "[rook] 2 iterations",
    ]
    assert "[rook] continues · the agent did not say it is done" in lines
    for before_or_after in (told[2], told[5]):
        assert before_or_after.startswith("[rook] check test -f ok: failed (exit 1")
    assert told[9].startswith("[rook] check test -f ok: passed")
    heading = lines.index("[rook] ── iteration 2 of 20 · claude ──")
    assert lines[heading + 1 :][0].startswith("[claude] ")  # a run is shown under its heading
    assert '[claude] "no"' in lines[:heading]
    head, *rows = lines[-6:-3]
    assert head.split()[:3] == ["STATUS", "CHECK", "TIME"]
    assert [re.split(r"  +", row)[:3] for row in rows] == [
        ["1", "not done", "failed"],
        ["2", "success", "passed"],
    ]
    assert " · rook show loop-" in lines[-2]


def test_a_loop_with_nothing_to_do_exits_with_0_and_spends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    done = rook("loop", "Fix it", "--check", "true", "--cwd", str(work))
    assert (done.returncode, calls(tmp_path)) == (0, 0)
    assert "[rook] done · every check passes already\n" in done.stdout
    assert "[rook] 0 iterations · " in done.stdout
    asked = rook("loop", "Fix it", "--check", "true", "--no-check-first", "--cwd", str(work))
    assert (asked.returncode, calls(tmp_path)) == (0, 1)


def test_what_a_failed_check_printed_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    check = r"seq 1 9; printf 'bad\033[31m\n'; exit 3"
    flags = ("--check", check, "--max-iterations", "2", "--cwd", str(work))
    done = rook("loop", "Fix it", *flags)
    last = ["  [...5 lines before]", *(f"  {n}" for n in (6, 7, 8, 9)), "  bad␛[31m"]
    told = done.stdout.split("\n")
    at = next(n for n, line in enumerate(told) if line.startswith("[rook] check seq"))
    assert "failed (exit 3, " in told[at]
    assert told[at + 1 : at + 7] == last
    name = done.stdout.split()[1]
    shown = rook("show", name).stdout.split("\n")
    (at,) = [n for n, line in enumerate(shown) if line.startswith("[rook] iteration")]
    assert shown[at].startswith("[rook] iteration 2 · check seq")
    assert shown[at + 1 : at + 7] == last
    full = rook("show", name, "--full").stdout
    assert full.count("\n  1\n  2\n") == 2
    verbose = rook("loop", "Fix it", *flags, "-v").stdout
    assert "\n  1\n  2\n" in verbose


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--check", "sleep 60", "--check-timeout", "1s"], "check sleep 60: timed out after 1."),
        (["--check", "no-such-thing"], " · command not found"),
    ],
)
def test_a_check_that_did_not_tell_says_why(
    flags: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    done = rook("loop", "Fix it", "--cwd", str(work), "--max-iterations", "1", *flags)
    assert told in done.stdout


def test_a_running_check_is_told_on_a_terminal_and_ctrl_c_interrupts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    command = [str(ROOK), "loop", "Fix it", "--check", "sleep 600", "--cwd", str(work)]
    with Terminal(command, dict(os.environ), columns=100) as going:
        going.until(lambda: b"[rook] check sleep 600: 0s" in going.raw)
        going.type("\x03")
        assert going.finish() == 130
    assert b"interrupted" in going.raw
    assert b"failed" not in going.raw


def test_on_a_terminal_it_is_in_colour_and_its_table_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "say=DONE write-file=ok"], monkeypatch)
    check = "test -f ok # and more words than there is room for in a row of the table"
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("CI", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    command = [str(ROOK), "loop", "Fix it", "--check", check, "--cwd", str(work)]
    with Terminal(command, dict(os.environ), columns=70) as going:
        assert going.finish() == 0
    shown = going.raw.decode()
    assert "\x1b[36m[rook]\x1b[0m \x1b[1m── iteration 2 of 20 · claude ──\x1b[0m" in shown
    assert "\x1b[1;31mfailed\x1b[0m (exit 1" in shown
    assert "\x1b[1;32mdone\x1b[0m · the goal is met" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r", "").split("\n")
    table = plain[next(n for n, line in enumerate(plain) if line.startswith("   STATUS")) :][:3]
    assert table[0].endswith("WHY")
    assert all(len(line) <= 70 for line in table)
    assert table[1].endswith("…")


@pytest.mark.parametrize(
    ("plays", "flags", "code"),
    [
        (["say=DONE"], ["--until", "DONE"], 0),
        (["say=x\nPHASE_COMPLETE"], ["--signal", "PHASE_COMPLETE", "--max-iterations", "1"], 5),
        (["say=1", "say=2"], ["--until", "DONE", "--max-iterations", "2"], 5),
        (["limit=3600"], ["--until", "DONE", "--on-limit", "stop"], 6),
        (["play=not-logged-in"], ["--until", "DONE"], 7),
        (["silent=60"], ["--until", "DONE", "--idle-timeout", "1s"], 7),
        (["say=DONE"], ["--until", "DONE", "--check", "false", "--max-iterations", "1"], 8),
        (["bad-flag"], ["--until", "DONE"], 9),
    ],
)
def test_the_exit_code_tells_why_it_ended(
    plays: list[str], flags: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, plays, monkeypatch)
    done = rook("loop", "Fix it", "--cwd", str(work), *flags)
    assert done.returncode == code, done.stdout + done.stderr


def test_its_events_as_json_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    done = rook("loop", "Fix it", "--until", "DONE", "--cwd", str(work), "--format", "jsonl")
    types = [json.loads(line)["type"] for line in done.stdout.strip().split("\n")]
    assert types[:2] == ["loop_started", "iteration_started"]
    assert types[-3:] == ["iteration_finished", "decision", "loop_finished"]
    assert {"tool_started", "tool_completed", "agent_thinking", "session_stats"} <= set(types)


def test_ctrl_c_ends_it_and_it_can_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE"], monkeypatch)
    name, code = signalled(work, signal.SIGINT)
    assert code == 130
    shown = rook("show", name)
    assert shown.returncode == 0
    assert "interrupted" in shown.stdout
    assert f"resume:  rook loop --resume {name}" in shown.stdout
    listed = rook("loops").stdout
    assert name in listed
    assert "interrupted" in listed
    assert rook("loop", "--resume", name).returncode == 0
    over = rook("loop", "--resume", name)
    assert over.returncode == 2
    assert "has ended" in over.stderr


def test_a_loop_that_reached_a_ceiling_goes_on_with_a_higher_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=b", "say=DONE"], monkeypatch)
    done = rook("loop", "Fix", "--until", "DONE", "--cwd", str(work), "--max-iterations", "1")
    name = done.stdout.split()[1]
    way = f"rook loop --resume {name} --max-iterations 2"
    assert done.returncode == 5
    assert "[rook] at most 1 iteration · " in done.stdout
    assert "1 iteration used" in done.stdout
    assert done.stdout.endswith(f"[rook] resume:  {way}\n")
    for flags in ((), ("--max-iterations", "1"), ("--max-cost", "99")):
        refused = rook("loop", "--resume", name, *flags)
        assert (refused.returncode, calls(tmp_path)) == (2, 1)
        assert f"1 iteration used; resume it with  {way}" in refused.stderr
    refused = rook("loop", "--resume", name, "--check", "true")
    assert refused.returncode == 2
    assert "--resume and --check can't be combined" in refused.stderr
    assert rook("loop", "--resume", name, "--max-iterations", "2").returncode == 5
    assert rook("loop", "--resume", name, "--max-iterations", "5").returncode == 0
    assert calls(tmp_path) == 3


def test_a_prompt_file_that_was_missing_for_a_moment_ends_nothing_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "say=DONE"], monkeypatch)
    task = tmp_path / "task.md"
    task.write_text("Fix it")
    program = tmp_path / "bin" / "claude"
    program.write_text(program.read_text().replace("exec ", f"rm -f {task}; exec "))
    flags = ("--prompt-file", str(task), "--until", "DONE", "--cwd", str(work))
    done = rook("loop", *flags)
    name = done.stdout.split()[1]
    assert done.returncode == 9
    assert f"resume:  rook loop --resume {name}\n" in done.stdout
    task.write_text("Fix it")
    assert rook("loop", "--resume", name).returncode == 0
    assert calls(tmp_path) == 2


def test_a_setting_that_asks_is_not_for_loops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    (work / "rook.toml").write_text('permission = "ask"\n')
    monkeypatch.chdir(work)
    done = rook("loop", "Fix it", "--until", "DONE")
    assert done.returncode == 0, done.stderr
    assert "rook loop does not support: using 'agent'" in done.stderr
    given = rook("loop", "Fix it", "--until", "DONE", "--permission", "edit")
    assert given.returncode == 0
    assert "does not support" not in given.stderr
    asks = rook("loop", "Fix it", "--until", "DONE", "--permission", "ask")
    assert asks.returncode == 0
    assert "does not support" not in asks.stderr


def test_a_loop_without_runs_has_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    done = rook("loop", "Fix it", "--until", "DONE", "--cwd", str(work), "--max-cost", "0")
    assert done.returncode == 5
    assert "STATUS" not in done.stdout
    assert "STATUS" not in rook("show", done.stdout.split()[1]).stdout


def started(work: Path, *flags: str, upto: str) -> "tuple[subprocess.Popen[str], str]":
    """A loop that goes on, and its name, when it has told of an event of that type."""
    command = [str(ROOK), "loop", "Fix it", "--cwd", str(work), "--format", "jsonl", *flags]
    going = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert going.stdout is not None
    name: str = json.loads(going.stdout.readline())["loop"]
    for line in going.stdout:
        if json.loads(line)["type"] == upto:
            break
    return going, name


def test_a_loop_that_goes_on_is_shown_and_stopped_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "hang-in-tool"], monkeypatch)
    going, name = started(work, "--until", "DONE", upto="decision")
    with going:
        assert going.stdout is not None
        for line in going.stdout:
            if json.loads(line)["type"] == "tool_started":
                break
        shown = rook("show", name).stdout.split("\n")
        assert shown[1].split() == ["STATUS", "TIME", "COST", "CHANGES", "RUN", "WHY"]
        first, second = shown[2].split(), shown[3].split()
        assert second[:2] == ["2", "running"]
        (run,) = [word for word in second if re.fullmatch("[a-z][a-z0-9]{3}", word)]
        assert rook("show", run).returncode == 0
        assert shown[4] == f"[rook] iteration 2 is running · rook attach {run} · rook stop {name}"
        assert shown[5].startswith("[rook] 1 iteration · ")
        assert " · 0.0s" not in shown[5]
        spent = next(word for word in first if "$" in word).lstrip("~$")
        assert float(shown[5].split("$")[1].split()[0]) >= float(spent) > 0
        assert "running" in rook("loops").stdout
        refused = rook("replay", name)
        assert refused.returncode == 2
        assert f"rook show {name}" in refused.stderr
        assert rook("stop", name).returncode == 0
        going.stdout.read()
        assert going.wait(60) == 130
    again = rook("stop", name)
    assert again.returncode == 2
    assert "is not running" in again.stderr


def test_what_a_cut_off_loop_spent_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["play=budget delay=0.1"], monkeypatch)
    going, name = started(work, "--until", "DONE", upto="tool_completed")
    with going:
        going.kill()
    (row,) = [line for line in rook("show", name).stdout.split("\n") if " cut off " in line]
    assert re.search(r"~\$0\.\d*[1-9]", row)
    assert re.search(r"0 iterations · .*~\$0\.\d*[1-9]", rook("loops").stdout)


def test_a_loop_tells_its_worktree_commits_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE write-file=made.txt"], monkeypatch)
    repository(work)
    done = rook("loop", "Fix", "--until", "DONE", "--cwd", str(work), "--worktree", "--commit")
    assert done.returncode == 0, done.stdout + done.stderr
    name = done.stdout.split()[1]
    tree = tmp_path / "home" / "loops" / name / "worktree"
    told = f"[rook] in the worktree {tree} · branch rook/{name}"
    shown = rook("show", name).stdout.split("\n")
    assert told in done.stdout.split("\n")
    assert told in shown
    (made,) = subprocess.run(
        ["git", "log", "-1", "--format=%h"], cwd=tree, check=True, capture_output=True, text=True
    ).stdout.split()
    (run,) = (path.name for path in (tmp_path / "home" / "runs").iterdir())
    (row,) = [line for line in shown if line.startswith("1")]
    assert f" · {made} " in row
    assert f" {run} " in row


def test_each_task_of_a_batch_with_a_worktree_leaves_your_files_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=ok write-file=made.txt"], monkeypatch)
    repository(work)
    (work / "sub").mkdir()
    monkeypatch.chdir(work / "sub")
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"prompt": "a"}\n{"prompt": "b"}\n')
    done = rook("batch", str(tasks), "--worktree")
    assert done.returncode == 0, done.stdout + done.stderr
    made = sorted((tmp_path / "home" / "worktrees").glob("*/sub/made.txt"))
    assert len(made) == 2
    assert list((work / "sub").iterdir()) == []
    refused = rook("batch", "--resume", "batch-abcd", "--worktree")
    assert refused.returncode == 2
    assert "--resume and --worktree can't be combined" in refused.stderr


@pytest.mark.parametrize("command", ["loop", "batch"])
def test_a_limit_on_the_cost_that_cannot_hold_is_refused(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    stub = work.parent / "bin" / "gemini"
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    monkeypatch.chdir(work)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"prompt": "a", "agent": "gemini"}\n')
    asked = {"loop": ("loop", "Fix", "--agent", "gemini"), "batch": ("batch", str(tasks))}[command]
    refused = rook(*asked, "--max-cost", "5")
    assert refused.returncode == 2
    assert "--max-cost cannot hold: gemini reports its tokens only when" in refused.stderr
    assert not (tmp_path / "home").exists()
    for accepted in ((), ("--max-cost", "5", "--max-cost-unchecked")):
        assert "cannot hold" not in rook(*asked, *accepted).stderr
    assert (tmp_path / "home" / "runs").is_dir()


def test_a_killed_loop_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["hang-in-tool", "say=DONE"], monkeypatch)
    name, _ = signalled(work, signal.SIGKILL)
    assert f"rook loop --resume {name}" in rook("show", name).stdout
    assert "cut off" in rook("loops").stdout
    resumed = rook("loop", "--resume", name)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert calls(tmp_path) == 2
    assert "2 iterations" in resumed.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["loop"], "the prompt is missing"),
        (["loop", "a", "b"], "more than one prompt"),
        (["loop", "a", "--on-limit", "switch"], "switch:AGENT"),
        (["loop", "a", "--on-limit", "switch:nobody"], "nobody"),
        (["loop", "a", "--max-quota", "180%"], "is not a share"),
        (["loop", "a", "--resume", "loop-x"], "can't be combined with a prompt"),
        (["loop", "--resume", "loop-x"], "no loop named 'loop-x'"),
        (["show", "loop-x"], "no loop named 'loop-x'"),
        (["loop", "a", "--agent", "nobody"], "nobody"),
        (["batch"], "name a file of tasks"),
    ],
)
def test_wrong_usage_names_the_way_out(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    done = rook(*words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_variable_that_is_not_known_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    done = rook("loop", "Do {{this}}", "--until", "DONE", "--cwd", str(work))
    assert done.returncode == 0
    assert "{{this}} is not a known variable" in done.stderr


def test_a_wait_counts_down_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["limit=3600"], monkeypatch)
    command = [str(ROOK), "loop", "Fix it", "--until", "DONE", "--cwd", str(work)]
    with Terminal(command, dict(os.environ), columns=100) as going:
        going.until(lambda: b"[rook] 1h 00m left" in going.raw)
        going.type("\x03")
        assert going.finish() == 130


def test_a_batch_gives_a_line_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    file = tmp_path / "tasks.jsonl"
    file.write_text(
        "".join(json.dumps({"prompt": "x", "id": f"t{n}", "cwd": str(work)}) + "\n" for n in "ab")
    )
    done = rook("batch", str(file), "--json")
    assert done.returncode == 0, done.stderr
    results = [json.loads(line) for line in done.stdout.strip().split("\n")]
    assert sorted(result["id"] for result in results) == ["ta", "tb"]
    name = done.stderr.split()[1]
    again = rook("batch", "--resume", name)
    assert again.returncode == 0
    assert "0 of 2 tasks to do" in again.stderr


def tasks_file(folder: Path, *tasks: dict[str, str]) -> Path:
    file = folder / "tasks.jsonl"
    file.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return file


def test_a_batch_goes_on_though_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    file = tasks_file(tmp_path, *({"prompt": "x", "cwd": str(work)} for _ in range(4)))
    done = subprocess.run(
        ["/bin/sh", "-c", f"{ROOK} batch {file} --jobs 1 | head -1"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.startswith("1: success")
    assert "4 of 4 tasks done" in done.stderr


def test_a_batch_takes_settings_and_agents_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=fine", "play=budget delay=0.01"], monkeypatch)
    own = tmp_path / "config" / "nightrook"
    own.mkdir(parents=True)
    claude = tmp_path / "bin" / "claude"
    (own / "rook.toml").write_text(
        'model = "small"\nmax_cost = 0.0\npermission = "ask"\n'
        "[profile.rich]\nmax_cost = 9.0\n"
        f'[agents.work]\ncommand = ["{claude}"]\nspeaks = "claude"\n'
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tasks_file(tmp_path, {"prompt": "x", "cwd": str(work), "agent": "work"})
    done = rook("batch", "--profile", "rich", str(file))
    assert done.returncode == 0, done.stderr
    (folder,) = list(newest_first(tmp_path / "home"))
    info = folder.info()
    assert info is not None
    assert info.command[0] == str(claude)
    assert (info.model, info.permission) == ("small", "agent")
    poor = rook("batch", str(file))
    assert "over budget" in poor.stdout  # the task's own limit: there is none for all


def test_tasks_can_come_by_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    line = json.dumps({"prompt": "x", "cwd": str(work)})
    done = subprocess.run(
        [ROOK, "batch", "-"], input=line, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["1:", "success"])
    wrong = subprocess.run(
        [ROOK, "batch", "-"], input="{", capture_output=True, text=True, timeout=120, check=False
    )
    assert (wrong.returncode, "standard input, line 1" in wrong.stderr) == (2, True)


def test_a_batch_whose_budget_is_used_up_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    file = tasks_file(tmp_path, *({"prompt": "x", "cwd": str(work)} for _ in range(3)))
    first = rook("batch", str(file), "--max-cost", "0.001", "--jobs", "1")
    name = first.stderr.split()[1]
    assert first.returncode == 5
    assert f"rook batch --resume {name} --max-cost" in first.stderr
    again = rook("batch", "--resume", name)
    assert (again.returncode, again.stdout) == (5, "")
    assert "at most $0.001 for all" in again.stderr
    richer = rook("batch", "--resume", name, "--max-cost", "1")
    assert richer.returncode == 0
    assert "3 of 3 tasks done" in richer.stderr
    assert rook("batch", "--resume", name).returncode == 0


def test_one_damaged_loop_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    name = rook("loop", "Fix it", "--until", "DONE", "--cwd", str(work)).stdout.split()[1]
    (tmp_path / "home" / "loops" / "loop-empty").mkdir()
    listed = rook("loops")
    assert (listed.returncode, listed.stderr) == (0, "")
    rows = {line.split()[0]: line for line in listed.stdout.splitlines()[1:]}
    assert "done" in rows[name]
    assert "damaged" in rows["loop-empty"]
    assert "plan.json: is missing" in rows["loop-empty"]
    (tmp_path / "home" / "loops" / "loop-empty" / "state.json").write_bytes(b"\xff")
    lines = [json.loads(line) for line in rook("loops", "--json").stdout.splitlines()]
    assert {line["loop"]: "error" in line for line in lines} == {name: False, "loop-empty": True}


def test_a_batch_is_not_replayed_as_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    replayed = rook("replay", "batch-k7f3")
    assert replayed.returncode == 2
    assert "is a batch, not a run: use  rook show batch-k7f3" in replayed.stderr
