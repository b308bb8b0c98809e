"""Every agent turns its counters into a usage in one function, `usage_of`.

An agent's counters may include cached tokens, or split the writes to the cache in some way. What is
read live, shown from a stored session and counted for the cost report must not differ in that.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import nightrook

ROOT = Path(nightrook.__file__).parent
ADAPTER = ROOT / "adapter"
AGENTS = tuple(sorted(file.parent.name for file in (ROOT / "agents").glob("*/adapter.py")))

COUNTS = frozenset({"input", "output", "cache_read", "cache_write_5m", "reasoning"})
MAKERS = frozenset({"Call", "Usage", "UsageReported"})
COPIES = frozenset({"adapter/history.py", "adapter/usage.py"})
"""These make events and calls of a usage, of any agent."""


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """The functions named `usage_of` in a file."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return [node for node in nodes if node.name == "usage_of"]


def conversions(path: Path) -> Iterator[str]:
    """Where a file makes a usage of counters outside of `usage_of`."""
    tree = ast.parse(path.read_text())
    inside = {node for function in functions(tree) for node in ast.walk(function)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node in inside:
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        counts = {keyword.arg for keyword in node.keywords} & COUNTS
        if name == "uncached" or (name in MAKERS and counts):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {name}"


def shared_wires(agent: str) -> set[Path]:
    """The files and folders of `adapter` that an agent imports and that have a `usage_of`."""
    names = set()
    for file in (ROOT / "agents" / agent).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
                for module in modules:
                    below = module.removeprefix("nightrook.adapter.")
                    names |= {below.partition(".")[0]} if below != module else set()
    paths = {path for name in names for path in (ADAPTER / name, ADAPTER / f"{name}.py")}
    return {path for path in paths if any(map(has_usage_of, files_of(path)))}


def files_of(path: Path) -> list[Path]:
    return [path] if path.is_file() else [*path.rglob("*.py")]


def has_usage_of(path: Path) -> bool:
    return bool(functions(ast.parse(path.read_text())))


def problems(agent: str) -> list[str]:
    """What an agent has besides one `usage_of`."""
    own = ROOT / "agents" / agent
    files = [file for path in (own, *shared_wires(agent)) for file in files_of(path)]
    found = [place for file in files for place in conversions(file)]
    definitions = [file for file in files for _ in functions(ast.parse(file.read_text()))]
    if len(definitions) != 1:
        names = [str(file.relative_to(ROOT)) for file in definitions]
        found.append(f"{len(names)} functions named usage_of: {names}")
    return found


@pytest.mark.parametrize("agent", AGENTS)
def test_an_agent_converts_its_counters_in_one_function(agent: str) -> None:
    assert not problems(agent)


def test_what_agents_share_converts_no_counters_outside_of_such_a_function() -> None:
    files = set(ADAPTER.rglob("*.py")) - {ROOT / copy for copy in COPIES}
    assert not [place for file in files for place in conversions(file)]
