"""What is generated from the types is what is in the repository."""

import importlib
import re
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def generate(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "scripts"))
    return importlib.import_module("generate")


def test_the_events_reference_is_current(generate: ModuleType) -> None:
    assert generate.EVENTS_PAGE.read_text(encoding="utf-8") == generate.events_page(), "make docs"


def test_the_shipped_schema_is_current(generate: ModuleType) -> None:
    assert generate.SCHEMA_FILE.read_text(encoding="utf-8") == generate.schema_text(), "make docs"


def test_the_known_fields_of_the_agents_are_current(generate: ModuleType) -> None:
    made = generate.known_fields.module()
    assert generate.FIELDS_FILE.read_text(encoding="utf-8") == made, "make docs"


def test_the_keywords_of_the_library_are_current(generate: ModuleType) -> None:
    made = generate.keywords.module()
    assert generate.KEYWORDS_FILE.read_text(encoding="utf-8") == made, "make docs"


def test_the_table_of_programs_is_current(generate: ModuleType) -> None:
    assert generate.PROGRAMS_FILE.read_text(encoding="utf-8") == generate.programs_module(), (
        "make docs"
    )


def test_the_table_of_the_page_on_money_is_current(generate: ModuleType) -> None:
    assert generate.MONEY_PAGE.read_text(encoding="utf-8") == generate.money_page(), "make docs"


def test_the_table_of_the_page_on_configuration_is_current(generate: ModuleType) -> None:
    page = generate.SETTINGS_PAGE.read_text(encoding="utf-8")
    assert page == generate.settings_page(), "make docs"
    assert page.count("| `max_cost` | a number of dollars |") == 1


def test_the_outline_for_completion_is_current(generate: ModuleType) -> None:
    assert generate.OUTLINE_FILE.read_text(encoding="utf-8") == generate.outline_text(), "make docs"


def test_the_man_page_is_current(generate: ModuleType) -> None:
    assert generate.MAN_PAGE.read_text(encoding="utf-8") == generate.man_page(), "make docs"


@pytest.mark.slow
def test_the_walk_of_the_page_on_architecture_is_current(generate: ModuleType) -> None:
    shown = modules(generate.ARCHITECTURE_PAGE.read_text(encoding="utf-8"))
    walks = [modules(generate.architecture_page()) for _ in range(3)]  # threads take their turns
    assert set.intersection(*walks) <= shown <= set.union(*walks), "make docs"


def modules(page: str) -> set[tuple[str, str]]:
    """The modules of the walk on the page, with what they are; their order is that of threads."""
    rows = (line.split(" | ") for line in page.splitlines() if re.match(r"\| [0-9]+ \|", line))
    return {(name, what) for _, name, what in rows}
