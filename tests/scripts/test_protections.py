"""The list of protections is true: each can be removed, and the tests that miss it exist."""

import ast
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def script_module(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("protections")


@pytest.fixture(scope="module")
def listed(script_module: ModuleType) -> list[Any]:
    protections: list[Any] = script_module.protections()
    return protections


def test_each_has_a_name_of_its_own(listed: list[Any]) -> None:
    names = [protection.name for protection in listed]
    assert len(names) >= 90
    assert sorted(set(names)) == sorted(names)


def test_each_can_be_removed_and_leaves_a_program_behind(listed: list[Any]) -> None:
    for protection in listed:
        text = (ROOT / protection.file).read_text()
        without = protection.removed(text)
        assert without != text, protection.name
        if protection.file.endswith(".py"):
            compile(without, protection.file, "exec")


def test_each_names_tests_that_exist(listed: list[Any]) -> None:
    for protection in listed:
        assert protection.tests, protection.name
        for test in protection.tests:
            file, _, name = test.partition("::")
            assert name.partition("[")[0] in _functions(ROOT / file), test


def test_a_text_that_occurs_twice_is_refused(script_module: ModuleType) -> None:
    protection = script_module.Protection("name", "file", "x", "y", ("test",))
    assert protection.removed("a x b") == "a y b"
    for text in ("a b", "x x"):
        with pytest.raises(ValueError, match="not once"):
            protection.removed(text)


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
