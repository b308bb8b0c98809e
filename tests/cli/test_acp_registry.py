"""`rook agents --registry`: what is in an ACP registry, as sections for rook.toml."""

import json
import platform
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.desk import Desk
from tests.rules import each

HERE = f"{platform.system().lower()}-{platform.machine().replace('arm64', 'aarch64')}"
ALPHA = {
    "id": "alpha-agent",
    "name": "Alpha Agent",
    "version": "1.2.3",
    "description": "Does\nthings",
    "repository": "https://example.com/alpha",
    "distribution": {
        "npx": {
            "package": "@example/alpha@1.2.3",
            "args": ["--acp"],
            "env": {"ALPHA_MODE": "strict", "not a name": "x"},
        }
    },
}
BETA = {
    "id": "beta",
    "name": "Beta",
    "distribution": {"uvx": {"package": "beta[acp]==4.5", "cmd": "beta-acp"}},
}
ZETA = {
    "id": "zeta",
    "name": "Zeta",
    "distribution": {
        "binary": {
            HERE: {"archive": "https://example.com/z.tar.gz", "sha256": "e3b0", "cmd": "./zeta"}
        }
    },
}
ELSEWHERE = {
    "id": "elsewhere",
    "name": "Elsewhere",
    "distribution": {"binary": {"plan9-mips": {"archive": "a", "cmd": "./e"}}},
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    write(made, {"version": "1.0.0", "agents": [ALPHA, BETA, ZETA, ELSEWHERE]})
    return made


def write(desk: Desk, value: Any) -> None:
    (desk.project / "registry.json").write_text(json.dumps(value), encoding="utf-8")


def show(desk: Desk, *words: str) -> str:
    done = desk.rook("agents", "--registry", "registry.json", *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def sections(text: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(text)["agents"]
    return found


def test_every_entry_is_a_section_that_can_be_copied(desk: Desk) -> None:
    commands = {name: each["command"] for name, each in sections(show(desk)).items()}
    assert commands == {
        "alpha-agent": [
            "env",
            "ALPHA_MODE=strict",
            "npx",
            "--yes",
            "@example/alpha@1.2.3",
            "--acp",
        ],
        "beta": ["uvx", "--from", "beta[acp]==4.5", "beta-acp"],
        "zeta": ["/path/to/zeta"],
        "elsewhere": ["/path/to/the/agent"],
    }


def test_what_to_know_comes_before_each_section(desk: Desk) -> None:
    lines = show(desk, "alpha-agent").split("\n")
    assert lines[:4] == [
        "# Alpha Agent 1.2.3: Does things",
        "# https://example.com/alpha",
        "# npx downloads the package when it is not there yet: review it first",
        "[agents.alpha-agent]",
    ]
    zeta = show(desk, "zeta", "elsewhere")
    assert "# download and unpack it, and replace the path: https://example.com/z.tar.gz" in zeta
    assert "# sha256 e3b0" in zeta
    assert f"# not distributed for {HERE}, but for: plan9-mips" in zeta


def test_a_copied_section_is_a_valid_setting(desk: Desk) -> None:
    desk.user_file.write_text(show(desk))
    listed = desk.rook("agents", "--json", "beta")
    assert json.loads(listed.stdout)["command"] == ["uvx", "--from", "beta[acp]==4.5", "beta-acp"]


def test_nothing_of_a_registry_is_run(desk: Desk) -> None:
    for name in ("npx", "uvx"):
        desk.program(name, f"touch {desk.home}/ran")
    show(desk)
    assert not (desk.home / "ran").exists()


def test_one_agent_alone_can_be_shown_and_a_known_one_is_pointed_out(desk: Desk) -> None:
    write(desk, {**ALPHA, "id": "gemini"})
    text = show(desk)
    assert "# rook knows this agent without a section: rook run --agent gemini" in text
    assert list(sections(text)) == ["gemini-acp"]


def test_json_has_one_object_for_each(desk: Desk) -> None:
    (told,) = (json.loads(line) for line in show(desk, "--json", "beta").splitlines())
    assert (told["id"], told["agent"], told["command"][0]) == ("beta", "beta", "uvx")


def test_entries_that_are_wrong_are_counted_and_hostile_text_is_harmless(desk: Desk) -> None:
    hostile: dict[str, Any] = {
        **ALPHA,
        "name": 'A\n[agents.evil]\ncommand = ["rm"]\x1b[2J',
        "distribution": {"npx": {"package": "a", "args": ['"\n]\x1b\x7f👩 \u2028']}},
    }
    wrong = [
        {**ALPHA, "id": "../evil"},
        {**ALPHA, "id": "-x"},
        {**ALPHA, "distribution": {"npx": {"package": "--call=rm"}}},
        {**BETA, "distribution": 5},
        "text",
        None,
    ]
    write(desk, {"agents": [hostile, *wrong]})
    done = desk.rook("agents", "--registry", "registry.json")
    assert done.returncode == 0
    assert done.stderr == "[rook] WARNING: 6 of its entries could not be read\n"
    assert "\x1b" not in done.stdout
    words = ["npx", "--yes", "a", '"\n]\x1b\x7f👩 \u2028']
    assert sections(done.stdout) == {"alpha-agent": {"speaks": "acp", "command": words}}


@each(
    ("text", "message"),
    [
        (None, "'registry.json' does not exist"),
        ("[", "registry.json is not JSON: use a registry.json, or the agent.json of one agent"),
        ("[" * 100_000, "registry.json is not JSON"),
        ("[]", "registry.json is not a registry: it has no list of agents"),
        ("{}", "registry.json is not a registry: it has no list of agents"),
        ('{"agents": {}}', "registry.json is not a registry: it has no list of agents"),
        ('{"agents": [5]}', "none of its entries describes an agent"),
    ],
)
def test_a_file_that_is_no_registry_is_refused_in_a_sentence(
    text: str | None, message: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    desk = Desk(tmp_path_factory.mktemp("desk"))
    if text is not None:
        (desk.project / "registry.json").write_text(text)
    done = desk.rook("agents", "--registry", "registry.json")
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_that_is_not_in_it_is_refused_with_those_that_are(desk: Desk) -> None:
    done = desk.rook("agents", "--registry", "registry.json", "omega")
    assert done.returncode != 0
    assert "has no agent 'omega'; it has: alpha-agent, beta, zeta, elsewhere" in done.stderr
    done = desk.rook("agents", "--registry", "registry.json", "--check")
    assert (done.returncode, "can't be combined" in done.stderr) == (2, True)
