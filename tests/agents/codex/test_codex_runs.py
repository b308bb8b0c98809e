"""`rook run` with a Codex that plays what a real one wrote."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.recorded import cases, name_of, recordings
from tests.terminals import Terminal
from tests.warm import ROOK, rook

_ENDINGS = ("exit", "verdict")
STREAMS = {name_of(path): path for path in (*cases("codex"), *recordings("codex"))}

pytestmark = pytest.mark.slow  # each starts processes


EXEC = ("--agent", "codex", "--via", "exec")


class Desk:
    """A folder with a `codex` on PATH that writes a recorded stream, and a home for runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        program = folder / "codex"
        program.write_text('#!/bin/sh\necho "$@" > called\ncat "$STREAM"\n')
        program.chmod(0o755)

    def environment(self, stream: str) -> dict[str, str]:
        return {
            "PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "ROOK_HOME": str(self.folder / "home"),
            "STREAM": str(STREAMS[f"{stream}-0.166.0"]),
        }

    def rook(self, stream: str, *words: str) -> subprocess.CompletedProcess[str]:
        return rook(*words, cwd=self.folder, env=self.environment(stream))

    def run(self, stream: str, *words: str) -> dict[str, Any]:
        done = self.rook(stream, "run", *EXEC, "--json", *words, "Go on")
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    def last(self) -> str:
        out = self.rook("text", "runs", "--json").stdout
        name: str = json.loads(out.split("\n")[0])["name"]
        return name


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_resumed_thread_is_counted_from_where_the_run_before_it_ended(desk: Desk) -> None:
    first = desk.run("resume_turn1")
    second = desk.run("resume_turn2_last", "--resume", desk.last())
    third = desk.run("resume_turn3_id", "--resume", desk.last())
    counts = [(t["tokens"]["input"], t["tokens"]["cache_read"]) for t in (first, second, third)]
    assert counts == [(1000, 0), (400, 1900), (200, 1100)]
    assert [t["tokens"]["output"] for t in (first, second, third)] == [10, 50, 40]
    assert "resume 01a1e060-6b0a-76c2-94f6-10c11e35bbea" in (desk.folder / "called").read_text()


def test_what_followed_a_run_that_told_nothing_is_unknown(desk: Desk) -> None:
    desk.run("sigint_during_cmd")
    told = desk.run("resume_turn2_last", "--resume", desk.last(), "--model", "gpt-5")
    assert (told["tokens"]["input"], told["spent_usd"]) == (None, None)


def test_a_thread_that_no_run_of_ours_began_is_counted_by_nobody(desk: Desk) -> None:
    words = ("exec", "--json", "--", "codex", "exec", "resume", "--last", "Go on")
    told = json.loads(desk.rook("resume_turn2_last", *words).stdout)
    assert (told["text"], told["tokens"]["input"]) == ("Turn two answer.", None)


def test_a_resumed_run_that_is_shown_again_has_the_same_cost(desk: Desk) -> None:
    model = ("--model", "gpt-5")
    whole = desk.run("resume_turn1", *model)["spent_usd"]
    share = desk.run("resume_turn2_last", *model, "--resume", desk.last())["spent_usd"]
    assert whole is not None
    assert share is not None
    for again in ("show", "attach", "replay"):
        assert f"Complete (cost: ~${share:.4f})" in desk.rook("text", again).stdout, again


@pytest.mark.parametrize(
    "words", [("exec", "--", "codex", "exec", "Go on"), ("run", *EXEC, "Go on")]
)
def test_a_run_without_a_model_is_priced_by_the_model_in_codex_s_own_session(
    desk: Desk, words: tuple[str, ...]
) -> None:
    thread = json.loads(STREAMS["text-0.166.0"].read_text().split("\n")[0])["thread_id"]
    day = desk.folder / ".codex" / "sessions" / "2026" / "11" / "16"
    day.mkdir(parents=True)
    line = {"type": "turn_context", "payload": {"model": "gpt-5", "cwd": "/"}}
    (day / f"rollout-2026-11-16T10-00-00-{thread}.jsonl").write_text(json.dumps(line) + "\n")
    command, *rest = words
    told = json.loads(desk.rook("text", command, "--json", *rest).stdout)
    assert told["model"] == "gpt-5"
    assert told["spent_usd"] > 0
    for again in ("show", "replay"):
        assert f"Complete (cost: ~${told['spent_usd']:.4f})" in desk.rook("text", again).stdout


def test_a_budget_that_could_not_be_held_is_told_once(desk: Desk) -> None:
    done = desk.rook("text", "run", "--agent", "codex", "--max-cost", "0.001", "Go on")
    assert done.returncode == 0
    told = "[rook] WARNING: the cost is unknown: --max-cost could not stop the run\n"
    assert done.stderr.count(told) == 1
    priced = ("--agent", "codex", "--model", "gpt-5", "--max-cost", "9")
    assert "is not known" not in desk.rook("text", "run", *priced, "Go on").stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", *EXEC, "Go on"),
        ("run", "--agent", "codex", "Go on", "--", "--skip-git-repo-check"),
        ("run", "--agent", "codex", "--no-stream", "Go on"),
        ("exec", "--", "codex", "exec", "Go on"),
    ],
)
def test_a_budget_that_cannot_hold_is_refused_unless_that_is_wanted(
    desk: Desk, words: tuple[str, ...]
) -> None:
    command, *rest = words
    refused = desk.rook("text", command, "--max-cost", "1", *rest)
    assert refused.returncode == 2
    assert "--max-cost cannot hold: " in refused.stderr
    assert "add --max-cost-unchecked" in refused.stderr
    assert not (desk.folder / "called").exists()
    unchecked = ("--max-cost", "1", "--max-cost-unchecked")
    assert desk.rook("text", command, *unchecked, *rest).returncode == 0


def test_exec_adds_what_is_missing_where_it_belongs_and_says_so(desk: Desk) -> None:
    done = desk.rook("text", "exec", "--", "codex", "-m", "big", "exec", "Say hello.")
    assert done.returncode == 0
    assert "[rook] added: --json\n" in done.stderr
    assert (desk.folder / "called").read_text() == "-m big exec --json Say hello.\n"
    assert '[codex] "Hello from the fake."' in done.stdout


def test_what_codex_cannot_do_is_told_in_a_line(desk: Desk) -> None:
    done = desk.rook("text", "run", "--agent", "codex", "--allow", "Bash(ls)", "Go on")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "[rook] codex has no rules for single tools: leave out --allow, or use --permission all\n"
    )


def test_what_a_failing_command_wrote_is_told_from_its_first_line_on(desk: Desk) -> None:
    done = desk.rook("cmd_fail", "run", "--agent", "codex", "Go on")
    assert "[codex] ERROR: exit 3: out err\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("--agent", "codex", "--via", "telnet"),
            "codex has no --via 'telnet': use one of app-server,",
        ),
        (("--agent", "amp", "--via", "exec"), "amp has only one way to be run: leave out"),
        (("--agent", "codex", "--via", "exec", "--permission", "ask"), "codex cannot ask via exec"),
        (("--agent", "codex", "--permission", "ask", "--no-stream"), "plain text cannot be"),
        (
            ("--agent", "codex", "--via", "app-server", "--no-stream"),
            "codex app-server has no plain",
        ),
    ],
)
def test_a_way_that_cannot_be_had_is_wrong_usage(
    desk: Desk, words: tuple[str, ...], told: str
) -> None:
    done = desk.rook("text", "run", *words, "Hi")
    assert done.returncode == 2
    assert done.stderr.startswith(f"[rook] {told}")
    assert not (desk.folder / "called").exists()


@pytest.mark.parametrize(
    ("words", "way"),
    [
        ((), "app-server"),
        (("--via", "app-server"), "app-server"),
        (("--via", "exec"), "exec"),
        (("--permission", "agent"), "app-server"),
        (("--", "-c", "model_reasoning_effort=low"), "app-server"),
        (("--", "--config=a=1", "--enable", "x"), "app-server"),
        (("--", "--skip-git-repo-check"), "exec"),
        (("--no-stream",), "exec"),
    ],
)
def test_on_a_terminal_it_is_run_so_that_it_can_ask_unless_it_is_said_how(
    desk: Desk, words: tuple[str, ...], way: str
) -> None:
    stream = "app_server_text" if way == "app-server" else "text"
    command = ("run", "--agent", "codex", "Hi", *words)
    with Terminal([ROOK, *command], desk.environment(stream), cwd=desk.folder) as terminal:
        assert terminal.finish() == 0, terminal.text
    assert (desk.folder / "called").read_text().split()[0] == way


def test_what_the_app_server_writes_is_shown_like_any_other(desk: Desk) -> None:
    done = desk.rook(
        "app_server_approve_cmd", "run", "--agent", "codex", "--permission", "ask", "Hi"
    )
    assert done.returncode == 4, done.stderr  # nobody was there to approve it
    assert (desk.folder / "called").read_text().startswith("app-server ")
    told = [line for line in done.stdout.splitlines() if line.startswith("[codex] ")]
    shown = [line.removeprefix("[codex] ") for line in told]
    assert shown[:2] == ["shell: touch made.txt", '"Ok."']


def test_the_chatter_of_an_agent_is_kept_but_not_shown(desk: Desk) -> None:
    program = desk.folder / "codex"
    chatter = "Reading additional input from stdin..."
    program.write_text(f'#!/bin/sh\necho "{chatter}" >&2\necho trouble >&2\ncat "$STREAM"\n')
    for words in (("run", "--agent", "codex", "Go on"), ("attach", "{}")):
        name = desk.last() if "{}" in words else ""
        done = desk.rook("text", *(word.format(name) for word in words))
        assert "trouble\n" in done.stderr
        assert chatter not in done.stderr
    assert chatter in (desk.folder / "home" / "runs" / name / "stderr.raw").read_text()


def test_a_run_takes_as_long_as_its_process_wherever_it_is_told(desk: Desk) -> None:
    told = desk.run("text")
    folder = Path(told["file"])
    ended = {json.loads((folder / f"{name}.json").read_text())["ended_at"] for name in _ENDINGS}
    assert len(ended) == 1


REJECTED = (
    "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings"
)


def test_a_patch_that_only_stderr_reports_as_rejected_is_a_denial(desk: Desk) -> None:
    line = f"2026-11-16T17:43:04.512783Z ERROR codex_core::tools::router: error={REJECTED}"
    program = desk.folder / "codex"
    program.write_text(f'#!/bin/sh\ncat "$STREAM"\necho "{line}" >&2\n')
    done = desk.rook("text", "run", "--agent", "codex", "Write it")
    assert done.returncode == 4, done.stderr
    assert f"[rook] denied: 1 tool call was not permitted: {REJECTED}" in done.stderr
    assert "allow it: rook run --resume" in done.stderr
    assert "--permission edit" in done.stderr.split("allow it: ")[1]
    allowed = desk.rook("text", "run", "--agent", "codex", "--allow-denials", "Write it")
    assert allowed.returncode == 0, allowed.stderr


@pytest.mark.parametrize(
    ("case", "reason", "fix"),
    [
        ("default_patch_denied", REJECTED, "--permission edit"),
        ("hook_blocks", "Command blocked by PreToolUse hook: blocked by policy.", None),
        ("on_request_nobody", "approval policy is Never; reject command", None),
    ],
)
def test_what_only_the_real_stderr_reports_is_a_denial(
    desk: Desk, case: str, reason: str, fix: str | None
) -> None:
    written = Path(__file__).parent / "stderr" / f"{case}-0.169.0.txt"
    program = desk.folder / "codex"
    program.write_text(f'#!/bin/sh\ncat "$STREAM"\ncat "{written}" >&2\n')
    done = desk.rook("text", "run", *EXEC, "Write it")
    assert done.returncode == 4, done.stderr
    assert f"[rook] denied: 1 tool call was not permitted: {reason}" in done.stderr
    next_steps = done.stderr.split("[rook] denied: ")[1]
    assert ("allow it: " in next_steps) is (fix is not None)
    assert fix is None or fix in next_steps


def test_a_run_without_a_permission_warns_that_nothing_may_be_written(desk: Desk) -> None:
    warning = "[rook] WARNING: codex may not change any file, unless its own settings allow it"
    assert warning in desk.rook("text", "run", "--agent", "codex", "Go on").stderr
    free = desk.rook("text", "run", "--agent", "codex", "--permission", "edit", "Go on")
    assert warning not in free.stderr
