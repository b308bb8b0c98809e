"""Addresses in the package's metadata come from one setting, and none is invented."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

README = """\
Shown live:

<picture>
  <source media="(prefers-color-scheme: light)" srcset="docs/pictures/a-light.png">
  <img src="docs/pictures/a-dark.png" alt="a">
</picture>

Read [this](docs/a.md), [that](#that) and [others](https://example.org/a).
"""


@pytest.fixture(scope="module")
def metadata(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("package_metadata")


def test_without_the_setting_there_are_no_addresses_and_no_pictures(metadata: ModuleType) -> None:
    assert metadata.urls("") == {}
    assert metadata.absolute(README, "", "1.2") == (
        "Shown live:\n\n"
        "Read [this](docs/a.md), [that](#that) and [others](https://example.org/a).\n"
    )


def test_pictures_and_links_point_to_the_tag_of_the_release(metadata: ModuleType) -> None:
    assert (
        metadata.absolute(README, "https://example.org/o/r/", "1.2")
        == """\
Shown live:

<picture>
  <source media="(prefers-color-scheme: light)" srcset="https://example.org/o/r/raw/v1.2/docs/pictures/a-light.png">
  <img src="https://example.org/o/r/raw/v1.2/docs/pictures/a-dark.png" alt="a">
</picture>

Read [this](https://example.org/o/r/blob/v1.2/docs/a.md), [that](#that) and [others](https://example.org/a).
"""
    )


def test_the_setting_becomes_the_addresses_of_the_project(metadata: ModuleType) -> None:
    assert metadata.urls("https://example.org/o/r")["Repository"] == "https://example.org/o/r"


def test_the_readme_of_the_package_has_no_relative_picture(
    metadata: ModuleType, root: Path
) -> None:
    hook = metadata.PackageMetadata(str(root), {"repository": "https://example.org/o/r"})
    fields: dict[str, Any] = {"version": "1.2"}
    hook.update(fields)
    text = fields["readme"]["text"]
    assert text.count("https://example.org/o/r/raw/v1.2/docs/pictures/") >= 2
    assert '="docs/' not in text
    assert "](docs/" not in text
