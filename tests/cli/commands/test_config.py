"""`rook config`, and settings as they change what `rook run` does."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from tests.cli.desk import Desk

from nightrook.testing import agent_command


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def asked(desk: Desk) -> dict[str, object]:
    """What the last run was asked to do."""
    folders = (desk.home / "runs-home" / "runs").iterdir()
    last = max(folders, key=lambda folder: folder.stat().st_mtime_ns)
    told: dict[str, object] = json.loads((last / "run.json").read_text())
    return told


def told(desk: Desk, name: str, *words: str, **variables: str) -> tuple[object, str]:
    """The value of a setting and where it comes from, as `rook config --json` tells it."""
    out = desk.rook("config", "--json", *words, **variables)
    assert out.returncode == 0, out.stderr
    (row,) = (row for row in json.loads(out.stdout)["settings"] if row["name"] == name)
    return row["value"], row["source"]


def test_each_value_is_shown_with_the_file_and_line_it_comes_from(desk: Desk) -> None:
    desk.user_file.write_text('# mine\nmodel = "opus"\n')
    desk.project_file.write_text("max_cost = 2\n[profile.ci]\nquiet = true\n")
    desk.trust()
    out = desk.rook("config", "--profile", "ci", ROOK_MAX_TURNS="7")
    lines = [" ".join(line.split()) for line in out.stdout.split("\n")]
    assert 'agent "claude" default' in lines
    assert 'model "opus" ~/.config/nightrook/rook.toml:2' in lines
    assert "max_cost 2 ~/project/rook.toml:1" in lines
    assert "quiet true ~/project/rook.toml:3 (profile ci)" in lines
    assert "max_turns 7 ROOK_MAX_TURNS" in lines
    assert "max_tokens - default" in lines
    assert "Profiles: ci" in lines


def test_without_files_it_says_where_they_would_be(desk: Desk) -> None:
    out = desk.rook("config").stdout
    assert "Your own settings go in ~/.config/nightrook/rook.toml" in out
    assert "A project's settings go in a rook.toml at its root" in out


def test_the_projects_file_is_found_from_a_folder_below(desk: Desk) -> None:
    desk.project_file.write_text("max_cost = 2\n")
    out = desk.shell("mkdir -p a/b && cd a/b && rook config --json")
    assert f"{desk.project_file}:1" in out.stdout


def test_a_home_that_is_a_link_is_home_all_the_same(desk: Desk, tmp_path: Path) -> None:
    link = tmp_path / "other-name"
    link.symlink_to(desk.home)
    desk.project_file.write_text("max_cost = 2\n")
    out = desk.shell("mkdir -p a/b && cd a/b && rook config --json", HOME=str(link))
    assert f"{desk.project_file}:1" in out.stdout
    desk.user_file.write_text('permission = "all"\n')
    out = desk.shell(f"cd {desk.user_file.parent} && rook config", HOME=str(link))
    assert (out.returncode, out.stderr) == (0, "")


def test_each_source_is_stronger_than_the_one_before(desk: Desk) -> None:
    assert told(desk, "max_cost") == (None, "default")
    desk.user_file.write_text("max_cost = 1\n")
    assert told(desk, "max_cost") == (1, f"{desk.user_file}:1")
    desk.project_file.write_text("max_cost = 2\n[profile.ci]\nmax_cost = 3\n")
    desk.trust()
    assert told(desk, "max_cost") == (2, f"{desk.project_file}:1")
    assert told(desk, "max_cost", "--profile", "ci") == (3, f"{desk.project_file}:3")
    assert told(desk, "max_cost", ROOK_PROFILE="ci") == (3, f"{desk.project_file}:3")
    named = told(desk, "max_cost", "--profile", "ci", ROOK_MAX_COST="4")
    assert named == (4.0, "ROOK_MAX_COST")


SOURCES = ("user file", "project file", "user profile", "project profile", "variable", "flag")
"""Whatever can say a setting, the weakest first."""


@pytest.mark.parametrize(("weak", "strong"), list(combinations(SOURCES, 2)))
def test_of_any_two_sources_a_run_takes_the_stronger(desk: Desk, weak: str, strong: str) -> None:
    said = {source: f'model = "{source}"\n' for source in (weak, strong)}
    for owner, file in (("user", desk.user_file), ("project", desk.project_file)):
        profile = said.get(f"{owner} profile", "")
        file.write_text(f"{said.get(f'{owner} file', '')}[profile.ci]\n{profile}")
    desk.trust()
    flags = ["--model", "flag"] if "flag" in said else []
    variables = {"ROOK_MODEL": "variable"} if "variable" in said else {}
    assert desk.rook("run", "--profile", "ci", *flags, "x", **variables).returncode == 0
    assert asked(desk)["model"] == strong


def test_a_profile_that_is_not_named_says_nothing(desk: Desk) -> None:
    desk.project_file.write_text('[profile.ci]\nmodel = "opus"\n')
    assert desk.rook("run", "x").returncode == 0
    assert asked(desk)["model"] is None


def test_lists_and_times_of_a_file_reach_the_run(desk: Desk) -> None:
    desk.project_file.write_text('allow = ["Read", "Bash(ls)"]\npermission = "plan"\n')
    desk.trust()
    desk.rook("run", "x")
    argv = asked(desk)["argv"]
    assert isinstance(argv, list)
    assert argv[-2:] == ["--allowedTools=Read", "--allowedTools=Bash(ls)"]
    assert asked(desk)["permission"] == "plan"
    desk.project_file.write_text('idle_timeout = "1s"\n')
    assert desk.rook("run", "x", ROOK_SCRIPT="silent=20").returncode == 7


def test_what_a_project_loosens_is_printed_before_the_run(desk: Desk) -> None:
    rules = 'allow = ["Read", "Bash(ls)"]\n'
    line = 'rook.toml:1 sets allow = ["Read", "Bash(ls)"] (you trusted this file)\n'
    desk.project_file.write_text(rules)
    desk.trust()
    assert line in desk.rook("run", "x").stderr
    assert line in desk.on_terminal("run", "--permission", "agent", "x")[1]
    assert line in desk.rook("loop", "x", "--until", "Done.").stderr
    assert "trusted" not in desk.rook("run", "--allow", "Read", "x").stderr
    assert "trusted" not in desk.rook("exec", "--", "claude", "-p", "x").stderr
    desk.project_file.unlink()
    desk.user_file.write_text(rules)
    assert "allow =" not in desk.rook("run", "x").stderr


def test_what_a_project_would_loosen_is_ignored_and_printed(desk: Desk) -> None:
    desk.project_file.write_text('max_cost = 20\nallow = ["Read"]\nquiet = true\n')
    ignored = f'[rook] {desk.project_file}:2: allow = ["Read"] is ignored: not trusted\n'
    costs = f"[rook] {desk.project_file}:1: max_cost = 20 is ignored: not trusted\n"
    hides = f"[rook] {desk.project_file}:3: quiet = true is ignored: not trusted\n"
    way = "[rook] to use what the project's file loosens, review it with:  rook trust\n"
    done = desk.rook("run", "x")
    assert (done.returncode, done.stderr.startswith(ignored + hides + way)) == (0, True)
    assert '"Done."' in done.stdout
    assert "--allowedTools=Read" not in str(asked(desk))
    assert "--max-budget-usd', '20'" in str(asked(desk)["argv"])  # a run has no limit by default
    done = desk.rook("loop", "x", "--until", "Done.")  # and a loop has one of $10
    assert done.stderr.startswith(costs + ignored + hides + way)
    assert "· $10 ·" in done.stdout
    assert "ignored" not in desk.rook("run", "--no-quiet", "--allow", "Read", "x").stderr
    assert desk.shell("claude | rook").stderr.startswith(hides + way)
    for words in (("exec", "--", "claude", "-p", "x"), ("attach",)):
        assert desk.rook(*words).stderr.startswith(hides + way)


def test_a_batch_keeps_a_limit_if_that_of_the_project_is_not_trusted(desk: Desk) -> None:
    desk.project_file.write_text("max_cost = 20\n")
    (desk.project / "tasks").write_text('{"prompt": "x"}\n')
    done = desk.rook("batch", "tasks")
    assert f"{desk.project_file}:1: max_cost = 20 is ignored: not trusted" in done.stderr
    assert "--max-budget-usd', '10'" in str(asked(desk)["argv"])
    desk.trust()
    assert desk.rook("batch", "tasks").returncode == 0
    assert "--max-budget-usd', '20'" in str(asked(desk)["argv"])


def test_a_setting_that_needs_trust_is_shown_as_ignored(desk: Desk) -> None:
    desk.user_file.write_text("max_cost = 1\n")
    desk.project_file.write_text("max_cost = 2\n")
    out = " ".join(desk.rook("config").stdout.split())
    assert "max_cost 2 ~/project/rook.toml:1 (ignored: not trusted; 1 applies)" in out
    assert "review it with: rook trust" in out
    rows = json.loads(desk.rook("config", "--json").stdout)["settings"]
    (row,) = (row for row in rows if row["name"] == "max_cost")
    assert (row["value"], row["ignored"], row["instead"]) == (2, True, 1)
    desk.trust()
    assert "ignored" not in desk.rook("config").stdout


def test_a_flag_of_a_file_can_be_switched_off_on_the_command_line(desk: Desk) -> None:
    desk.project_file.write_text("quiet = true\n")
    desk.trust()
    assert desk.rook("run", "x").stdout == "Done.\n"
    assert "[rook] Agent command" in desk.rook("run", "--no-quiet", "x").stdout
    assert "[rook] Agent command" in desk.rook("run", "--verbose", "x").stdout
    assert desk.rook("run", "--no-verbose", "x").stdout == "Done.\n"
    desk.project_file.write_text("no_text = true\n")
    desk.trust()
    assert '"Done."' not in desk.rook("run", "x").stdout
    assert '"Done."' in desk.rook("run", "--text", "x").stdout


def test_exec_takes_the_settings_that_it_has_options_for(desk: Desk) -> None:
    desk.project_file.write_text('quiet = true\nmodel = "opus"\n')
    desk.trust()
    assert desk.rook("exec", "--", "claude", "-p", "x").stdout == "Done.\n"


@pytest.mark.parametrize(
    "words",
    ["run x", "exec -- claude -p x", "attach", "replay --instant", "show", "demo --speed 200"],
)
def test_settings_reach_every_command_that_shows_a_run(desk: Desk, words: str) -> None:
    assert desk.rook("demo", "--speed", "200").returncode == 0
    assert "[claude]   -> " not in desk.rook(*words.split(), ROOK_SCRIPT="speed=0").stdout
    desk.project_file.write_text("[profile.loud]\nverbose = true\n")
    name, *rest = words.split()
    loud = desk.rook(name, "--profile", "loud", *rest, ROOK_SCRIPT="speed=0")
    assert "[claude]   -> " in loud.stdout
    variables = {"ROOK_VERBOSE": "true", "ROOK_SCRIPT": "speed=0"}
    assert "[claude]   -> " in desk.rook(*words.split(), **variables).stdout
    quiet = desk.rook(name, "--no-verbose", *rest, **variables)
    assert "[claude]   -> " not in quiet.stdout


def test_settings_reach_a_pipe_and_flags_are_stronger(desk: Desk) -> None:
    desk.project_file.write_text("quiet = true\n[profile.loud]\nquiet = false\nverbose = true\n")
    desk.trust()
    assert desk.shell("claude | rook").stdout == "Done.\n"
    assert '[claude] "Done."' in desk.shell("claude | rook --no-quiet").stdout
    assert '[claude] "Done."' in desk.shell("claude | rook --verbose").stdout
    assert "stream stats" in desk.shell("claude | rook --profile loud").stderr
    assert '[claude] "Done."' not in desk.shell("claude | rook --profile loud --no-text").stdout
    told = json.loads(desk.shell("claude | rook --json").stdout)
    assert told["text"] == "Done."
    # The agent to run is not the one that writes: that is still found out.
    assert desk.shell("claude | rook", ROOK_AGENT="opencode").returncode == 0
    desk.project_file.write_text("quite = true\n")
    wrong = desk.shell("claude | rook")
    assert wrong.returncode == 2
    assert "did you mean 'quiet'?" in wrong.stderr


def test_the_agent_to_run_is_not_taken_for_the_one_that_wrote_a_stream(desk: Desk) -> None:
    stream = desk.project / "stream.txt"
    stream.write_text("no agent wrote this\n")
    assert desk.rook("decode", str(stream), ROOK_AGENT="claude").returncode == 2


@pytest.mark.parametrize("words", [("config",), ("run", "x"), ("exec", "--", "true"), ("agents",)])
def test_a_wrong_key_names_the_file_the_line_and_the_nearest_and_exits_with_2(
    desk: Desk, words: tuple[str, ...]
) -> None:
    desk.project_file.write_text("\nmax_costs = 2\n")
    out = desk.rook(*words)
    assert (out.returncode, out.stdout) == (2, "")
    said = f"[rook] {desk.project_file}:2: 'max_costs' is not a setting; did you mean 'max_cost'?\n"
    assert out.stderr == said


def test_help_is_given_even_if_settings_are_wrong(desk: Desk) -> None:
    desk.project_file.write_text("max_costs = 2\n")
    for words in (("run", "--help"), ("config", "--help"), ("--help",)):
        assert desk.rook(*words).returncode == 0


def test_text_of_a_file_cannot_reach_the_terminal_as_an_escape_sequence(desk: Desk) -> None:
    desk.project_file.write_text('"\\u001b]0;title\\u0007" = 1\n')
    out = desk.rook("config")
    assert out.returncode == 2
    assert "\x1b" not in out.stderr
    desk.project_file.write_text('model = "\\u009b2J\\u202e"\n')
    out = desk.rook("config")
    assert out.returncode == 0
    assert not {"\x9b", "\u202e"} & set(out.stdout)


def test_an_agent_of_ones_own_runs(desk: Desk) -> None:
    words = json.dumps(agent_command("--script-say=At work."))
    desk.user_file.write_text(f'[agents.work]\nspeaks = "claude"\ncommand = {words}\n')
    out = desk.rook("run", "--agent", "work", "Fix the tests")
    assert out.returncode == 0, out.stderr
    assert '[work] "At work."' in out.stdout
    assert "--script-say=At work." in str(asked(desk)["command"])
    assert desk.rook("show").stdout.count('"At work."') == 1


def test_an_agent_of_a_project_runs_when_it_is_named_and_trusted(desk: Desk) -> None:
    wrapper = desk.project / "tools" / "wrapper"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\ntouch {desk.home}/called\nexec claude "$@"\n')
    wrapper.chmod(0o755)
    table = '[agents.work]\nspeaks = "claude"\ncommand = ["./tools/wrapper"]\n'
    desk.project_file.write_text(f'agent = "work"\n{table}')
    assert desk.rook("run", "x").returncode == 0
    assert desk.rook("agents").returncode == 0
    refused = desk.rook("run", "--agent", "work", "x")
    assert refused.returncode == 2
    assert "is a command of this project: review the file and run `rook trust`" in refused.stderr
    assert not (desk.home / "called").exists()
    desk.project_file.write_text(table)
    desk.trust()
    assert desk.rook("run", "x").returncode == 0
    assert not (desk.home / "called").exists()
    out = desk.shell("mkdir below && cd below && rook run --agent work x")
    assert (out.returncode, "Complete" in out.stdout) == (0, True)
    assert (desk.home / "called").exists()


def test_an_unknown_agent_names_those_of_ones_own_too(desk: Desk) -> None:
    desk.user_file.write_text('[agents.work]\nspeaks = "claude"\ncommand = ["x"]\n')
    out = desk.rook("run", "--agent", "wrok", "x")
    assert out.returncode == 2
    assert "no agent named 'wrok'; known agents: claude" in out.stderr
    assert out.stderr.endswith(", work; did you mean work?\n")


def test_the_help_lists_every_setting(desk: Desk) -> None:
    out = desk.rook("config", "--help").stdout
    assert "  max_cost " in out
    assert "a number of dollars" in " ".join(out.split())


def test_settings_are_read_where_the_working_folder_is_gone(desk: Desk) -> None:
    out = desk.shell('mkdir gone && cd gone && rmdir "$PWD"; rook config')
    assert (out.returncode, out.stderr) == (0, "")
    assert "max_cost" in out.stdout
