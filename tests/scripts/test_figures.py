"""The figures of the source tree are counted right."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def figures(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("figures")


FILES = {
    "__init__.py": "from nightrook.runs.start import run\n",
    "model/events.py": "class Text: ...\n\n\nclass Notice: ...\n\n\n_HIDDEN = 1\n",
    "events.py": "from nightrook.model.events import Text\n",
    "runs/start.py": """\
if TYPE_CHECKING:
    from nightrook.runs.limits import Limit


def run(): ...
""",
    "runs/limits.py": """\
from nightrook.model import events
from nightrook.model.events import Text, _HIDDEN


class Limit:
    def passed(self, a, *, b):
        return self._once(a) or self._twice() or self._twice() or events.Notice

    def _once(self, a): ...

    def _twice(self): ...

    def _again(self):
        return self._again()


def _in_a_table(): ...


def _of_the_module(): ...


TABLE = {"row": _in_a_table, "value": _of_the_module()}
""",
    "display/plain.py": """\
def f():
    from nightrook.runs.limits import Limit
    import nightrook.runs.start
""",
    "display/lines.py": "from nightrook.display import plain\nimport nightrook.display.page\n",
    "display/page.py": "from nightrook.display.lines import f\n",
}


@pytest.fixture
def small(figures: ModuleType, tmp_path: Path) -> Any:
    """A tree of a few files whose figures a reader can count."""
    for name, text in FILES.items():
        path = tmp_path / "nightrook" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return figures.Tree(tmp_path)


def test_modules_and_folders_are_counted(small: Any) -> None:
    assert len(small.modules) == len(FILES)
    assert dict(small.folders) == {
        "nightrook": 1,
        "nightrook/model": 1,
        "nightrook/runs": 2,
        "nightrook/display": 3,
    }


def test_imports_are_counted_wherever_they_stand(small: Any) -> None:
    assert small.importers == {
        "nightrook.model.events": {"nightrook.events", "nightrook.runs.limits"},
        "nightrook.runs.limits": {"nightrook.display.plain", "nightrook.runs.start"},
        "nightrook.runs.start": {"nightrook", "nightrook.display.plain"},
        "nightrook.display.plain": {"nightrook.display.lines"},
        "nightrook.display.page": {"nightrook.display.lines"},
        "nightrook.display.lines": {"nightrook.display.page"},
    }
    assert small.single_importer == [
        "nightrook.display.lines",
        "nightrook.display.page",
        "nightrook.display.plain",
    ]


def test_private_helpers_that_one_place_calls_are_counted(small: Any) -> None:
    assert small.helpers == [
        ("nightrook.runs.limits", "_of_the_module"),
        ("nightrook.runs.limits", "_once"),
        ("nightrook.runs.limits", "_again"),
    ]


def test_modules_that_import_each_other_are_a_cycle(small: Any) -> None:
    assert small.cycles == [["nightrook.display.lines", "nightrook.display.page"]]


def test_late_and_type_only_imports_make_cycles_too(figures: ModuleType, tmp_path: Path) -> None:
    texts = {
        "a": "if TYPE_CHECKING:\n    import nightrook.b\n",
        "b": "def f():\n    import nightrook.c\n",
        "c": "import nightrook.a\nimport nightrook.d\n",
        "d": "import nightrook.e\n",
        "e": "",
    }
    (tmp_path / "nightrook").mkdir()
    for name, text in texts.items():
        (tmp_path / "nightrook" / f"{name}.py").write_text(text)
    assert figures.Tree(tmp_path).cycles == [["nightrook.a", "nightrook.b", "nightrook.c"]]


def test_names_outside_the_door_are_those_that_other_rooms_use(small: Any) -> None:
    assert small.outside_the_door == {
        ("nightrook.model.events", "Notice"),
        ("nightrook.runs.limits", "Limit"),
    }


def test_the_source_tree_has_no_import_cycles(figures: ModuleType) -> None:
    assert figures.Tree(ROOT / "src").cycles == []


def test_copies_are_not_needed(
    figures: ModuleType, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "copies                     not counted" in figures.report(small)
