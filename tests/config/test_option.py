"""Options read what people write for them, and refuse the rest by name."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nightrook.config.option import checked, rows
from nightrook.config.options import LIMIT_OPTIONS, LoopOptions, RunOptions
from nightrook.config.settings import SETTINGS
from nightrook.model.errors import OptionError
from tests.rules import each


# What a caller passes, and what the options then hold.
@each(
    ("name", "passed", "held"),
    [
        ("timeout", "90s", 90.0),
        ("timeout", 90, 90.0),
        ("timeout", timedelta(minutes=2), 120.0),
        ("idle_timeout", "1.5m", 90.0),
        ("max_cost", 2, 2.0),
        ("max_tokens", 5, 5),
        ("cwd", Path("/x"), "/x"),
        ("allow", ["Read"], ("Read",)),
        ("env", {"A": "b"}, {"A": "b"}),
        ("resume", None, None),
        ("stream", False, False),
        ("loop", ("loop-x", 2), ("loop-x", 2)),
    ],
)
def test_a_value_is_read_as_it_is_meant(name: str, passed: Any, held: Any) -> None:
    assert getattr(checked(RunOptions, {name: passed}), name) == held


@each(
    ("name", "passed", "message"),
    [
        ("timeout", "soon", "timeout takes a time such as 90s, 5m or 2h, not 'soon'"),
        ("timeout", True, "timeout takes a time such as 90s, 5m or 2h, not True"),
        ("timeout", 0, "timeout takes a time such as 90s, 5m or 2h, not 0"),
        ("idle_timeout", [1], "idle_timeout takes a time"),
        ("max_cost", "2", "max_cost takes a number of dollars, not '2'"),
        ("max_cost", float("nan"), "max_cost takes a number of dollars, not nan"),
        ("max_cost", -1, "max_cost takes a number of dollars, not -1"),
        ("max_tokens", 1.5, "max_tokens takes a whole number above 0, not 1.5"),
        ("max_turns", 0, "max_turns takes a whole number above 0, not 0"),
        ("allow", "Read", "allow takes a list of rules, not 'Read'"),
        ("permission", "any", "permission takes one of ask, edit, all, plan, agent, not 'any'"),
        ("prompt", 3, "prompt takes"),
        ("env", {"A": 1}, "env takes"),
        ("stream", "no", "stream takes true or false, not 'no'"),
        ("model", "", "model takes a name, not ''"),
        (
            "model",
            "--yolo",
            "model takes a name that doesn't begin with '-' (options for the agent",
        ),
        ("allow", ["-x"], "allow takes a list of rules that don't begin with '-' (options for"),
        ("allow", 3, "allow takes a list of rules, not 3"),
    ],
)
def test_a_wrong_value_is_refused_with_what_it_takes(name: str, passed: Any, message: str) -> None:
    with pytest.raises(OptionError) as error:
        checked(RunOptions, {name: passed})
    assert str(error.value).startswith(message)
    assert error.value.name == name


def test_every_option_has_help_that_is_a_sentence() -> None:
    assert [row.name for row in rows(RunOptions) if not row.flag.help.endswith(".")] == []


def test_a_derived_option_keeps_what_it_does_not_change() -> None:
    run = {row.name: row for row in rows(RunOptions)}
    loop = {row.name: row for row in rows(LoopOptions, "loop")}
    changed = {"help": "Stop the loop when it has cost more than this."}
    assert loop["max_cost"].flag == replace(run["max_cost"].flag, **changed)
    assert (run["max_cost"].default, loop["max_cost"].default) == (None, 10.0)
    changed = {"help": "Stop one iteration after this long."}
    assert loop["timeout"].flag == replace(run["timeout"].flag, **changed)


def test_each_limit_is_an_option_of_runs_and_loops_and_a_setting_of_workers() -> None:
    loop = {row.name for row in rows(LoopOptions)}
    for name in LIMIT_OPTIONS.values():
        assert name in SETTINGS
        assert name in loop
        assert SETTINGS[name].flag.loosens == "higher"
        assert f"worker_{name}" in SETTINGS
