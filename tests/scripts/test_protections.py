"""Every guard is marked and in the table: it can be removed, and the tests that miss it exist."""

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


def test_every_marker_has_an_entry_and_every_entry_a_marker(script_module: ModuleType) -> None:
    marked, entries = script_module.marked(), script_module.entries()
    assert len(marked) >= 90
    assert marked.keys() - entries.keys() == set()
    assert entries.keys() - marked.keys() == set()


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


def test_a_guard_that_is_marked_in_two_files_is_refused(
    script_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(script_module, "ROOT", tmp_path)
    monkeypatch.setattr(script_module, "SOURCE", tmp_path)
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("check()  # guards: checked\n")
    with pytest.raises(ValueError, match=r"is marked in one\.py and in two\.py"):
        script_module.marked()


def _functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
