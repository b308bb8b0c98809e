"""No pattern over agents' text takes more than linear time, whatever the text is."""

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.rules import each

SOURCE = Path(__file__).parent.parent / "src"
MATCHING = {"match", "fullmatch", "search", "sub", "split", "findall", "finditer"}
SIZE = 16_000
MOST_SECONDS = 0.05  # of this thread; a linear pattern takes a hundredth of it
_parser: Any = re._parser  # type: ignore[attr-defined]


# What gets only texts of a bounded length, or a bounded part of a longer one.
BOUNDED = {
    "adapter.oversized._TOKEN": "the two kept ends of a line",
    "adapter.salvage._PATH": "what msgspec says of a value: the path in its shape",
    "agents.droid.tools._ENDED": "the last 80 characters",
    "model.redaction.named._USUAL": "a value of at most 512 bytes",
    "model.redaction.redactor._before_secret": "the last characters before a word",
}
# How patterns are applied that a loop takes out of a collection.
METHODS = {"_USUAL": {"fullmatch"}, "_names": {"match"}}


class Use(NamedTuple):
    """A compiled pattern, and a method by which its module applies it."""

    name: str
    pattern: re.Pattern[Any]
    method: str


def uses() -> list[Use]:
    found: dict[tuple[str, str], Use] = {}
    for room in ("agents", "adapter", "model"):
        for path in sorted((SOURCE / "nightrook" / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "re.compile" not in text:
                continue
            dotted = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            module = importlib.import_module(dotted.removesuffix(".__init__"))
            methods: dict[str, set[str]] = {}
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Attribute) and node.attr in MATCHING:
                    owner = node.value.func if isinstance(node.value, ast.Call) else node.value
                    if isinstance(owner, ast.Name):
                        methods.setdefault(owner.id, set()).add(node.attr)
            for name, value in vars(module).items():
                if f"{dotted.removeprefix('nightrook.')}.{name}" in BOUNDED:
                    continue
                for number, pattern in enumerate(patterns_in(value, dotted)):
                    for method in sorted(methods.get(name) or METHODS.get(name, {"search"})):
                        method = method if method in {"match", "fullmatch"} else "search"
                        key = f"{dotted.removeprefix('nightrook.')}.{name}[{number}]"
                        found[key, method] = Use(f"{key}.{method}", pattern, method)
    return list(found.values())


def patterns_in(value: object, module: str) -> Iterator[re.Pattern[Any]]:
    if hasattr(value, "cache_info") and getattr(value, "__module__", "") == module:
        try:
            value = value()  # type: ignore[operator]
        except TypeError:
            return
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from patterns_in(part, module)


def witnesses(tree: Any, times: int) -> list[list[str]]:
    """Texts that a pattern matches, in parts: one for each alternative, tried one at a time."""
    made: list[list[str]] = [[]]
    for operation, argument in tree:
        parts = witnesses_of(str(operation), argument, times)
        # The first alternative with all that precedes, the others with the first of that.
        made = [[*one, *parts[0]] for one in made] + [[*made[0], *part] for part in parts[1:]]
    return made[:12]


def witnesses_of(operation: str, argument: Any, times: int) -> list[list[str]]:
    match operation:
        case "LITERAL":
            return [[chr(argument)]]
        case "NOT_LITERAL":
            return [["a" if argument != 97 else "b"]]
        case "ANY":
            return [["a"], ["\n"], [" "]]
        case "IN":
            return [[one] for one in members(argument)]
        case "BRANCH":
            return [one for branch in argument[1] for one in witnesses(branch, times)]
        case "SUBPATTERN":
            return witnesses(argument[-1], times)
        case "ATOMIC_GROUP":
            return witnesses(argument, times)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = argument
            count = min(max(low, times), int(high))
            return [one * count for one in witnesses(inner, times)]
        case _:
            return [[]]


def members(argument: Any) -> list[str]:
    """Return some members of a character class: each kind that it names."""
    tokens = [(str(op), value) for op, value in argument]
    pattern = re.compile("[" + "".join(map(in_class, tokens)) + "]")
    return [c for c in "a1 \n.-/_A:=<\"'\\x\t" if pattern.match(c)][:3] or [
        chr(value[0] if op == "RANGE" else value)
        for op, value in tokens
        if op in {"RANGE", "LITERAL"}
    ][:1]


def in_class(token: tuple[str, Any]) -> str:
    match token:
        case ("NEGATE", _):
            return "^"
        case ("LITERAL", code):
            return re.escape(chr(code))
        case ("RANGE", (low, high)):
            return f"{re.escape(chr(low))}-{re.escape(chr(high))}"
        case ("CATEGORY", category):
            kind = str(category).removeprefix("CATEGORY_")
            letter = kind.removeprefix("NOT_")[0].lower()
            return "\\" + (letter.upper() if kind.startswith("NOT_") else letter)
    raise AssertionError(token)


def attacks(pattern: re.Pattern[Any]) -> set[str]:
    """Texts that begin like a match very often, or have one part of it very often."""
    texts: set[str] = set()
    source = pattern.pattern
    tree = _parser.parse(
        source, pattern.flags & ~re.UNICODE if isinstance(source, bytes) else pattern.flags
    )
    for times in (1, 2):
        for parts in witnesses(tree, times):
            whole = "".join(parts)[:60]
            cuts = range(1, len(whole) + 1)
            texts.update(whole[:cut] for cut in cuts if cut % 4 == 0 or cut > len(whole) - 4)
            texts.update(f"{whole[:cut]}\0{whole[cut - 1]}" for cut in cuts)
    made: set[str] = set()
    for text in texts:
        before, _, again = text.rpartition("\0")
        again_many = again * (SIZE // len(again))
        made.update((f"{before}{again_many}\x01", f"{before}{again_many}\n\x01"))
    return made


def seconds(call: Callable[[Any], object], text: Any) -> float:
    start = time.thread_time()
    call(text)
    return time.thread_time() - start


@pytest.mark.slow
@each("use", uses(), ids=lambda use: use.name)
def test_every_pattern_over_agents_text_takes_linear_time(use: Use) -> None:
    for text in sorted(attacks(use.pattern)):
        given = text.encode() if isinstance(use.pattern.pattern, bytes) else text
        call: Callable[[Any], object] = getattr(use.pattern, use.method)
        if use.method == "search":

            def call(text: Any) -> object:
                return sum(1 for _ in use.pattern.finditer(text))

        if seconds(call, given[-2000:]) > MOST_SECONDS / 4 or (
            seconds(call, given) > MOST_SECONDS and seconds(call, given) > MOST_SECONDS
        ):
            raise AssertionError(f"slow for {text[:60]!r}…")


class Parser(NamedTuple):
    """A function that reads one text, and pieces that texts for its module are made of."""

    name: str
    call: Callable[[Any], object]
    pieces: list[str]


def parsers() -> Iterator[Parser]:
    for path in sorted((SOURCE / "nightrook" / "agents").rglob("*.py")):
        if path.name in {"__init__.py", "adapter.py"}:  # they take names of agents
            continue
        dotted = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        module = importlib.import_module(dotted.removesuffix(".__init__"))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        texts = {text for text in constants if isinstance(text, str) and 0 < len(text) < 60}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and takes_text(node.args):
                name = f"{dotted.removeprefix('nightrook.agents.')}.{node.name}"
                yield Parser(name, getattr(module, node.name), sorted(texts | {" ", "\n", "a"}))


def takes_text(arguments: ast.arguments) -> bool:
    if not arguments.args or len(arguments.args) - len(arguments.defaults) > 1:
        return False
    first = arguments.args[0].annotation
    is_text = first is not None and ast.unparse(first) in {"str", "str | None"}
    return is_text and None not in arguments.kw_defaults


@pytest.mark.slow
@each("parser", parsers(), ids=lambda parser: parser.name)
def test_every_parser_of_agents_text_takes_linear_time(parser: Parser) -> None:
    for piece in parser.pieces:
        text = piece * (4 * SIZE // len(piece)) + "\x01"
        if seconds(parser.call, text) > MOST_SECONDS:
            assert seconds(parser.call, text) < MOST_SECONDS, f"slow for {piece!r}…"
