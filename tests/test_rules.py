"""A rule over many cases: what it reports, and which cases it checks."""

import pytest

from tests.rules import each


@each("number", [1, 2, 3, 4], ids=str)
def even(number: int) -> None:
    assert number % 2 == 0, f"{number} is odd"


@each(("text", "size"), [("a", 1), ("b", 1)])
@each("more", ["", "x"])
def sized(text: str, size: int, more: str) -> None:
    assert len(text + more) >= size


def test_every_case_that_breaks_a_rule_is_named_with_its_reason() -> None:
    with pytest.raises(AssertionError) as broken:
        even()
    first, *cases = str(broken.value).split("\n")
    assert first.startswith("2 of 4 cases break this rule")
    assert [case.split(":")[0].strip() for case in cases] == ["1", "3"]
    assert "3 is odd" in cases[1]
    assert "1 is odd" in str(broken.value.__cause__)


def test_a_rule_holds_if_no_case_breaks_it() -> None:
    sized()


def test_only_the_cases_that_are_named_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CASE", "4")
    even()


def test_a_rule_without_a_case_is_refused() -> None:
    with pytest.raises(AssertionError, match="without a case"):
        each("number", [])
