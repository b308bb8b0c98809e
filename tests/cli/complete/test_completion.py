"""`rook completion`: scripts that shells really source, and what they then offer."""

import fcntl
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import click
import pytest
from tests.cli.desk import Desk
from tests.programs import program
from tests.terminals import Terminal
from tests.warm import ROOK

from nightrook import agents
from nightrook.cli.complete import outline
from nightrook.cli.main import cli
from nightrook.process.liveness import start_ticks
from nightrook.store.file_names import INFO

SHELLS = ("bash", "fish", "zsh")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def offered(desk: Desk, *words: str, **variables: str) -> list[str]:
    """What bash offers for the last word, after it has sourced the script."""
    line = " ".join(f'"{word}"' for word in ("rook", *words))
    out = desk.shell(
        'eval "$(rook completion bash)"; complete -p rook > /dev/null || exit 1; '
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _rook_completion rook; "
        'printf "%s\\n" "${COMPREPLY[@]}"',
        **variables,
    )
    assert (out.returncode, out.stderr) == (0, "")
    return [word for word in out.stdout.split("\n") if word]


def test_bash_completes_commands(desk: Desk) -> None:
    assert offered(desk, "comp") == ["completion"]
    assert set(offered(desk, "")) >= {"agents", "config", "run", "runs", "show"}


def test_bash_completes_options_and_their_opposites(desk: Desk) -> None:
    assert offered(desk, "run", "--max-") == [
        "--max-cost",
        "--max-cost-unchecked",
        "--max-tokens",
        "--max-turns",
        "--max-log-size",
    ]
    assert "--no-verbose" in offered(desk, "run", "--no-")
    assert offered(desk, "run", "--pro") == ["--prompt-file", "--profile"]


def test_bash_completes_the_words_of_a_choice(desk: Desk) -> None:
    assert "edit" in offered(desk, "run", "--permission", "")
    assert offered(desk, "completion", "z") == ["zsh"]


def test_bash_completes_agents_and_those_of_ones_own(desk: Desk) -> None:
    desk.user_file.write_text('[agents.work]\nspeaks = "claude"\ncommand = ["x"]\n')
    desk.project_file.write_text('[agents.here]\nspeaks = "claude"\ncommand = ["x"]\n')
    ours = [*agents.NAMES, *agents.speaker_names()]
    assert offered(desk, "run", "--agent", "") == [*ours, "work", "here"]
    assert offered(desk, "run", "--agent", "w") == ["work"]
    assert offered(desk, "agents", "clau") == ["claude"]


def test_bash_completes_the_ways_to_run_an_agent(desk: Desk) -> None:
    assert offered(desk, "run", "--via", "a") == ["acp", "app-server"]


def test_bash_completes_profiles_of_both_files_once(desk: Desk) -> None:
    desk.user_file.write_text("[profile.ci]\n[profile.night]\n")
    desk.project_file.write_text("[profile.ci]\n")
    assert offered(desk, "run", "--profile", "") == ["ci", "night"]
    assert offered(desk, "config", "--profile", "n") == ["night"]


def kept(desk: Desk, kind: str, name: str, **files: str) -> None:
    """A run, a loop or a batch that left these files."""
    folder = desk.home / "runs-home" / kind / name
    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / f"{file}.json").write_text(text)


def test_pipes_in_place_of_files_do_not_block(desk: Desk) -> None:
    kept(desk, "runs", "abcd")
    kept(desk, "loops", "loop-abcd")
    os.mkfifo(desk.home / "runs-home" / "runs" / "abcd" / INFO)
    os.mkfifo(desk.home / "runs-home" / "loops" / "loop-abcd" / "plan.json")
    os.mkfifo(desk.home / "runs-home" / "ledger.db")
    desk.user_file.unlink(missing_ok=True)
    os.mkfifo(desk.user_file)
    assert offered(desk, "show", "") == ["abcd", "loop-abcd"]


def test_bash_completes_loops_and_batches_where_they_are_meant(desk: Desk) -> None:
    kept(desk, "runs", "abcd")
    kept(desk, "loops", "loop-abcd", plan='{"prompt": "Fix"}')
    kept(desk, "batches", "batch-abcd")
    assert offered(desk, "loop", "--resume", "") == ["loop-abcd"]
    assert offered(desk, "batch", "--resume", "") == ["batch-abcd"]
    assert offered(desk, "show", "") == ["abcd", "loop-abcd", "batch-abcd"]
    assert offered(desk, "show", "loop-") == ["loop-abcd"]
    assert offered(desk, "rm", "abcd", "") == ["abcd", "loop-abcd", "batch-abcd"]
    assert offered(desk, "run", "--resume", "") == ["last", "abcd"]


def test_bash_offers_to_stop_only_what_goes_on(desk: Desk) -> None:
    me = {"recorder_pid": os.getpid(), "recorder_ticks": start_ticks(os.getpid())}
    kept(desk, "runs", "abcd", run=json.dumps(me))
    kept(desk, "runs", "over", run=json.dumps(me), verdict="{}")
    kept(desk, "runs", "dead", run=json.dumps({**me, "recorder_ticks": 1}))
    kept(desk, "runs", "made", run="{}")
    for kind in ("loop", "batch"):
        parent = {"loop": "loops", "batch": "batches"}[kind]
        kept(desk, parent, f"{kind}-abcd", state='{"end": null}')
        kept(desk, parent, f"{kind}-dead", state='{"end": null}')
        kept(desk, parent, f"{kind}-made")
        (desk.home / "runs-home" / parent / f"{kind}-dead" / "lock").touch()
    with ExitStack() as held:
        for parent, name in (("loops", "loop-abcd"), ("batches", "batch-abcd")):
            lock = held.enter_context(open(desk.home / "runs-home" / parent / name / "lock", "w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        assert offered(desk, "stop", "") == ["abcd", "loop-abcd", "batch-abcd"]
    assert offered(desk, "stop", "") == ["abcd"]


@pytest.mark.parametrize("words", [("show",), ("replay",), ("attach",), ("run", "--resume")])
def test_bash_completes_runs_the_newest_first(desk: Desk, words: tuple[str, ...]) -> None:
    runs = desk.home / "runs-home" / "runs"
    for age, name in enumerate(["abcd", "abxy", "wxyz"]):
        (runs / name).mkdir(parents=True)
        os.utime(runs / name, (1000 - age, 1000 - age))
    (runs / "not a name").mkdir()
    (runs / "$(touch x)").mkdir()
    last = ["last"] if words[-1] == "--resume" else []
    assert offered(desk, *words, "") == [*last, "abcd", "abxy", "wxyz"]
    assert offered(desk, *words, "ab") == ["abcd", "abxy"]


def test_a_real_run_is_offered_with_what_was_asked(desk: Desk) -> None:
    assert desk.rook("run", "Fix the\ntests").returncode == 0
    (name,) = (path.name for path in (desk.home / "runs-home" / "runs").iterdir())
    assert offered(desk, "show", "") == [name]
    answer = desk.rook(
        _ROOK_COMPLETE="zsh_complete", COMP_WORDS="rook show ", COMP_CWORD="2"
    ).stdout
    assert answer == f"plain\n{name}\nFix the tests\n"
    answer = desk.rook(
        _ROOK_COMPLETE="fish_complete", COMP_WORDS="rook show ", COMP_CWORD=""
    ).stdout
    assert answer == f"plain,{name}\tFix the tests\n"


def test_nothing_is_offered_or_said_where_nothing_can_be_known(desk: Desk) -> None:
    assert offered(desk, "show", "") == []
    desk.project_file.write_text("is no TOML")
    assert offered(desk, "run", "--profile", "") == []


def test_a_command_that_is_not_there_is_no_error_while_completing(desk: Desk) -> None:
    assert "run" in offered(desk, "nonsense", "")


def test_completing_imports_nothing_heavy(desk: Desk) -> None:
    code = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules)); sys.argv = ['rook'];"
        "from nightrook.cli.main import main; main()"
    )
    for words, position in (
        ("rook run --", "2"),
        ("rook show ", "2"),
        ("rook stop ", "2"),
        ("rook run --agent ", "3"),
    ):
        out = subprocess.run(
            [sys.executable, "-c", code],
            cwd=desk.project,
            env=desk.environment(
                _ROOK_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=position
            ),
            capture_output=True,
            text=True,
            check=True,
        )
        heavy = {"asyncio", "genai_prices", "msgspec", "rich", "nightrook.cli.commands.run"}
        assert not heavy & set(out.stdout.split()), words


STARTS = {
    "bash": (["--norc", "-i"], 'eval "$(rook completion bash)"'),
    "fish": (["--no-config", "-i"], "rook completion fish | source"),
    "zsh": (["-f", "-i"], 'autoload -U compinit; compinit -u -D; eval "$(rook completion zsh)"'),
}
"""How each shell is started without anybody's settings, and taught to complete."""


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_in_a_shell_on_a_terminal(desk: Desk, shell: str) -> None:
    flags, teach = STARTS[shell]
    command = [program(shell), *flags]
    with Terminal(command, desk.environment(PS1="> "), cwd=desk.project) as terminal:
        terminal.type(f"{teach}; echo rea''dy\n")
        terminal.until("\nready")
        terminal.type("rook compl\t")
        terminal.until("rook completion ")
        terminal.type("z\t")
        terminal.until("rook completion zsh")
        terminal.type("\n")
        terminal.until("compdef _rook_completion rook")
        terminal.type("exit\n")
        terminal.finish()


def test_fish_offers_options_agents_profiles_and_runs_with_what_was_asked(desk: Desk) -> None:
    fish = program("fish")
    desk.project_file.write_text("[profile.ci]\n")
    assert desk.rook("run", "Fix the tests").returncode == 0
    (name,) = (path.name for path in (desk.home / "runs-home" / "runs").iterdir())

    def offers(line: str) -> list[str]:
        script = f"rook completion fish | source; complete -C '{line}'"
        done = subprocess.run(
            [fish, "--no-config", "-c", script],
            cwd=desk.project,
            env=desk.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split("\n")[:-1]

    offered = [line.split("\t") for line in offers("rook run --max-cost")]
    assert [name for name, _ in offered] == ["--max-cost", "--max-cost-unchecked"]
    assert "the run" in offered[0][1]
    assert offers("rook run --agent cl") == ["claude", "cline"]
    assert offers("rook run --profile ") == ["ci"]
    assert offers("rook show ") == [f"{name}\tFix the tests"]
    assert offers("rook run --permission e") == ["edit"]


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_the_shell_and_calls_rook(desk: Desk, shell: str) -> None:
    out = desk.rook("completion", shell, PATH=str(ROOK.parent))  # without a shell on PATH
    assert (out.returncode, out.stderr) == (0, "")
    assert f"_ROOK_COMPLETE={shell}_complete" in out.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_right_for_its_shell(desk: Desk, shell: str) -> None:
    script = desk.home / "script"
    script.write_text(desk.rook("completion", shell).stdout)
    done = subprocess.run(
        [program(shell), "-n", str(script)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_another_shell_is_wrong_usage(desk: Desk) -> None:
    out = desk.rook("completion", "tcsh")
    assert out.returncode == 2
    assert "'bash', 'fish', 'zsh'" in out.stderr


def test_the_outline_offers_the_same_options_as_the_commands() -> None:
    ctx = click.Context(cli)
    for name in cli.list_commands(ctx):
        real, drawn = cli.get_command(ctx, name), outline.command(name)
        assert real is not None
        assert drawn is not None
        words = [(param.opts, param.secondary_opts, param.nargs) for param in real.params]
        assert [(param.opts, param.secondary_opts, param.nargs) for param in drawn.params] == words
