"""`rook agents`: what is installed, which versions were checked, what each agent tells."""

import json
import os
from pathlib import Path

import pytest
from tests.cli.desk import Desk

from nightrook import agents
from nightrook.cli.commands.agents import LEGEND
from nightrook.process.systems.this_system import system

CLAUDE = agents.agent("claude")
CHECKED = CLAUDE.checked_versions[-1]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    for path in made.programs.iterdir():
        path.unlink()
    return made


def row(desk: Desk, name: str = "claude") -> dict[str, object]:
    out = desk.rook("agents", "--json", name)
    told: dict[str, object] = json.loads(out.stdout)
    return told


def line(shown: str, start: str) -> str:
    (found,) = (text for text in shown.split("\n") if text.startswith(start + " "))
    return " ".join(found.split())


def test_what_is_weaker_here_than_on_linux_is_printed(desk: Desk) -> None:
    out = desk.rook("agents", "claude")
    shown = "\n- ".join(["\n\nWEAKER HERE THAN ON LINUX", *system.WEAKER])
    assert out.stdout.endswith(f"{shown}\n") == bool(system.WEAKER)
    assert out.stderr == ""
    assert "WEAKER" not in desk.rook("agents").stdout


def test_an_agent_that_is_not_installed_is_shown_with_how_to_install_it(desk: Desk) -> None:
    out = desk.rook("agents", "claude")
    assert out.returncode == 0
    assert line(out.stdout, "installed") == f"installed no: {CLAUDE.install}"
    assert line(desk.rook("agents").stdout, "claude").startswith("claude - 2.1.325 ")
    assert row(desk)["path"] is None
    assert row(desk)["checked"] is None


def test_a_checked_version_is_shown_with_its_place(desk: Desk) -> None:
    path = desk.program("claude", f"echo '{CHECKED} (Claude Code)'")
    assert line(desk.rook("agents").stdout, "claude").startswith(f"claude {CHECKED} yes ")
    named = desk.rook("agents", "claude").stdout
    assert line(named, "installed") == f"installed {path}"
    assert line(named, "known from") == f"known from {CLAUDE.evidence}"
    assert (row(desk)["version"], row(desk)["checked"]) == (CHECKED, True)


def test_a_version_that_nobody_checked_is_shown_with_the_newest_that_was(desk: Desk) -> None:
    desk.program("claude", "echo 99.0.1")
    said = line(desk.rook("agents").stdout, "claude")
    assert said.startswith("claude 99.0.1 no (2.1.325) ")
    assert row(desk)["checked"] is False


def test_all_agents_are_one_table_and_notes_come_with_a_name(desk: Desk) -> None:
    listed = desk.rook("agents").stdout
    assert "\n\n" not in listed
    assert not any(note in listed for note in CLAUDE.capabilities.notes)
    named = desk.rook("agents", "claude").stdout
    assert all(f"\n- {note}\n" in named for note in CLAUDE.capabilities.notes)


def test_the_table_of_agents_fits_a_terminal_and_explains_its_marks(desk: Desk) -> None:
    code, shown = desk.on_terminal("agents", NO_COLOR="1")
    *rows, history, legend = shown.splitlines()
    assert (code, legend) == (0, f"[rook] {LEGEND}")
    assert history.startswith("[rook] sessions on disk that rook cost counts: claude, ")
    assert [row.split()[0] for row in rows] == ["AGENT", *agents.names()]
    assert max(map(len, rows)) <= 90  # the columns of the terminal


def test_every_known_agent_is_listed(desk: Desk) -> None:
    known = [json.loads(text) for text in desk.rook("agents", "--json").stdout.splitlines()]
    assert [agent["name"] for agent in known if agent["runs"]] == list(agents.names())
    assert {agent["name"] for agent in known if agent["history"]} == set(agents.HISTORIES)


def test_an_agent_that_is_known_by_its_protocol_is_shown_by_its_name(desk: Desk) -> None:
    out = desk.rook("agents", "vibe", "claude")
    assert "\nruns via" in out.stdout
    assert "- --via acp: Runs vibe-acp." in out.stdout
    assert out.returncode == 0
    assert "did you mean droid?" in desk.rook("agents", "driod").stderr


def test_check_exits_with_0_if_every_installed_version_was_checked(desk: Desk) -> None:
    assert desk.rook("agents", "--check").returncode == 0
    desk.program("claude", f"echo {CHECKED}")
    out = desk.rook("agents", "--check")
    assert (out.returncode, out.stderr) == (0, "")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 99.0.1", "99.0.1 is not one of the checked versions"),
        ("exit 1", "prints no version (exit 1)"),
    ],
)
def test_check_exits_with_1_and_says_why(desk: Desk, script: str, reason: str) -> None:
    desk.program("claude", script)
    out = desk.rook("agents", "--check")
    assert out.returncode == 1
    assert out.stderr.startswith(f"[rook] claude: {reason}")


def test_check_of_a_named_agent_that_is_not_installed_exits_with_1(desk: Desk) -> None:
    out = desk.rook("agents", "--check", "claude")
    assert (out.returncode, out.stderr) == (1, "[rook] claude: is not installed\n")


def test_an_agent_of_ones_own_is_listed_and_asked_too(desk: Desk) -> None:
    path = desk.program("wrapper", f'[ "$1 $2" = "--flag --version" ] && echo {CHECKED}')
    desk.user_file.write_text(
        f'[agents.work]\nspeaks = "claude"\ncommand = ["{path}", "--flag"]\n'
        '[agents.lost]\nspeaks = "claude"\ncommand = ["/no/such"]\n'
    )
    out = desk.rook("agents").stdout
    assert line(out, "work").startswith(f"work {CHECKED} yes ")
    assert line(out, "lost").startswith("lost - ")
    named = desk.rook("agents", "work", "lost").stdout
    assert f" {path}\n" in named
    assert " no: /no/such is missing\n" in named
    assert row(desk, "work")["speaks"] == "claude"


def test_a_command_of_a_project_is_asked_only_when_it_is_named_and_trusted(desk: Desk) -> None:
    path = desk.program("wrapper", f'touch "{desk.home}/called"; echo {CHECKED}')
    desk.project_file.write_text(f'[agents.work]\nspeaks = "claude"\ncommand = ["{path}"]\n')
    out = desk.rook("agents", "--check")
    assert out.returncode == 0
    assert line(out.stdout, "work").startswith("work ? ")
    assert "[rook] work: a command of this project" in out.stderr
    assert "run `rook trust`" in desk.rook("agents", "work").stderr
    desk.trust()
    assert "a command of this project" in desk.rook("agents").stderr
    assert not (desk.home / "called").exists()
    assert line(desk.rook("agents", "work").stdout, "version") == f"version {CHECKED}"
    assert (desk.home / "called").exists()


def test_an_unknown_name_names_those_there_are(desk: Desk) -> None:
    out = desk.rook("agents", "cluade")
    assert (out.returncode, out.stdout) == (2, "")
    assert out.stderr.startswith("[rook] no agent named 'cluade'; known agents: claude")
    assert out.stderr.endswith("; did you mean claude?\n")


def test_agents_are_asked_at_the_same_time(desk: Desk) -> None:
    """Each waits until all the others have been asked, so one after another would never end."""
    count = 3
    folder = desk.home / "asked"
    folder.mkdir()
    script = (
        f'touch "{folder}/$$"; for i in $(seq 200); do '
        f'[ $(ls "{folder}" | wc -l) -ge {count} ] && break; sleep 0.05; done; '
        f'[ $(ls "{folder}" | wc -l) -ge {count} ] && echo {CHECKED}'
    )
    tables = ""
    for number in range(count):
        path = desk.program(f"wrapper{number}", script)
        tables += f'[agents.own{number}]\nspeaks = "claude"\ncommand = ["{path}"]\n'
    desk.user_file.write_text(tables)
    names = [f"own{number}" for number in range(count)]
    out = desk.rook("agents", "--check", *names)
    assert (out.returncode, out.stderr) == (0, "")


def test_a_path_with_control_characters_cannot_reach_the_terminal(desk: Desk) -> None:
    folder = desk.home / "b\x1b[31m"
    folder.mkdir()
    (desk.program("claude", f"echo {CHECKED}")).rename(folder / "claude")
    out = desk.rook("agents", "claude", PATH=f"{folder}{os.pathsep}{desk.environment()['PATH']}")
    assert "\u241b[31m/claude" in out.stdout
    assert "\x1b" not in out.stdout
