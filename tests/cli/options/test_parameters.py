"""Commands get their options from the table, and receive one value for each struct."""

from importlib import import_module
from typing import Annotated, Any, Literal

import click
import msgspec
import pytest
from click.testing import CliRunner

from nightrook.cli.options.parameters import argument, parameters, takes
from nightrook.config.option import Count, Flag, Name, Rules, Seconds, Texts


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """Options of every kind."""

    wait: Annotated[Seconds | None, Flag(help="How long.")] = 90.0
    times: Annotated[Count, Flag(help="How often.", words=("--times", "-t"))] = 3
    words: Annotated[Texts, Flag(help="Several.", words=("--word",), metavar="WORD")] = ()
    kind: Annotated[Literal["red", "green"], Flag(help="Which.")] = "red"
    loud: Annotated[bool, Flag(help="Be loud.", setting=True)] = False
    other: Annotated[bool, Flag(help="Of another command.", commands=("other",))] = False
    model: Annotated[Name | None, Flag(help="A name.")] = None
    rules: Annotated[Rules, Flag(help="Rules.", words=("--rule",))] = ()
    plain: int = 7


def called(*words: str) -> Any:
    seen: list[tuple[Options, str | None]] = []

    @click.command("this")
    @takes("this", Options)
    @argument("name", required=False, completes="runs")
    def command(options: Options, name: str | None) -> None:
        seen.append((options, name))

    out = CliRunner().invoke(command, words, catch_exceptions=False)
    return seen[0] if seen else out.output


def test_a_command_receives_its_options_as_one_value() -> None:
    assert called() == (Options(), None)
    words = (
        "--wait",
        "2m",
        "-t",
        "5",
        "--word",
        "a",
        "--word",
        "b",
        "--kind",
        "green",
        "--loud",
        "x",
    )
    expected = Options(wait=120.0, times=5, words=("a", "b"), kind="green", loud=True)
    assert called(*words) == (expected, "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--wait", "soon"), "'soon' is not a time such as 90s, 5m or 2h."),
        (("--times", "0"), "'0' is not a whole number above 0."),
        (("--word", ""), "'' is not a text."),
        (("--kind", "gren"), "Did you mean 'green'?"),
        (("--other",), "No such option"),
        (("--model=--yolo",), "'--yolo' begins with '-': options for the agent go after --"),
        (("--rule=ok", "--rule", "-x"), "'-x' begins with '-': options for the agent go after --"),
    ],
)
def test_a_wrong_word_is_answered_with_what_the_option_takes(
    words: tuple[str, ...], message: str
) -> None:
    assert message in called(*words)


def test_help_shows_defaults_as_people_write_them() -> None:
    text = " ".join(called("--help").split())
    assert "--wait DURATION How long. [default: 90s]" in text
    assert "-t, --times TIMES How often. [default: 3]" in text
    assert "--loud / --no-loud Be loud." in text


def test_a_field_without_a_flag_is_not_an_option() -> None:
    names = [option.name for option in parameters("this", Options)]
    assert names == ["wait", "times", "words", "kind", "loud", "model", "rules"]


@pytest.mark.parametrize(
    ("command", "own"), [("run", []), ("loop", ["Goal:", "Iterations:"]), ("batch", ["Tasks:"])]
)
def test_help_has_options_in_groups_and_that_of_fleets_is_last(
    command: str, own: list[str]
) -> None:
    shown = import_module(f"nightrook.cli.commands.{command}").command
    text = shown.get_help(click.Context(shown, info_name=command))
    found = [line for line in text.split("\n") if line.endswith(":") and not line[:1].isspace()]
    usual = ["Limits:", "Output:", "Background:", "At the end:", "Other options:"]
    of_agents = [] if command == "batch" else ["Agent:", "Prompt and folder:"]
    fleet = [] if command == "loop" else ["Fleet:"]
    assert found == [*of_agents, *own, *usual, *fleet]
