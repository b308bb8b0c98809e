"""The README, typed line by line into a new home; `readme.session` is what is typed and seen."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import nightrook
from nightrook.testing import Answer, Reply, ScriptedMessagesApi, ScriptedResponsesApi
from tests.conformance import test_claude, test_codex
from tests.pages import ROOT, blocks

SESSION = Path(__file__).with_name("readme.session")
PATIENCE_S = 300
NEWEST = "k7f3"
_DONE_WORD = re.compile(r'nothing but this word:\\n([^"\\\s]+)')

PROJECT = {
    "cart.py": "def total(prices):\n    return 0\n",
    "test_cart.py": "from cart import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "TASK.md": "Write NOTES.md.\n",
    "tasks.jsonl": '{"prompt": "Name a file"}\n{"prompt": "Name another file"}\n',
}


@dataclass
class Step:
    """A command that is typed, what the model does then, and what must be seen."""

    line: int
    command: str
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    waits: float = 0.0
    seen: list[str] = field(default_factory=list)
    code: int = 0


def steps() -> Iterator[Step]:
    """The commands of the session, in order."""
    step, calls, waits = None, [], 0.0
    for number, line in enumerate(SESSION.read_text(encoding="utf-8").splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word == "model" and rest.startswith("waits "):
            waits = float(rest.split()[1])
        elif word == "model":
            tool, _, given = rest.partition(" ")
            calls.append((tool, json.loads(given)))
            waits = 0.0
        elif word == "$":
            if step is not None:
                yield step
            step, calls = Step(number, rest, calls, waits), []
        elif line.startswith("  exit ") and step is not None:
            step.code = int(line.split()[1])
        elif line.startswith("  ") and step is not None:
            step.seen.append(line[2:])
    assert step is not None
    yield step


def reasons() -> dict[str, str]:
    """The commands of the README that are not typed, and why."""
    found = re.findall(r"^not typed (.+?): (.+)$", SESSION.read_text("utf-8"), re.MULTILINE)
    return dict(found)


def commands_of_the_readme() -> list[str]:
    """The lines to type in its code blocks, without comments and what is printed."""
    lines = [
        line
        for language, block in blocks(ROOT / "README.md")
        if language in ("", "sh")
        for line in block.splitlines()
    ]
    typed = [line for line in lines if line and not line.startswith(("[", " "))]
    return [re.sub(r"\s{2,}#.*", "", line.removeprefix("$ ")).strip() for line in typed]


def test_every_command_of_the_readme_is_typed_or_has_a_reason() -> None:
    typed = {step.command for step in steps()}
    known = typed | set(reasons())
    assert [line for line in commands_of_the_readme() if line not in known] == []
    assert [line for line in reasons() if line not in commands_of_the_readme()] == []


class Model:
    """Does the calls that a step names, then answers, with the word that a loop asks for."""

    def __init__(self) -> None:
        self.step = Step(0, "")

    def __call__(self, request: dict[str, Any]) -> Answer:
        if request.get("tools") and self.step.calls:
            return Reply(tools=[self.step.calls.pop(0)])
        words = _DONE_WORD.findall(json.dumps(request))
        text = f"Done.\n{words[-1]}" if words else "Done."
        return Reply(text=text, delay=self.step.waits)


class Home:
    """A new home, in which a line can be typed; what a line exports and where it goes is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._state = folder / ".state"
        self.runs = folder / ".local" / "share" / "nightrook"
        _checkout(folder / "nightrook")
        _project(folder / "project")
        programs = _virtual_environment(folder / "venv")
        agents = {str(Path(path).parent) for path in (test_claude.CLAUDE, test_codex.CODEX)}
        tools = [str(Path(shutil.which(name) or name).parent) for name in ("node", "git", "jq")]
        self.environment = {
            "HOME": str(folder),
            "PATH": os.pathsep.join([programs, *agents, *tools, "/usr/bin", "/bin"]),
            "PIP_NO_INDEX": "1",  # the network: what pip needs is in the environment already
            "PIP_NO_BUILD_ISOLATION": "0",  # the build system is, too; pip inverts this value
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def type(self, command: str) -> subprocess.CompletedProcess[str]:
        """Type a line; nothing is at the keyboard after it."""
        script = (
            f'[ -e "$HOME/.state" ] && . "$HOME/.state" && cd "$HERE"\n{command}\ncode=$?\n'
            'export HERE="$PWD"; export -p > "$HOME/.state"; exit $code'
        )
        return subprocess.run(
            ["bash", "--norc", "-c", script],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S,
            check=False,
        )  # fmt: skip

    def newest_run(self) -> str:
        return nightrook.list_runs(limit=1, home=self.runs)[0].name


def _checkout(folder: Path) -> None:
    """What git has of this repository as it is now, but for the tests."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)


def _project(folder: Path) -> None:
    """A project with a failing test, in git."""
    folder.mkdir()
    for name, text in PROJECT.items():
        (folder / name).write_text(text, encoding="utf-8")
    for words in (
        ["init", "-q"],
        ["config", "user.name", "A newcomer"],
        ["config", "user.email", "newcomer@example.org"],
        ["add", "-A"],
        ["commit", "-q", "-m", "Start"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)


def _virtual_environment(folder: Path) -> str:
    """A new environment that sees what Nightrook depends on; its programs.

    The packages come from the environment of the tests, because there is no network. Of its
    programs only pytest is there, for the check of a loop.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    packages = Path(paths["purelib"]) / "packages-of-the-tests.pth"
    packages.write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    programs = Path(paths["scripts"])
    (programs / "pytest").symlink_to(Path(sys.executable).with_name("pytest"))
    return str(programs)


@pytest.mark.conformance
@pytest.mark.skipif(
    not (test_claude.CLAUDE and test_codex.CODEX and shutil.which("jq")),
    reason="it needs ROOK_TEST_CLAUDE, ROOK_TEST_CODEX and jq",
)
def test_the_readme_typed_line_by_line(tmp_path: Path) -> None:
    home, model = Home(tmp_path), Model()
    with ScriptedMessagesApi(model) as messages, ScriptedResponsesApi(model) as responses:
        home.environment |= test_claude.prepare(tmp_path, messages.url)
        home.environment |= test_codex.prepare(tmp_path, responses.url)
        problems = [problem for step in steps() if (problem := _tried(home, model, step))]
    assert problems == [], "\n".join(problems)


def _tried(home: Home, model: Model, step: Step) -> str | None:
    """Type a line; what is wrong with what it does, with all that it printed."""
    model.step = step
    newest = home.newest_run() if NEWEST in step.command else NEWEST
    done = home.type(step.command.replace(NEWEST, newest))
    missing = _missing(done.stdout, [text.replace(NEWEST, newest) for text in step.seen])
    if done.returncode == step.code and missing is None:
        return None
    problem = f"exit {done.returncode}" if missing is None else f"not seen: {missing}"
    return f"{SESSION.name}:{step.line}: $ {step.command}\n{problem}\n{done.stdout}"


def _missing(output: str, texts: list[str]) -> str | None:
    """The first text that is not seen after those before it; None if all are."""
    at = 0
    for text in texts:
        pattern = ".*".join(map(re.escape, text.split("…")))
        match = re.compile(pattern).search(output, at)
        if match is None:
            return text
        at = match.end()
    return None
