"""How wide text is: never narrower than a terminal makes it."""

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from nightrook.display.cells import fit, width, wrap
from nightrook.model.safe import safe_line


@pytest.mark.slow
def test_no_character_is_taken_for_narrower_than_terminals_make_it() -> None:
    everything = safe_line("".join(map(chr, range(0x110000))))
    assert [c for c in everything if width(c) < max(0, wcwidth.wcwidth(c))] == []


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("go test", 7),
        ("汉字", 4),
        ("한국어", 6),
        ("e\u0301", 1),
        ("नमस्ते", 4),
        ("👍", 2),
        ("ｆｕｌｌ", 8),
        ("… · │ − ⠹", 9),
    ],
)
def test_wide_and_joined_characters_are_measured(text: str, cells: int) -> None:
    assert width(text) == cells


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.integers(0, 40))
def test_what_is_cut_fits_and_what_fits_is_not_cut(text: str, most: int) -> None:
    shown = fit(text, most)
    assert width(shown) <= most
    assert shown == text or width(text) > most


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.integers(2, 40))
def test_what_is_broken_fits_and_loses_nothing_but_blanks(text: str, most: int) -> None:
    lines = wrap(text, most)
    assert all(width(line) <= most for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_cut_ends_in_dots_and_in_no_half_of_a_joined_character() -> None:
    assert fit("go test ./internal", 8) == "go test…"
    assert fit("汉字汉字", 4) == "汉…"
    assert fit("👩‍👩‍👧", 3) == "👩…"
    assert fit("abc", 1) == "…"
    assert fit("abc", 0) == ""
