"""Prints the figures of the source tree: size, importers, helpers, cycles, public names, copies.

`python scripts/figures.py [--src PATH] [--list]`: PATH is the folder that holds the package, of
this tree or of an older one; `--list` names what the figures count. The script needs only the
standard library; it reads the files as text and imports none of them. The figures are a
thermometer: no test compares them with a limit, and no code is written for their sake.

What each figure means:

- An import is counted wherever it stands: at the top, inside a function, for type checkers. A
  package's `__init__.py` is a module.
- A module has one importer if exactly one other module of the package imports it.
- A private helper called from one place is a function or method whose name begins with one
  underscore and occurs exactly once in its module, as what is called: not a row of a table, a
  callback or a property.
- A cycle is a set of modules each of which imports every other, directly or through others.
- A room is a folder or module directly below the package. The door is `nightrook`,
  `nightrook.events`, `nightrook.adapter` and `nightrook.testing`: what these modules define or
  import is public. A name is outside the door if it has no leading underscore, another module
  defines it at its top level, and a module of another room uses it.
- Copies are the pairs of places that the `duplicates` command lists, where that command exists.

`make walk` counts the modules that a line passes.
"""

from __future__ import annotations

import argparse
import ast
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
PACKAGE = "nightrook"
DOOR = frozenset({PACKAGE, f"{PACKAGE}.events", f"{PACKAGE}.adapter", f"{PACKAGE}.testing"})

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Name = tuple[str, str]
"""A module and a name at its top level."""


@dataclass
class Module:
    """One file: what it defines, and which modules and names of the package it uses."""

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
        names: set[str] = set()
        for node in self.tree.body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    names.add(node.name)
                case ast.Assign(targets=targets):
                    names.update(target.id for target in targets if isinstance(target, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name)):
                    names.add(name)
        return {name for name in names if not name.startswith("_")}

    @cached_property
    def functions(self) -> list[Definition]:
        """Every function, including methods and nested functions."""
        return [node for node in ast.walk(self.tree) if isinstance(node, Definition)]

    @cached_property
    def helpers(self) -> list[str]:
        """The private functions and methods that are called from one place."""
        uses, calls = Counter(_names_used(self.tree)), Counter(_names_called(self.tree))
        return [
            node.name
            for node in self.functions
            if node.name.startswith("_")
            and not node.name.startswith("__")
            and uses[node.name] == calls[node.name] == 1
        ]


class Tree:
    """All modules of a package, with the imports between them resolved."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.modules = {module.name: module for module in _modules(source)}
        for module in self.modules.values():
            self._resolve(module)

    @cached_property
    def folders(self) -> Counter[str]:
        """The number of modules of every folder."""
        paths = [one.path for one in self.modules.values() if one.path.name != "__init__.py"]
        return Counter(str(path.parent.relative_to(self.source)) for path in paths)

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that import each module."""
        importers: dict[str, set[str]] = defaultdict(set)
        for module in self.modules.values():
            for imported in module.imports:
                importers[imported].add(module.name)
        return importers

    @cached_property
    def single_importer(self) -> list[str]:
        """The modules that exactly one other module imports."""
        return sorted(name for name, by in self.importers.items() if len(by) == 1)

    @cached_property
    def helpers(self) -> list[Name]:
        """The private functions and methods that are called from one place."""
        return [(one.name, name) for one in self.modules.values() for name in one.helpers]

    @cached_property
    def cycles(self) -> list[list[str]]:
        """The sets of modules that import each other, the largest first."""
        imports = {name: sorted(one.imports) for name, one in self.modules.items()}
        return sorted(_cycles(imports), key=lambda names: (-len(names), names))

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
                        if alias.name in self.modules:
                            module.imports.add(alias.name)
                            if alias.asname:
                                aliases[alias.asname] = alias.name
                case ast.ImportFrom(level=0, module=str(source), names=names):
                    for alias in names:
                        self._import_from(module, aliases, source, alias)
        for node in ast.walk(module.tree):
            match node:
                case ast.Attribute(value=ast.Name(id=local), attr=name) if local in aliases:
                    module.uses.add((aliases[local], name))
        module.imports.discard(module.name)

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


def report(tree: Tree) -> str:
    """The figures of a tree, one a line."""
    modules = tree.modules.values()
    functions = sum(len(one.functions) for one in modules)
    defined = sum(len(one.defines) for one in modules if one.name not in DOOR)
    cycles = " · ".join(f"{len(names)} modules" for names in tree.cycles)
    rows = [
        ("modules", f"{len(modules)}"),
        ("lines", f"{sum(one.lines for one in modules)}"),
        ("modules with one importer", f"{len(tree.single_importer)}"),
        ("functions", f"{functions}"),
        (
            "  private, called once",
            f"{len(tree.helpers)} ({len(tree.helpers) / max(1, functions):.0%})",
        ),
        ("import cycles", f"{len(tree.cycles)}{f': {cycles}' if cycles else ''}"),
        ("folders, most modules", _most(tree.folders)),
        ("most imports", _most({name: len(one.imports) for name, one in tree.modules.items()})),
        ("names outside the door", f"{len(tree.outside_the_door)} used by other rooms"),
        ("", f"of {defined} defined"),
        ("copies", copies(tree.source)),
    ]
    return "\n".join(f"{label:<26} {value}" for label, value in rows)


def listing(tree: Tree) -> str:
    """The modules, helpers and cycles that the figures count."""
    lines = ["", "modules with one importer:"]
    lines += [
        f"  {tree.modules[name].lines:>5}  {name}  <- {next(iter(tree.importers[name]))}"
        for name in tree.single_importer
    ]
    lines += ["", "private helpers called from one place:"]
    lines += [f"  {module}:{name}" for module, name in tree.helpers]
    lines += ["", "import cycles:"]
    lines += [f"  {' · '.join(names)}" for names in tree.cycles]
    return "\n".join(lines)


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
    parser.add_argument("--list", action="store_true", help="also name what is counted")
    options = parser.parse_args()
    tree = Tree(options.src)
    print(report(tree))
    if options.list:
        print(listing(tree))


def _modules(source: Path) -> Iterator[Module]:
    for path in sorted((source / PACKAGE).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        yield Module(name, path, ast.parse(text), text.count("\n"))


def _names_used(node: ast.AST) -> Iterator[str]:
    """The names and attributes that are read somewhere in a node."""
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load):
            yield child.id
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Load):
            yield child.attr


def _names_called(tree: ast.AST) -> Iterator[str]:
    """The names and attributes that are called somewhere in a tree."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
                yield name


def _cycles(imports: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """The strongly connected components with more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    for start in imports:
        if start in index:
            continue
        index[start] = lowest[start] = len(index)
        path.append(start)
        visits = [(start, iter(imports[start]))]
        while visits:
            name, following = visits[-1]
            for imported in following:
                if imported not in imports:
                    continue
                if imported not in index:
                    index[imported] = lowest[imported] = len(index)
                    path.append(imported)
                    visits.append((imported, iter(imports[imported])))
                    break
                if imported in path:
                    lowest[name] = min(lowest[name], index[imported])
            else:
                visits.pop()
                if visits:
                    caller = visits[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[name])
                if lowest[name] == index[name]:
                    at = path.index(name)
                    names = path[at:]
                    del path[at:]
                    if len(names) > 1:
                        yield sorted(names)


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _most(counts: Mapping[str, int], shown: int = 3) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:shown]
    return " · ".join(f"{count} {name}" for name, count in ordered) or "none"


if __name__ == "__main__":
    main()
