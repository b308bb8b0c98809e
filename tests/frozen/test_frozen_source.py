"""Rules that the source keeps wherever its modules live: no cycles, pure rooms, a bare recorder."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from tests.frozen.rook import ROOT

SOURCE = ROOT / "src"
PACKAGE = SOURCE / "nightrook"
PURE_ROOMS = [room for room in ("core", "model", "adapter", "agents") if (PACKAGE / room).exists()]
IMPURE = {"asyncio", "logging", "os", "pathlib", "shutil", "socket", "subprocess", "sys"}
IMPURE |= {"tempfile", "threading", "time"}


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.glob("**/*.py"))}
PURE = [name for name in MODULES if name.split(".")[1:2] and name.split(".")[1] in PURE_ROOMS]


def imports(name: str, *, deferred: bool = False) -> Iterator[str]:
    """The modules that a module imports when it is imported, or at any time if `deferred`."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    for node in _statements(tree, deferred=deferred):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(name, node)
            for alias in node.names:
                below = f"{base}.{alias.name}"
                yield below if below in MODULES else base


def _statements(node: ast.AST, *, deferred: bool) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if not deferred and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        yield child
        yield from _statements(child, deferred=deferred)


def _base(name: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    above = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def test_no_module_imports_itself_by_a_detour() -> None:
    graph = {name: {m for m in imports(name) if m in MODULES and m != name} for name in MODULES}
    assert len(graph) > 100
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"an import cycle: {' -> '.join(error.args[1])}")


def test_pure_modules_import_only_what_is_pure() -> None:
    wrong = {name: [m for m in imports(name, deferred=True) if not _is_pure(m)] for name in PURE}
    assert {name: modules for name, modules in wrong.items() if modules} == {}


def _is_pure(module: str) -> bool:
    top, *below = module.split(".")
    if top == "nightrook":
        return not below or below[0] in PURE_ROOMS
    return top == "msgspec" or (top in sys.stdlib_module_names and top not in IMPURE)


def test_pure_modules_neither_open_nor_print_nor_ask() -> None:
    wrong = {name: calls(name) & {"breakpoint", "input", "open", "print"} for name in PURE}
    assert {name: called for name, called in wrong.items() if called} == {}


def calls(name: str) -> set[str]:
    """What a module calls, as it is written."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def test_the_pure_rooms_are_found() -> None:
    assert "agents" in PURE_ROOMS
    assert {"core", "model"} & set(PURE_ROOMS)


def recorder() -> list[str]:
    """The recorder's module and those of the package that it needs."""
    [start] = [name for name, path in MODULES.items() if path.name == "recorder.py"]
    found, left = [], [start]
    while left:
        found.append(left.pop())
        needed = {name for name in imports(found[-1], deferred=True) if name in MODULES}
        left += [name for name in sorted(needed) if name not in (*found, *left)]
    return found


def test_the_recorder_needs_the_standard_library_only() -> None:
    for name in recorder():
        foreign = {module.split(".")[0] for module in imports(name, deferred=True)}
        assert foreign - sys.stdlib_module_names <= {"nightrook"}, name


# Its packages are made bare, as the launcher does: what they import for others is not for it.
BOOT = """
import sys
start, *packages = sys.argv[1:]
for name, path in zip(packages[::2], packages[1::2]):
    sys.modules[name] = package = type(sys)(name)
    package.__path__ = [path]
__import__(start)
foreign = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
sys.exit(str(foreign) if foreign - {"nightrook", "__main__"} else 0)
"""


def test_the_recorder_starts_without_site_packages() -> None:
    found = recorder()
    packages = {name for module in found for name in _above(module)}
    words = [word for name in sorted(packages) for word in (name, SOURCE / name.replace(".", "/"))]
    command = [sys.executable, "-I", "-S", "-c", BOOT, found[0], *words]
    started = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (started.returncode, started.stderr) == (0, "")


def _above(module: str) -> Iterator[str]:
    while module := module.rpartition(".")[0]:
        yield module
