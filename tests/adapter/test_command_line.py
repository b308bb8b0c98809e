"""Command lines of the user's are read as a shell hands them over, and changed with care."""

from collections.abc import Sequence

import pytest

from nightrook.adapter.command_line import (
    as_typed,
    asks_about_program,
    fits_argument,
    has_prompt,
    needs_stdin,
    option,
    options_of,
    permission_of,
    value_of,
    with_format,
)
from nightrook.model.errors import UnsupportedError

FLAG = ("--output-format", "stream-json")
PROMPTS = ("-p", "--prompt")


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ([], None),
        (["--format", "json"], "json"),
        (["-f", "json"], "json"),
        (["--format=a=b"], "a=b"),
        (["--format="], ""),
        (["--format"], ""),
        (["--formatted=json"], None),
        (["--", "--format", "json"], None),
        (["--format", "--", "json"], ""),
    ],
)
def test_the_value_of_an_option(words: Sequence[str], value: str | None) -> None:
    assert value_of(["agent", *words], "--format", "-f") == value


def test_options_end_at_two_dashes() -> None:
    assert options_of(["agent", "-p", "--", "-x"]) == ["-p"]
    assert options_of([]) == []


def test_the_flag_is_added_where_it_belongs_unless_it_is_there() -> None:
    assert with_format(["a", "hi"], flag=FLAG) == ["a", *FLAG, "hi"]
    assert with_format(["a", "run", "hi"], flag=FLAG, after="run") == ["a", "run", *FLAG, "hi"]
    given = ["a", "-o", "stream-json"]
    assert with_format(given, flag=FLAG, short="-o") == given
    assert with_format(["a", "-o=json"], flag=FLAG, short="-o", also=("json",)) == ["a", "-o=json"]


def test_other_commands_are_left_unchanged() -> None:
    assert with_format(["a", "-o", "text"], flag=FLAG, short="-o") is None
    assert with_format(["a", "--output-format"], flag=FLAG) is None
    assert with_format(["a", "session"], flag=FLAG, after="run") is None
    assert with_format(["a"], flag=FLAG, after="run") is None
    assert with_format(["a", "run", "--help"], flag=FLAG, after="run") is None
    assert with_format(["a", "mcp"], flag=FLAG, prompts=PROMPTS) is None


def test_a_permission_that_an_agent_has_not_is_refused_with_those_it_has() -> None:
    assert permission_of("parrot", {"all": "--yes"}, "all") == "--yes"
    with pytest.raises(UnsupportedError, match="'plan': use one of agent, all"):
        permission_of("parrot", {"agent": "", "all": "--yes"}, "plan")


def test_a_prompt_that_is_too_long_for_an_argument_is_counted_in_bytes() -> None:
    assert fits_argument("x" * 100_000)
    assert not fits_argument("ä" * 60_000)


def test_a_prompt_goes_by_standard_input_if_it_is_too_long_or_like_an_option() -> None:
    assert needs_stdin("ä" * 60_000)
    assert needs_stdin("--help")
    assert not needs_stdin("go - now")


@pytest.mark.parametrize(
    ("command", "asks"),
    [
        (["a", "--help"], True),
        (["a", "run", "-V"], True),
        (["a", "--", "-h"], False),
        (["a"], False),
    ],
)
def test_help_and_version_are_questions_about_the_program(command: list[str], asks: bool) -> None:
    assert asks_about_program(command) is asks


@pytest.mark.parametrize(
    ("words", "has"),
    [
        (["-p", "hi"], True),
        (["--prompt=hi"], True),
        (["fix it"], True),
        (["-m", "x", "fix it"], True),
        (["--", "hi"], True),
        ([], False),
        (["hi"], False),
        (["-m", "x"], False),
        (["-m", " "], False),
        (["mcp", "add", "fix it"], False),
        (["--"], False),
    ],
)
def test_only_what_is_surely_a_prompt_is_one(words: list[str], has: bool) -> None:
    assert has_prompt(["agent", *words], PROMPTS) is has


def test_an_option_and_its_value_are_one_word() -> None:
    assert option("--model", "-x --yolo") == ("--model=-x --yolo",)
    assert option("--model", None) == option("--model", "") == ()


def test_a_command_is_shown_as_a_person_would_type_it() -> None:
    own = ("tool", "run", "--model=a b", "--title=", "--plain", "-c", "x.y=false")
    assert as_typed(own, ("--kept=as it is",), "--", "Go") == (
        *("tool", "run", "--model", "a b", "--title=", "--plain", "-c", "x.y=false"),
        *("--kept=as it is", "--", "Go"),
    )
    assert as_typed(("tool",), (), "--prompt", "x" * 100_001) == ("tool",)
