"""Kimi Code's command line, as we build it and as users write it."""

from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.kimi.command import invoke, with_output_flags
from nightrook.model.errors import UnsupportedError
from tests.rules import each

OUTPUT = ("--output-format", "stream-json")


def test_a_prompt_is_one_argument_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("kimi", *OUTPUT, "--prompt", "Fix the tests"),
        typed=("kimi", *OUTPUT, "--prompt", "Fix the tests"),
    )


def test_a_prompt_like_an_option_is_not_read_as_one() -> None:
    assert invoke(Task(prompt="--help")).command[-2:] == ("--prompt", "--help")


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(prompt="go", model="k2", permission="all", resume="s-1", args=("--add-dir", "x"))
    assert invoke(task).command == (
        *("kimi", *OUTPUT, "--model=k2", "--session=s-1", "--add-dir", "x"),
        *("--prompt", "go"),
    )


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False)).command == ("kimi", "--prompt", "go")


@pytest.mark.parametrize(
    ("task", "way_out"),
    [
        (Task(prompt="go", permission="ask"), "use --via acp"),
        (Task(prompt="go", permission="plan"), "use --via acp"),
        (Task(prompt="ä" * 60_000), "use --via acp"),
        (Task(prompt="go", permission="edit"), "use --permission agent or all"),
        (Task(prompt="go", allow=("Bash",)), "leave out --allow"),
        (Task(prompt="go", max_turns=3), "leave out --max-turns"),
    ],
)
def test_what_it_does_not_have_is_refused_with_a_way_out(task: Task, way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=way_out):
        invoke(task)


@each(
    ("given", "expected"),
    [
        (["kimi", "-p", "hi"], ["kimi", *OUTPUT, "-p", "hi"]),
        (["/opt/kimi", "--prompt=hi"], ["/opt/kimi", *OUTPUT, "--prompt=hi"]),
        (["kimi", *OUTPUT, "-p", "hi"], ["kimi", *OUTPUT, "-p", "hi"]),
        (["kimi", "--output-format=text", "-p", "hi"], None),
        (["kimi", "acp"], None),
        (["kimi"], None),
        (["kimi", "--version"], None),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected
