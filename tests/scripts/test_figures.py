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
    "runs/start.py": "def run(a, b, *c, d=1, **e): ...\n",
    "runs/limits.py": """\
from nightrook.model import events
from nightrook.model.events import Text, _HIDDEN


class Limit:
    def passed(self, a, *, b):
        def nested(): ...

        return events.Notice

    @staticmethod
    def free(a): ...
""",
    "display/plain.py": "def f():\n    from nightrook.runs.limits import Limit\n",
}


@pytest.fixture
def small(figures: ModuleType, tmp_path: Path) -> Any:
    """A tree of a few files whose figures a reader can count."""
    for name, text in FILES.items():
        path = tmp_path / "nightrook" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return figures.Tree(tmp_path)


def test_functions_are_counted_with_their_lines_and_parameters(small: Any) -> None:
    found = {one.place: (one.lines, one.parameters) for one in small.functions}
    assert found == {
        "nightrook.runs.limits:Limit.passed": (4, 2),
        "nightrook.runs.limits:Limit.passed.nested": (1, 0),
        "nightrook.runs.limits:Limit.free": (1, 1),
        "nightrook.display.plain:f": (2, 0),
    }


def test_the_public_functions_are_counted_apart(small: Any) -> None:
    found = {one.place: one.parameters for one in small.spelled_out}
    assert found == {"nightrook.runs.start:run": 5}


def test_classes_and_folders_are_counted(small: Any) -> None:
    assert small.classes["nightrook.runs.limits:Limit"] == 2
    assert dict(small.folders) == {
        "nightrook": 1,
        "nightrook/model": 1,
        "nightrook/runs": 2,
        "nightrook/display": 1,
    }


def test_imports_are_counted_wherever_they_stand(small: Any) -> None:
    assert small.importers == {
        "nightrook.model.events": {"nightrook.events", "nightrook.runs.limits"},
        "nightrook.runs.limits": {"nightrook.display.plain"},
        "nightrook.runs.start": {"nightrook"},
    }
    assert small.single_importer == ["nightrook.runs.limits", "nightrook.runs.start"]
    assert small.fan_out["nightrook.display.plain"] == 1


def test_names_outside_the_door_are_those_that_other_rooms_use(small: Any) -> None:
    assert small.outside_the_door == {
        ("nightrook.model.events", "Notice"),
        ("nightrook.runs.limits", "Limit"),
    }


def test_a_percentile_is_one_of_the_values(figures: ModuleType) -> None:
    assert figures.percentile(range(1, 101), 0.95) == 95
    assert figures.percentile([1, 2, 3], 0.5) == 2
    assert figures.percentile([], 0.5) == 0


def test_copies_are_not_needed(
    figures: ModuleType, small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "copies                     not counted" in figures.report(small)
