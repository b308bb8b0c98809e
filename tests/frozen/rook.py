"""Calls `rook` as a user does, naming no module of the package but the public ones."""

import json
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ROOK = Path(sys.executable).with_name("rook")
AGENTS = ("amp", "claude", "cline", "codex", "droid", "gemini", "kilo", "opencode", "qwen")


def environment(home: Path, *, programs: Path | None = None, **more: str) -> dict[str, str]:
    """Return an environment that depends on nothing of the machine but its Python."""
    path = os.pathsep.join([*([str(programs)] if programs else []), os.defpath])
    return {
        "HOME": str(home),
        "ROOK_HOME": str(home),
        "PATH": path,
        "COLUMNS": "80",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        **more,
    }


def rook(
    *words: str, env: dict[str, str], cwd: Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Call the installed console script."""
    return subprocess.run(
        [ROOK, *words], env=env, cwd=cwd, input=stdin, capture_output=True, check=False
    )


def flags() -> dict[str, dict[str, Any]]:
    """Return the options of every command: `flag`, `value`, `values` or the choices of each."""
    [entry] = entry_points(group="console_scripts", name="rook")
    module = import_module(entry.module)
    [group] = {id(v): v for v in vars(module).values() if isinstance(v, click.Group)}.values()
    context = click.Context(group)
    commands: dict[str, click.Command] = {"rook": group}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        commands[f"rook {name}"] = command
    return {name: _options(command) for name, command in commands.items()}


def _options(command: click.Command) -> dict[str, Any]:
    params = command.get_params(click.Context(command))
    kinds = {
        word: _kind(param)
        for param in params
        if isinstance(param, click.Option)
        for word in (*param.opts, *param.secondary_opts)
    }
    return dict(sorted(kinds.items()))


def _kind(option: click.Option) -> str | list[str]:
    if option.is_flag or option.is_eager:
        return "flag"
    if isinstance(option.type, click.Choice):
        return list(option.type.choices)
    return "values" if option.multiple else "value"


def cases(agent: str) -> dict[str, Path]:
    """Return the recorded streams of an agent by name."""
    wires = sorted((ROOT / "tests" / "agents" / agent / "cases").glob("*/wire.jsonl"))
    return {wire.parent.name: wire for wire in wires}


def plain(agent: str, cwd: Path) -> dict[str, Any]:
    """Return the plain output of `rook` for every recorded stream of an agent."""
    wires = cases(agent)
    manners = {"plain": [], "verbose": ["-v"]}
    calls = [
        {"words": ["--no-record", *words], "stdin": str(wire)}
        for wire in wires.values()
        for words in manners.values()
    ]
    ended = iter(play(calls, environment(cwd), cwd))
    return {name: {manner: next(ended) for manner in manners} for name in wires}


def play(calls: list[dict[str, Any]], env: dict[str, str], cwd: Path) -> list[dict[str, Any]]:
    """Call `rook` many times in one process; return exit code and stdout of each call."""
    ended = subprocess.run(
        [sys.executable, HERE / "play.py"],
        env=env,
        cwd=cwd,
        input=json.dumps(calls).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    result: list[dict[str, Any]] = json.loads(ended.stdout)
    return result
