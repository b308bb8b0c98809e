"""What a newcomer asks and tries: each question has its answer, each snippet runs as pasted."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.adapter.agent import Agent, Task
from nightrook.model.errors import NightrookError
from nightrook.model.permissions import Permission
from nightrook.testing import install_agent
from tests.pages import ROOT, anchors, blocks, table
from tests.rules import each

ACP = "acp"

QUESTIONS = [
    ("How do I install it?", "getting-started.md#install", "uv tool install ."),
    ("Does it run on macOS?", "getting-started.md#install", "macOS"),
    ("Why is `rook` not found?", "getting-started.md#rook-is-not-found", "export PATH="),
    (
        "How do I pipe a diff into it?",
        "getting-started.md#pipe-a-diff-or-a-file-into-it",
        "git diff | rook run",
    ),
    ("Where are runs kept?", "runs.md#runs-on-disk", "~/.local/share/nightrook"),
    ("How do I delete them?", "runs.md#delete-runs", "rook rm --older-than 30d"),
    ("What did I spend this week?", "money.md#what-was-spent", "rook cost --since 7d"),
    ("What do the exit codes mean?", "running.md#how-it-ended", "| 5 | over budget |"),
    ("How do I use it in GitHub Actions?", "ci.md#github-actions", "runs-on:"),
    (
        "What does `--permission edit` do with Claude?",
        "permissions.md#the-flags-of-each-agent",
        "--permission-mode acceptEdits",
    ),
    (
        "How do I pass the agent's own flags?",
        "getting-started.md#options-of-the-agent-itself",
        "-- --append-system-prompt",
    ),
    (
        "How do I get the answer in Python?",
        "library.md#run-an-agent-and-get-its-answer",
        "run.text",
    ),
    ("How do I list runs in Python?", "library.md#recorded-runs", "nightrook.list_runs"),
    ("Can I set my own prices?", "money.md#your-own-prices", "prices.toml"),
    ("What does `$` mean on a subscription?", "money.md#on-a-subscription", "not a bill"),
    ("Does it phone home?", "privacy.md#privacy", "no telemetry"),
    (
        "How do I resume a run?",
        "getting-started.md#continue-where-a-run-ended",
        "rook run --resume",
    ),
    ("Can it notify me?", "ci.md#notify", "--on-end"),
    ("How do I run many at once?", "loops.md#batches", "rook batch tasks.jsonl --jobs 4"),
    ("Can each run have its own worktree?", "loops.md#repositories", "--worktree"),
    ("What are turns and steps?", "getting-started.md#turns-and-steps", "--max-turns"),
    ("Why not the SDK?", "compared.md#claude-agent-sdk", "Use Nightrook to"),
    ("How do I add an agent?", "adding-an-agent.md#how-to-add-an-agent", "An agent is one object"),
    ("How do I test offline?", "testing.md#the-scripted-agent", "install_agent"),
]

ORDER = [
    "getting-started.md", "ci.md", "permissions.md", "money.md", "runs.md", "privacy.md",
    "library.md", "compared.md", "troubleshooting.md", "architecture.md",
]  # fmt: skip
"""The pages in the order of use."""

PERMISSIONS: tuple[Permission, ...] = ("ask", "agent", "edit", "plan", "all")
ROWS: dict[str, tuple[str, str | None]] = {
    "Claude Code": ("claude", None), "Codex": ("codex", "app-server"),
    "Codex `exec`": ("codex", "exec"), "OpenCode": ("opencode", None),
    "Gemini CLI": ("gemini", None), "Qwen Code": ("qwen", None), "Amp": ("amp", None),
    "Kilo CLI": ("kilo", None), "Droid": ("droid", None),
    "Goose": ("goose", None), "GitHub Copilot CLI": ("copilot", None),
    "Kimi Code": ("kimi", None), "Cline": ("cline", None),
}  # fmt: skip


@each(("question", "place", "answer"), QUESTIONS, ids=[question for question, _, _ in QUESTIONS])
def test_each_question_of_a_newcomer_is_answered(question: str, place: str, answer: str) -> None:
    page, _, anchor = place.partition("#")
    assert answer in anchors(ROOT / "docs" / page)[anchor]


def test_there_are_24_questions() -> None:
    assert len({question for question, _, _ in QUESTIONS}) == 24


def test_the_readme_lists_the_pages_in_the_order_of_use() -> None:
    index = anchors(ROOT / "README.md")["find-your-way"]
    places = [index.index(f"(docs/{page})") for page in ORDER]
    assert places == sorted(places)


def test_the_readme_opens_with_an_install_a_platform_and_a_first_command() -> None:
    opening = anchors(ROOT / "README.md")["nightrook"][:1000]
    for words in ("uv tool install .", "pipx install .", "pip install .", "rook demo", "Linux"):
        assert words in opening
    assert "pip install nightrook" not in opening  # it is not released by that name


def test_the_page_on_permissions_has_a_row_for_every_agent() -> None:
    known = [agents.agent(name) for name in agents.NAMES if name != ACP]  # it has its own table
    ways = {(one.name, way.name) for one in known for way in one.ways if way.name != ACP}
    named = {(name, None if way == "native" else way) for name, way in ways}
    assert set(ROWS.values()) == named | {(one.name, None) for one in known if not one.ways}
    head, *rows = _flags()
    assert head[1:] == [*(f"`{one}`" for one in PERMISSIONS), "`--allow RULE`"]
    assert [row[0] for row in rows] == list(ROWS)


@each(("agent", "permission"), [(a, p) for a in ROWS for p in PERMISSIONS])
def test_the_page_on_permissions_has_the_exact_flags(agent: str, permission: Permission) -> None:
    cell = _cell(agent, PERMISSIONS.index(permission))
    name, way = ROWS[agent]
    task = Task(prompt="Go on", permission=permission, via=way)
    assert cell == _told(agents.agent(name), task)


@each("agent", list(ROWS))
def test_the_page_on_permissions_has_the_exact_form_of_a_rule(agent: str) -> None:
    name, way = ROWS[agent]
    task = Task(prompt="Go on", allow=("RULE",), via=way)
    assert _cell(agent, -1) == _told(agents.agent(name), task)


def _flags() -> list[list[str]]:
    return table(anchors(ROOT / "docs" / "permissions.md")["the-flags-of-each-agent"])


def _cell(agent: str, at: int) -> str:
    (row,) = [row for row in _flags() if row[0] == agent]
    return row[1:][at].strip("`")


def _told(agent: Agent, task: Task) -> str:
    """What an agent is given for a task beyond what it gets for one without permissions."""
    usual = agent.invoke(Task(prompt=task.prompt, via=task.via))
    try:
        call = agent.invoke(task)
    except NightrookError:
        over_acp = any(way.name == ACP and way.asks for way in agent.ways)
        asks = task.permission == "ask" and task.via is None and over_acp
        return "over ACP" if asks else "refused"
    if task.via == "app-server":
        return _requested(call.stdin or b"")
    if changed := dict(call.environment.items() - usual.environment.items()):
        is_json = any(value.startswith("{") for value in changed.values())
        return "rules" if is_json else " ".join(f"{k}={v}" for k, v in changed.items())
    added = [word for word in call.command if word not in usual.command]
    added = [word for word in added if word != "--input-format"]  # what asking speaks, not a right
    return " ".join(added) or "no flag"


def _requested(stdin: bytes) -> str:
    """The fields with which a server is asked for a thread."""
    messages = [json.loads(line) for line in stdin.split(b"\n") if line]
    (params,) = (each["params"] for each in messages if each["method"] == "thread/start")
    return ", ".join(f"{name}: {value}" for name, value in params.items()) or "no field"


def _snippets() -> list[tuple[str, str]]:
    pages = [ROOT / "README.md", ROOT / "docs" / "library.md"]
    return [
        (f"{page.name} {number}", text)
        for page in pages
        for number, (language, text) in enumerate(blocks(page))
        if language == "python"
    ]


@pytest.mark.slow
def test_the_snippets_of_the_library_run_as_pasted(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    program = install_agent(tmp_path / "bin", "--script-play", "short")
    environment = {
        "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        "ROOK_HOME": str(tmp_path / "home"),
    }
    for title, snippet in _snippets():
        done = subprocess.run(
            [sys.executable, "-"],
            input=snippet, cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), f"{title}: {done.stderr}"
