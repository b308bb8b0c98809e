"""The table of settings, and what each takes."""

import pytest

from nightrook.config.settings import SETTINGS
from tests.rules import each


def test_every_setting_says_what_it_takes_and_what_it_is_for() -> None:
    for setting in SETTINGS.values():
        assert setting.takes
        assert setting.flag.help.endswith(".")
        assert setting.variable == f"ROOK_{setting.name.upper()}"


@pytest.mark.parametrize(
    ("name", "raw", "value"),
    [
        ("model", "opus", "opus"),
        ("permission", "edit", "edit"),
        ("allow", ["Read"], ("Read",)),
        ("max_cost", 2, 2.0),
        ("max_turns", 7, 7),
        ("timeout", "1.5m", 90.0),
        ("timeout", 90, 90.0),
        ("quiet", True, True),
    ],
)
def test_a_value_of_a_file_is_read(name: str, raw: object, value: object) -> None:
    assert SETTINGS[name].read(raw) == value


@each(
    ("name", "raw"),
    [
        ("model", ""),
        ("model", 3),
        ("permission", "Edit"),
        ("allow", "Read"),
        ("allow", [1]),
        ("allow", [""]),
        ("max_cost", -1),
        ("max_cost", "2"),
        ("max_cost", float("nan")),
        ("max_cost", float("inf")),
        ("max_cost", True),
        ("max_turns", 0),
        ("max_turns", 1.5),
        ("timeout", "soon"),
        ("timeout", 0),
        ("timeout", True),
        ("timeout", ["5m"]),
        ("quiet", 1),
        ("quiet", "true"),
    ],
)
def test_a_wrong_value_of_a_file_is_refused(name: str, raw: object) -> None:
    with pytest.raises(ValueError, match=r"."):
        SETTINGS[name].read(raw)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_cost", " 2.5 ", 2.5),
        ("max_turns", "7", 7),
        ("timeout", "2h", 7200.0),
        ("quiet", "1", True),
        ("quiet", "false", False),
        ("allow", "Read\nBash(git add:*)\n", ("Read", "Bash(git add:*)")),
        ("model", "opus", "opus"),
    ],
)
def test_a_text_of_the_environment_is_read(name: str, text: str, value: object) -> None:
    assert SETTINGS[name].read_variable(text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("max_cost", "nan"), ("max_turns", "few"), ("quiet", "perhaps"), ("permission", "edti")],
)
def test_a_wrong_text_of_the_environment_is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        SETTINGS[name].read_variable(text)
