"""Damages copies of stored folders, and reads each with every command: a process of its own.

`python -m tests.mutations.attack KIND FIRST COUNT` prints what went wrong, a line each, and then
how many folders and calls there were. Import everything first: each folder gets a fork.
"""

import os
import pkgutil
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Literal

from tests.mutations.commands import Call, Outcome, call_all
from tests.mutations.mutations import mutate

Kind = Literal["run", "loop", "batch", "settings"]

STORED = Path(__file__).parents[1] / "frozen" / "home"
_FOLDERS = {"run": "runs", "loop": "loops", "batch": "batches"}
_NEIGHBOURS = 2
_SETTINGS = """\
agent = "claude"
timeout = "5m"
max_cost = 2.5
allow = ["Read", "Bash(git *)"]
verbose = true

[profile.ci]
quiet = true

[agents.work]
speaks = "claude"
command = ["claude", "--settings", "work.json"]
"""
_PRICES = """\
["claude-sonnet-4-5"]
input = 3.0
output = 15.0
"""


def _completion(*words: str) -> list[str]:
    line = " ".join(("rook", *words))
    return ["_ROOK_COMPLETE=zsh_complete", f"COMP_WORDS={line}", f"COMP_CWORD={len(words)}"]


def lines_for(kind: Kind, folder: Path) -> list[list[str]]:
    """Every command that reads such a folder; the last one removes it."""
    name = folder.name
    every = [["runs"], ["runs", "--json"], ["loops"], ["loops", "--json"], ["show"]]
    if kind == "run":
        return [
            *every,
            ["show", name],
            ["show", name, "--full"],
            ["replay", name, "--instant"],
            ["replay", name, "--instant", "--format", "jsonl"],
            ["replay", name, "--instant", "--format", "raw"],
            ["attach", name],
            ["attach", name, "--json"],
            ["decode", str(folder / "stdout.raw")],
            ["decode", "--summary", str(folder / "stdout.raw")],
            ["stop", name],
            _completion("show", ""),
            _completion("stop", ""),
            ["rm", "--older-than", "1s", "--dry-run"],
            ["rm", name],
        ]
    if kind == "loop":
        return [
            *every,
            ["show", name],
            ["show", name, "--full"],
            ["stop", name],
            _completion("show", ""),
            _completion("stop", ""),
            ["rm", "--older-than", "1s", "--dry-run"],
            ["rm", name, "--yes"],
        ]
    if kind == "batch":
        return [*every, ["batch", "--resume", name], ["rm", name, "--yes"]]
    return [
        *every,
        ["config"],
        ["config", "--json"],
        _completion("run", "--profile", ""),
        _completion("run", "--agent", ""),
    ]


def attack(kind: Kind, number: int, top: Path) -> tuple[str, Outcome, list[str]]:
    """Damage one folder and read it; return what was done, the calls, and the neighbours' names."""
    random = Random(f"{kind} {number}")
    home, project = top / "home", top / "project"
    project.mkdir()
    settings = top / ".config" / "nightrook"
    settings.mkdir(parents=True)
    for path in (settings, project):
        (path / "rook.toml").write_text(_SETTINGS)
    (settings / "prices.toml").write_text(_PRICES)
    names = _copy(random, home)
    folder = settings if kind == "settings" else home / _FOLDERS[kind] / names[kind][0]
    done = mutate(folder, random)
    env = {
        "HOME": str(top),
        "ROOK_HOME": str(home),
        "PATH": str(top / "bin"),  # no agent is there
        "COLUMNS": "80",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }
    outcome = call_all(lines_for(kind, folder), env, project)
    others = [name for each, few in names.items() for name in few[each == kind :]]
    return f"{kind} {number} {folder.name}: {done}", outcome, others


def _copy(random: Random, home: Path) -> dict[str, list[str]]:
    """Copy a few stored runs, loops and batches; return their names by kind."""
    names: dict[str, list[str]] = {}
    for kind, parent in _FOLDERS.items():
        stored = sorted(path.name for path in (STORED / parent).iterdir())
        names[kind] = random.sample(stored, min(1 + _NEIGHBOURS, len(stored)))
        for name in names[kind]:
            shutil.copytree(STORED / parent / name, home / parent / name)
    for path in (home, *home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return names


def problems(kind: Kind, outcome: Outcome, others: list[str]) -> list[str]:
    """What went wrong: tracebacks, hangs, and neighbours that are not listed."""
    wrong = [call for call in outcome.calls if call.is_wrong]
    found = [f"{call.words}: {call.code} {call.err[-3000:]}" for call in wrong]
    if outcome.hung is not None:
        found.append(f"{list(outcome.hung)} hung or died")
    if kind in ("run", "loop"):
        for call in outcome.calls:
            found += _hidden(call, others)
    return found


def _hidden(call: Call, others: list[str]) -> list[str]:
    """The neighbours that a list should have, and has not."""
    if call.words in (["runs"], ["runs", "--json"]):
        wanted = [name for name in others if "-" not in name]
    elif call.words in (["loops"], ["loops", "--json"]):
        wanted = [name for name in others if name.startswith("loop-")]
    else:
        return []
    return [f"{call.words} does not list {name}" for name in wanted if name not in call.out]


def main() -> None:
    """Attack as the command line says."""
    package = import_module("nightrook")
    for module in pkgutil.walk_packages(package.__path__, "nightrook."):
        if not module.name.endswith(("__main__", "systems.linux")):  # imported only on Linux
            import_module(module.name)
    kind: Kind = sys.argv[1]  # type: ignore[assignment]
    first, count = map(int, sys.argv[2:4])
    calls = 0
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as top:
            done, outcome, others = attack(kind, number, Path(top))
            calls += len(outcome.calls)
            for problem in problems(kind, outcome, others):
                sys.stdout.write(f"{done} → {problem}\n")
    sys.stdout.write(f"{count} folders, {calls} calls\n")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
