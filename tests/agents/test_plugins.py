"""Agents of other packages: installed, found, run, and told apart from what is no agent."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.model.errors import NightrookError, UnknownAgentError
from tests.recorded import cases, name_of

pytestmark = pytest.mark.slow  # each starts a process

CURSOR = Path(__file__).parents[2] / "examples" / "nightrook-cursor"
PAGE = Path(__file__).parents[2] / "docs" / "adding-an-agent.md"
ROOK = Path(sys.executable).with_name("rook")


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example installed, as a user would, and two packages that are broken."""
    folder = tmp_path_factory.mktemp("packages")
    options = ["--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--no-cache-dir"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", folder, CURSOR],
        check=True,
        timeout=300,
    )
    (folder / "broken_agent.py").write_text("AGENT = 5\n")
    for name, value in (("crashing", "no_such_module:AGENT"), ("wrong", "broken_agent:AGENT")):
        info = folder / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[nightrook.agents]\n{name} = {value}\n")
    return folder


def rook(packages: Path, home: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    program = home / "bin" / "cursor-agent"
    program.parent.mkdir()
    wire = CURSOR / "tests" / "cases" / "shell_ok" / "wire.jsonl"
    asked = f'cat > "{home}/asked"; echo "$*" > "{home}/words"'
    program.write_text(f'#!/bin/sh\n{asked}; cat "{wire}"\n')
    program.chmod(0o755)
    return subprocess.run(
        [ROOK, *words],
        env={
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "ROOK_HOME": str(home / "nightrook"),
            "PYTHONPATH": str(packages),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_example_passes_the_suite_for_authors(packages: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", CURSOR / "tests"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_example_has_under_200_lines_with_its_test() -> None:
    sizes = {path.name: path.read_text().count("\n") for path in CURSOR.rglob("*.py")}
    assert sizes.keys() == {"nightrook_cursor.py", "test_cursor.py"}
    assert sum(sizes.values()) < 200
    assert f"Cursor Agent took\n{sum(sizes.values())} lines" in PAGE.read_text()


def test_the_page_about_agents_shows_the_example() -> None:
    whole = "\n".join(path.read_text() for path in (*CURSOR.rglob("*.py"), *CURSOR.glob("*.toml")))
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(shown) >= 5
    assert [block for block in shown if block not in whole] == []


@pytest.fixture
def installed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Those packages, as if they had been there when this process began."""
    monkeypatch.syspath_prepend(str(packages))
    agents._entry_points.cache_clear()
    yield
    agents._entry_points.cache_clear()


def test_agents_of_other_packages_are_known_after_ours(installed: None) -> None:
    assert agents.names() == (*agents.NAMES, *agents.speaker_names(), "crashing", "wrong")
    assert "cursor" in agents.speaker_names()  # known over ACP; the package's own adapter wins
    cursor = agents.agent("cursor")
    assert agents.agent_for("/usr/bin/cursor-agent") is cursor
    assert agents.output_flags("cursor-agent") == ["--output-format", "stream-json"]
    wire = CURSOR / "tests" / "cases" / "text" / "wire.jsonl"
    assert agents.detect(wire.read_bytes()) is cursor


def test_what_cannot_be_loaded_is_an_error_only_for_those_who_name_it(installed: None) -> None:
    assert agents.agent_for("no-such-program") is None
    for name in ("crashing", "wrong"):
        with pytest.raises(NightrookError, match="fix or remove its package"):
            agents.agent(name)
    with pytest.raises(UnknownAgentError, match=r"claude.*, cursor, .*, crashing, wrong"):
        agents.agent("nobody")


def test_a_stream_of_its_own_is_detected(packages: Path, tmp_path: Path) -> None:
    wire = CURSOR / "tests" / "cases" / "failed" / "wire.jsonl"
    done = rook(packages, tmp_path, "decode", "--format", "text", wire)
    assert done.returncode == 0, done.stderr
    assert "[cursor] FAILED: The request failed." in done.stdout


def test_it_is_run_like_any_other(packages: Path, tmp_path: Path) -> None:
    done = rook(packages, tmp_path, "run", "--agent", "cursor", "--permission", "all", "Go on")
    assert done.returncode == 0, done.stderr
    assert "[cursor] shell: echo one" in done.stdout
    assert (tmp_path / "asked").read_text() == "Go on"
    assert (tmp_path / "words").read_text() == "-p --output-format stream-json --force\n"


def test_the_list_of_agents_has_all_that_can_be_loaded_and_reports_the_others(
    packages: Path, tmp_path: Path
) -> None:
    done = rook(packages, tmp_path, "agents", "--json")
    assert done.returncode == 0, done.stderr
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    known = [*agents.NAMES, *agents.speaker_names()]
    assert [agent["name"] for agent in listed if agent["runs"]] == known
    assert [line.split("'")[1] for line in done.stderr.splitlines()] == [
        "crashing",
        "broken_agent:AGENT",
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nobody", "no agent named 'nobody'; known agents: claude, "),
        ("crashing", "the agent 'crashing' of 'no_such_module:AGENT' cannot be loaded: "),
        ("wrong", "'broken_agent:AGENT' isn't an agent called 'wrong'; fix or remove its package"),
    ],
)
def test_an_invalid_agent_is_reported_in_one_line(
    packages: Path, tmp_path: Path, name: str, words: str
) -> None:
    done = rook(packages, tmp_path, "run", "--agent", name, "Go")
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


FORGETFUL = """
from msgspec.structs import replace
from nightrook.agents.opencode.adapter import AGENT as LIKE

AGENT = replace(
    LIKE,
    name="forgetful",
    programs=("opencode",),
    capabilities=replace(LIKE.capabilities, resume="no"),
)
"""


def test_resume_is_neither_offered_nor_accepted_for_an_agent_without_it(tmp_path: Path) -> None:
    info = tmp_path / "forgetful-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: forgetful\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[nightrook.agents]\nforgetful = forgetful:AGENT\n")
    (tmp_path / "forgetful.py").write_text(FORGETFUL)
    wire = next(path for path in cases("opencode") if name_of(path).startswith("bash_fail"))
    program = tmp_path / "opencode"
    program.write_text(f'#!/bin/sh\ncat > /dev/null; cat "{wire}"\n')
    program.chmod(0o755)

    def called(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "ROOK_HOME": str(tmp_path / "kept"),
            "PYTHONPATH": str(tmp_path),
        }
        return subprocess.run(
            [ROOK, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    done = called("run", "--agent", "forgetful", "Go")
    assert done.returncode == 0, done.stderr
    assert "--resume" not in done.stderr
    assert "--resume" not in called("show").stderr
    (folder,) = (tmp_path / "kept" / "runs").iterdir()
    again = called("run", "--resume", folder.name, "Go")
    assert again.returncode == 2
    assert again.stderr == "[rook] forgetful cannot resume a session: start a new run\n"
