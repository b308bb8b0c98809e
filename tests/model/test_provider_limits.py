"""Limits of providers: the words for their windows are in one place."""

import re

import pytest

from nightrook.model.provider_limits import used_up, window_length, window_name
from tests.test_architecture import SOURCE


@pytest.mark.parametrize(
    ("window", "sentence", "name", "length"),
    [
        ("five_hour", "the 5-hour limit is used up", "5 h window", "5 hours"),
        ("seven_day", "the 7-day limit is used up", "7 d window", "week"),
        ("weekly", "the weekly limit is used up", "weekly", "week"),
        ("one_fortnight", "the one_fortnight limit is used up", "one fortnight", "one fortnight"),
    ],
)
def test_a_window_has_a_name_for_each_place(
    window: str, sentence: str, name: str, length: str
) -> None:
    assert (used_up(window, None), window_name(window), window_length(window)) == (
        sentence,
        name,
        length,
    )


def test_a_limit_without_a_window_is_the_providers() -> None:
    assert used_up(None, 0.0) == "the provider's limit is used up; resets 1970-01-01 00:00 UTC"
    assert window_name(None) == "limit"


def test_no_other_module_has_words_for_a_window() -> None:
    words = re.compile(r"\b(?:5|five)[ -]h(?:our)?s?\b|\b(?:7|seven)[ -]d\b", re.IGNORECASE)
    found = {
        str(path.relative_to(SOURCE))
        for kind in ("py", "js")
        for path in SOURCE.glob(f"**/*.{kind}")
        if words.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"model/provider_limits.py"}
