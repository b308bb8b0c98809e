"""The source tree keeps to its limits: lines, parameters, methods, modules in a folder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parent.parent.parent / "src"
MOST_LINES_P95 = 22
MOST_LINES = 60
MOST_PARAMETERS = 10
MOST_METHODS = 20
MOST_MODULES = 16

# What is still over a limit, by its name in its module. These lists only shrink: an entry that is
# no longer needed fails a test, too. Take it out then.
TOO_LONG: set[str] = set()
TOO_WIDE: set[str] = set()
TOO_MANY_METHODS: set[str] = set()
TOO_FULL: set[str] = set()


@pytest.fixture(scope="module")
def figures(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("figures")


@pytest.fixture(scope="module")
def tree(figures: ModuleType) -> Any:
    return figures.Tree(SOURCE)


def check(counts: Mapping[str, int], limit: int, allowed: set[str]) -> None:
    over = {place: count for place, count in counts.items() if count > limit}
    names = {place.partition(":")[2] or place for place in over}
    assert not names - allowed, f"over the limit of {limit}: {over}"
    assert not allowed - names, "no longer over the limit: take it out of the list above"


def test_functions_are_short(figures: ModuleType, tree: Any) -> None:
    lines = [one.lines for one in tree.functions]
    assert figures.percentile(lines, 0.95) <= MOST_LINES_P95


def test_no_function_is_longer_than_a_screen(tree: Any) -> None:
    check({one.place: one.lines for one in tree.functions}, MOST_LINES, TOO_LONG)


def test_only_the_public_functions_take_more_than_ten_parameters(tree: Any) -> None:
    check({one.place: one.parameters for one in tree.functions}, MOST_PARAMETERS, TOO_WIDE)
    public = {one.place.partition(":")[2] for one in tree.spelled_out}
    assert public == {"run", "run_sync", "loop"}


def test_no_class_has_more_than_twenty_methods(tree: Any) -> None:
    check(tree.classes, MOST_METHODS, TOO_MANY_METHODS)


def test_no_folder_holds_more_than_sixteen_modules(tree: Any) -> None:
    check(tree.folders, MOST_MODULES, TOO_FULL)


def test_an_entry_that_is_not_needed_fails() -> None:
    with pytest.raises(AssertionError, match="no longer over"):
        check({"m:f": 3}, 3, {"f"})
    with pytest.raises(AssertionError, match="over the limit"):
        check({"m:f": 4}, 3, set())
