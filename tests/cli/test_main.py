"""The command line as a whole: help, typos, first words, and the same words everywhere."""

import inspect
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.cli.desk import Desk
from tests.warm import ROOK

from nightrook.cli.commands import exec as exec_
from nightrook.cli.commands import run as run_
from nightrook.cli.main import COMMANDS, cli
from nightrook.cli.options.defaults import profile_option
from nightrook.cli.options.parameters import parameters
from nightrook.config.options import PipeOptions, ViewOptions
from nightrook.config.settings import SETTINGS

CONTEXT = click.Context(cli)
NAMES = cli.list_commands(CONTEXT)
OF_ONE_CALL = {
    *("on", "retry_lost", "lease", "repo", "files", "sink", "credentials"),
    *("json", "command", "cwd", "detach", "format", "profile", "prompt_file", "resume", "via"),
    *("stdin_mode", "web", "words", "worktree"),
}
"""What is said for one run and is not a setting: a new option must be here or be one."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def command(name: str) -> click.Command:
    found = cli.get_command(CONTEXT, name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_summary_a_sentence_and_examples(name: str) -> None:
    found = command(name)
    assert COMMANDS[name].endswith(".")
    assert len(COMMANDS[name]) <= 58  # one line beside its name, in 80 columns
    assert inspect.cleandoc(found.help or "").partition("\n")[0]
    assert f"rook {name}" in (found.epilog or "")


@pytest.mark.parametrize("name", NAMES)
def test_every_option_says_what_it_is_for(name: str) -> None:
    for option in command(name).params:
        if isinstance(option, click.Option):
            assert option.help, option.opts


def test_an_option_has_the_same_letter_and_name_in_every_command() -> None:
    seen: dict[str, set[tuple[str, ...]]] = {}
    for name in NAMES:
        for option in command(name).params:
            if isinstance(option, click.Option):
                long = next(word for word in option.opts if word.startswith("--"))
                seen.setdefault(long, set()).add(tuple(sorted(option.opts)))
    assert [forms for forms in seen.values() if len(forms) > 1] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_shows_examples_on_lines_of_their_own(desk: Desk, name: str, flag: str) -> None:
    out = desk.rook(name, flag)
    assert (out.returncode, out.stderr) == (0, "")
    assert any(line.strip().startswith("rook ") for line in out.stdout.split("\n")) or (
        "Example:  rook" in out.stdout
    )
    assert all(len(line) <= 100 for line in out.stdout.split("\n"))


@pytest.mark.parametrize(
    ("typed", "meant"), [("rnu", "run"), ("shwo", "show"), ("agent", "agents")]
)
def test_a_typo_of_a_command_is_answered_with_the_nearest(
    desk: Desk, typed: str, meant: str
) -> None:
    out = desk.rook(typed)
    assert out.returncode == 2
    assert f"there is no command '{typed}'. Did you mean '{meant}'?" in out.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--verson",), "--version"),
        (("run", "--max-costs", "2", "x"), "--max-cost"),
        (("run", "--profil", "ci", "x"), "--profile"),
        (("exec", "--timout", "5m", "--", "true"), "--timeout"),
        (("show", "--verbos"), "--verbose"),
        (("agents", "--chekc"), "--check"),
    ],
)
def test_a_typo_of_an_option_is_answered_with_the_nearest(
    desk: Desk, words: tuple[str, ...], meant: str
) -> None:
    out = desk.rook(*words)
    assert out.returncode == 2
    assert "Did you mean" in out.stderr
    assert meant in out.stderr


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("run", "--permission", "edti", "x"), "edit"),
        (("run", "--format", "josnl", "x"), "jsonl"),
        (("replay", "--format", "txt"), "text"),
        (("completion", "fsh"), "fish"),
    ],
)
def test_a_typo_of_a_word_that_is_chosen_is_answered_with_the_nearest(
    desk: Desk, words: tuple[str, ...], meant: str
) -> None:
    out = desk.rook(*words)
    assert out.returncode == 2
    assert f"Did you mean '{meant}'?" in out.stderr


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-cost", "much", "'much' is not a number of dollars"),
        ("--max-cost", "nan", "'nan' is not a number of dollars"),
        ("--max-cost", "-1", "'-1' is not a number of dollars"),
        ("--max-turns", "0", "'0' is not a whole number above 0"),
        ("--max-tokens", "1.5", "'1.5' is not a whole number above 0"),
        ("--timeout", "soon", "'soon' is not a time such as 90s, 5m or 2h"),
    ],
)
def test_a_wrong_number_is_answered_with_what_to_write(
    desk: Desk, option: str, value: str, said: str
) -> None:
    out = desk.rook("run", f"{option}={value}", "x")
    assert out.returncode == 2
    assert said in out.stderr


@pytest.mark.parametrize("name", NAMES)
def test_no_help_shows_a_range_as_a_formula(desk: Desk, name: str) -> None:
    assert "<=x" not in desk.rook(name, "--help").stdout
    assert "x>=" not in desk.rook(name, "--help").stdout


def test_exec_leaves_the_options_of_the_command_to_it(desk: Desk) -> None:
    desk.program("words", 'echo "$@"')
    out = desk.rook("exec", "words", "--verbose", "--nonsense")
    assert out.returncode == 0
    assert "--verbose --nonsense\n" in out.stdout


def test_rook_alone_on_a_terminal_says_what_to_do_first(desk: Desk) -> None:
    code, shown = desk.on_terminal()
    assert code == 0
    assert "  rook demo " in shown
    assert '  rook run "Fix the failing tests" ' in shown
    assert "Installed here: claude." in shown
    (desk.programs / "claude").unlink()
    code, shown = desk.on_terminal()
    assert code == 0
    assert "No agent is installed here yet." in shown
    assert "npm install -g @anthropic-ai/claude-code" in shown


def test_rook_to_which_nothing_is_piped_says_what_to_pipe(desk: Desk) -> None:
    out = desk.rook()
    assert (out.returncode, out.stdout) == (9, "")
    assert "| rook" in out.stderr


def test_every_setting_is_an_option_of_run_or_only_of_the_user() -> None:
    of_runs = {name for name, setting in SETTINGS.items() if not setting.flag.only_users}
    assert of_runs <= {param.name for param in run_.command.params}


def test_every_option_of_run_and_exec_is_a_setting_or_of_one_call() -> None:
    for found in (run_.command, exec_.command):
        assert {param.name for param in found.params} <= set(SETTINGS) | OF_ONE_CALL


def test_a_pipe_has_the_options_of_the_table() -> None:
    """`rook` spells its own options out: importing the table would make `--help` slow."""
    table = [*parameters("rook", PipeOptions), *parameters("rook", ViewOptions), profile_option()]
    rows = {option.name: ({*option.opts}, {*option.secondary_opts}) for option in table}
    given = {one.name: ({*one.opts}, {*one.secondary_opts}) for one in cli.params}
    assert {name: words for name, words in given.items() if name != "version"} == rows


def test_every_setting_takes_what_its_option_takes() -> None:
    options = {param.name: param for param in run_.command.params}
    for setting in SETTINGS.values():
        if setting.flag.only_users:
            continue
        kind = options[setting.name].type
        if isinstance(kind, click.Choice):
            assert tuple(kind.choices) == setting.choices
        assert (kind.name == "boolean") == (setting.type is bool)


SLOW = {
    "difflib",
    "genai_prices",
    "httpx",
    "importlib.metadata",
    "pydantic",
    "rich",
    "secrets",
    "sqlite3",
}
"""What `rook run` must not import: none of it is used by a run of an agent that we know."""

HELP_NEEDS = {
    *("nightrook", "nightrook.version"),
    *("nightrook.cli", "nightrook.cli.main"),
    *("nightrook.model", "nightrook.model.errors", "nightrook.model.text"),
}
"""The modules of ours that `rook --help` may import; click alone takes most of the time it has."""


def imported_by(desk: Desk, *words: str) -> set[str]:
    """The modules that a command imports."""
    code = (
        "import sys, atexit; atexit.register(lambda: print(*sys.modules));"
        f"sys.argv = {['rook', *words]}; from nightrook.cli.main import main; main()"
    )
    out = subprocess.run(
        [sys.executable, "-c", code],
        cwd=desk.project,
        env=desk.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(out.stdout.splitlines()[-1].split())


LISTING_DOES_WITHOUT = {
    *("asyncio", "genai_prices", "logging", "rich", "ssl", "subprocess", "tomllib"),
    *(
        "nightrook.adapter.agent",
        "nightrook.agents",
        "nightrook.config.load",
        "nightrook.config.options",
    ),
    *(
        "nightrook.display.event_lines",
        "nightrook.story.feed",
        "nightrook.model.fold",
        "nightrook.runs.crash_recovery",
    ),
}
"""What `rook runs` must not import while no run is running: it would double its CPU time."""

REPORTING_DOES_WITHOUT = SLOW - {"sqlite3"} | {
    *("asyncio", "csv", "dataclasses", "json", "shutil", "tempfile", "tomllib"),
    *("nightrook.agents.acp", "nightrook.agents.claude.adapter"),
    *("nightrook.config.options", "nightrook.display.costs.table", "nightrook.model.verdict"),
    "nightrook.store.run_folder",
}
"""What `rook cost --json` must not import without settings and new runs of rook."""

SHOWING_DOES_WITHOUT = {"asyncio", "genai_prices", "logging", "rich", "ssl", "subprocess"}
"""What `rook show` in a pipe must not import for a run whose agent reports its cost."""


def test_listing_runs_imports_nothing_that_only_live_runs_need(desk: Desk) -> None:
    desk.rook("run", "Fix it")
    imported = imported_by(desk, "runs")
    assert LISTING_DOES_WITHOUT & imported == set()


def test_showing_a_run_imports_no_event_loop_and_no_prices(desk: Desk) -> None:
    desk.rook("run", "Fix it")
    assert not SHOWING_DOES_WITHOUT & imported_by(desk, "show")


def test_help_imports_only_what_it_shows_and_click(desk: Desk) -> None:
    imported = imported_by(desk, "--help")
    assert {name for name in imported if name.startswith("nightrook")} == HELP_NEEDS
    heavy = {"asyncio", "genai_prices", "msgspec", "rich", "shutil", "tomllib"}
    assert heavy & imported == set()


@pytest.mark.parametrize("columns", ["200", "60", "3", "0", "wide"])
def test_help_is_as_wide_as_click_would_have_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(cli, "_help_option", None)  # made by a context that knows only --help
    usual = cli.get_help(cli.make_context("rook", [], resilient_parsing=True))
    assert desk.rook("--help", COLUMNS=columns).stdout == f"{usual}\n"


def test_a_run_imports_nothing_slow_that_it_does_not_use(desk: Desk) -> None:
    imported = imported_by(desk, "run", "Hello")
    assert "nightrook.agents.claude" in imported
    assert SLOW & imported == set()


def test_exec_imports_no_room_and_no_agent_that_it_does_not_use(desk: Desk) -> None:
    imported = imported_by(desk, "exec", "--", "claude", "-p", "Hello")
    rooms = {".".join(name.split(".")[:3]) for name in imported if name.startswith("nightrook.")}
    used = {name for name in rooms if name.startswith("nightrook.agents.")}
    assert used == {
        *("nightrook.agents.acp", "nightrook.agents.claude"),
        *("nightrook.agents.known_fields", "nightrook.agents.known_programs"),
    }
    unused = ("archive", "batches", "fleet", "loops", "notify", "testing", "web")
    assert not [
        name for name in imported if name.startswith(tuple(f"nightrook.{r}" for r in unused))
    ]
    assert not {"nightrook.runs.git.worktrees", "nightrook.runs.resume"} & imported


def test_a_report_that_needs_no_new_price_imports_nothing_slow(desk: Desk) -> None:
    imported = imported_by(desk, "cost", "--json")
    assert REPORTING_DOES_WITHOUT & imported == set()


def test_modules_are_not_searched_for_garbage_at_exit() -> None:
    code = "import gc; from nightrook.cli.main import cli, main; cli.main = dict; main();"
    out = subprocess.run(
        [sys.executable, "-c", f"{code} print(len(gc.get_objects()), gc.get_freeze_count())"],
        capture_output=True,
        text=True,
        check=True,
    )
    searched, frozen = map(int, out.stdout.splitlines()[-1].split())
    assert searched < 100 < 10_000 < frozen


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"], []])
def test_no_page_ends_in_a_traceback_if_it_cannot_be_written(desk: Desk, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [ROOK, *words],
            env=desk.environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert "Traceback" not in done.stderr
    assert done.returncode != 0
