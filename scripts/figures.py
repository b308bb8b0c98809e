"""Prints the figures of the source tree: sizes, parameters, imports, public names, copies.

`python scripts/figures.py [--src PATH]`: PATH is the folder that holds the package, of this tree
or of an older one. The script needs only the standard library; it reads the files as text and
imports none of them.

What each figure means:

- A function is every `def`, including methods and nested functions. Its lines go from `def` to its
  last line: signature, docstring and blank lines count, decorators do not.
- A parameter is every name in the signature except `self` and `cls`; `*args` and `**kwargs` count
  as one each. The public `run`, `run_sync` and `loop` spell out all options: they are listed apart.
- A folder's modules are its own `.py` files without `__init__.py`; a subfolder counts by itself.
- Fan-out is the number of other modules of the package that a module imports, anywhere in its text
  (inside functions and for type checkers, too). A package's `__init__.py` is a module.
- A module has one importer if exactly one other module of the package imports it.
- A room is a folder or module directly below the package. The door is `nightrook`,
  `nightrook.events`, `nightrook.adapter` and `nightrook.testing`: what these modules define or
  import is public. A name is outside the door if it has no leading underscore, another module
  defines it at its top level, and a module of another room uses it.
- Copies are the pairs of places that the `duplicates` command lists, where that command exists.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = "nightrook"
DOOR = frozenset({"nightrook", "nightrook.events", "nightrook.adapter", "nightrook.testing"})
SPELLED_OUT = frozenset({"run", "run_sync", "loop"})
"""What `nightrook` exports as functions that spell out every option; they may be longer."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Name = tuple[str, str]
"""A module and a name at its top level."""


@dataclass(frozen=True)
class Function:
    """A function and its size."""

    place: str
    """Its module and its name in it, such as `nightrook.feed.tail:Tail.read`."""
    lines: int
    parameters: int


@dataclass
class Module:
    """What one file defines and which modules and names it uses."""

    name: str
    path: Path
    tree: ast.Module
    lines: int
    imports: set[str] = field(default_factory=set)
    uses: set[Name] = field(default_factory=set)

    @property
    def room(self) -> str:
        """The folder or module directly below the package in which it lives."""
        return ".".join(self.name.split(".")[:2])

    @cached_property
    def defines(self) -> set[str]:
        """The names without a leading underscore that its top level defines."""
        found: set[str] = set()
        for node in self.tree.body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    found.add(node.name)
                case ast.Assign(targets=targets):
                    found.update(target.id for target in targets if isinstance(target, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name)):
                    found.add(name)
        return {name for name in found if not name.startswith("_")}

    def functions(self) -> Iterator[Function]:
        """Every function of the module, nested ones and methods included."""
        for name, node, in_class in _definitions(self.tree, "", in_class=False):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            parameters = _parameters(node, bound=in_class)
            yield Function(f"{self.name}:{name}", lines, parameters)

    def classes(self) -> Iterator[tuple[str, int]]:
        """Every class of the module with the number of its own methods."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                methods = [child for child in node.body if isinstance(child, Definition)]
                yield f"{self.name}:{node.name}", len(methods)


class Tree:
    """All modules of a package, with the imports between them resolved."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.modules = {module.name: module for module in _modules(source)}
        for module in self.modules.values():
            self._resolve(module)

    @cached_property
    def spelled_out(self) -> list[Function]:
        """The public functions that spell out every option."""
        return [one for one in self._all_functions if one.place in self._spelled_out]

    @cached_property
    def functions(self) -> list[Function]:
        """Every other function."""
        return [one for one in self._all_functions if one.place not in self._spelled_out]

    @cached_property
    def _all_functions(self) -> list[Function]:
        return [one for module in self.modules.values() for one in module.functions()]

    @cached_property
    def _spelled_out(self) -> set[str]:
        exported = self.modules[PACKAGE].uses
        return {f"{module}:{name}" for module, name in exported if name in SPELLED_OUT}

    @cached_property
    def classes(self) -> dict[str, int]:
        """The number of methods of every class."""
        return {name: count for one in self.modules.values() for name, count in one.classes()}

    @cached_property
    def folders(self) -> Counter[str]:
        """The number of modules of every folder."""
        paths = [one.path for one in self.modules.values() if one.path.name != "__init__.py"]
        return Counter(str(path.parent.relative_to(self.source)) for path in paths)

    @cached_property
    def fan_out(self) -> dict[str, int]:
        """The number of modules that each module imports."""
        return {name: len(module.imports) for name, module in self.modules.items()}

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that import each module."""
        found: dict[str, set[str]] = defaultdict(set)
        for module in self.modules.values():
            for imported in module.imports:
                found[imported].add(module.name)
        return found

    @cached_property
    def single_importer(self) -> list[str]:
        """The modules that exactly one other module imports."""
        return sorted(name for name, by in self.importers.items() if len(by) == 1)

    @cached_property
    def outside_the_door(self) -> set[Name]:
        """The public names that another room uses and that the door does not offer."""
        doors = [self.modules[name] for name in DOOR & self.modules.keys()]
        offered = set().union(*(door.uses for door in doors)) if doors else set()
        used: set[Name] = set()
        for module in self.modules.values():
            used.update(name for name in module.uses if _room(name[0]) != module.room)
        return {
            (home, name)
            for home, name in used - offered
            if home not in DOOR and name in self.modules[home].defines
        }

    def _resolve(self, module: Module) -> None:
        """Find which modules and names of the package a module uses."""
        aliases: dict[str, str] = {}
        for node in ast.walk(module.tree):
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        self._import(module, aliases, alias)
                case ast.ImportFrom(level=0, module=str(source), names=names):
                    for alias in names:
                        self._import_from(module, aliases, source, alias)
        for node in ast.walk(module.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=local), attr=name) if local in aliases:
                    module.uses.add((aliases[local], name))
        module.imports.discard(module.name)

    def _import(self, module: Module, aliases: dict[str, str], alias: ast.alias) -> None:
        if alias.name in self.modules:
            module.imports.add(alias.name)
            if alias.asname:
                aliases[alias.asname] = alias.name

    def _import_from(
        self, module: Module, aliases: dict[str, str], source: str, alias: ast.alias
    ) -> None:
        whole = f"{source}.{alias.name}"
        if whole in self.modules:
            module.imports.add(whole)
            aliases[alias.asname or alias.name] = whole
        elif source in self.modules:
            module.imports.add(source)
            names = self.modules[source].defines if alias.name == "*" else {alias.name}
            module.uses.update((source, name) for name in names)


def percentile(values: Iterable[int], part: float) -> int:
    """The smallest of the values that at least this part of them does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(part * 100) // 100) - 1)] if ordered else 0


def report(tree: Tree) -> str:
    """The figures of a tree, one a line."""
    lines = [one.lines for one in tree.functions]
    modules = tree.modules.values()
    defined = sum(len(one.defines) for one in modules if one.name not in DOOR)
    rows = [
        ("files", f"{len(modules)}"),
        ("lines", f"{sum(one.lines for one in modules)}"),
        ("functions", f"{len(tree.functions) + len(tree.spelled_out)}"),
        ("  lines, p50 · p95", f"{percentile(lines, 0.5)} · {percentile(lines, 0.95)}"),
        ("  longest", _most({one.place: one.lines for one in tree.functions})),
        ("  most parameters", _most(_by_parameters(tree.functions))),
        ("  public, all options", _most(_by_parameters(tree.spelled_out))),
        ("classes, most methods", _most(tree.classes)),
        ("folders, most modules", _most(tree.folders)),
        ("fan-out, p95", f"{percentile(tree.fan_out.values(), 0.95)}"),
        ("  most imports", _most(tree.fan_out)),
        ("modules with one importer", f"{len(tree.single_importer)}"),
        ("names outside the door", f"{len(tree.outside_the_door)} used by other rooms"),
        ("", f"of {defined} defined"),
        ("copies", copies(tree.source)),
    ]
    return "\n".join(f"{label:<26} {value}" for label, value in rows)


def copies(source: Path) -> str:
    """What the `duplicates` command counts, if it is installed."""
    command = shutil.which("duplicates")
    if not command:
        return "not counted (the command `duplicates` is not available)"
    found = subprocess.run(
        [command, "--repo", str(source), "--most", "1", "--seconds", "120"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.partition("\n")[0] or "not counted (`duplicates` printed nothing)"


def main() -> None:
    """Print the figures of the tree that the command line names."""
    parser = argparse.ArgumentParser(description="Print the figures of the source tree.")
    parser.add_argument("--src", type=Path, default=SOURCE, help="folder that holds the package")
    print(report(Tree(parser.parse_args().src)))


def _modules(source: Path) -> Iterator[Module]:
    for path in sorted((source / PACKAGE).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield Module(name, path, ast.parse(text), text.count("\n"))


def _definitions(
    node: ast.AST, prefix: str, *, in_class: bool
) -> Iterator[tuple[str, Definition, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, child, in_class
            yield from _definitions(child, f"{prefix}{child.name}.", in_class=False)
        elif isinstance(child, ast.ClassDef):
            yield from _definitions(child, f"{prefix}{child.name}.", in_class=True)
        else:
            yield from _definitions(child, prefix, in_class=in_class)


def _parameters(node: Definition, *, bound: bool) -> int:
    given = node.args
    names = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    if bound and names and names[0].arg in ("self", "cls"):
        names = names[1:]
    return len(names) + bool(given.vararg) + bool(given.kwarg)


def _by_parameters(functions: list[Function]) -> dict[str, int]:
    return {one.place: one.parameters for one in functions}


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _most(counts: dict[str, int], shown: int = 3) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:shown]
    return " · ".join(f"{count} {name}" for name, count in ordered) or "none"


if __name__ == "__main__":
    main()
