"""What is generated from the types is what is in the repository."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def generate(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", root / "scripts" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_events_reference_is_current(generate: ModuleType) -> None:
    assert generate.EVENTS_PAGE.read_text(encoding="utf-8") == generate.events_page(), "make docs"


def test_the_shipped_schema_is_current(generate: ModuleType) -> None:
    assert generate.SCHEMA_FILE.read_text(encoding="utf-8") == generate.schema_text(), "make docs"
