"""File names of a run folder are written down once."""

import ast
from collections import Counter
from pathlib import Path

import nightrook
from nightrook.store import file_names

SOURCE = Path(nightrook.__file__).parent
NAMES = {
    value
    for name, value in vars(file_names).items()
    if name.isupper() and isinstance(value, str) and "." in value
}


def test_each_name_stands_in_one_place() -> None:
    found: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and node.value in NAMES:
                found[str(node.value)] += 1
    assert found == Counter(NAMES)
