"""Goose's command line, as we build it and as users write it."""

import signal
from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.goose.command import invoke, keeps_variable, resumes, with_output_flags
from nightrook.model.errors import UnsupportedError
from tests.rules import each

OUTPUT = ("--output-format", "stream-json")
STDIN = ("--instructions", "-")
UNNAMED = {"GOOSE_DISABLE_SESSION_NAMING": "true"}


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("goose", "run", *OUTPUT, *STDIN),
        typed=("goose", "run", *OUTPUT, "--text", "Fix the tests"),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGINT,
        environment=UNNAMED,
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="gpt-5",
        permission="all",
        max_cost=1.5,
        max_turns=3,
        resume="20261115_1",
        partial=True,
        args=("--with-builtin", "developer"),
    )
    assert invoke(task).command == (
        *("goose", "run", *OUTPUT, "--model=gpt-5", "--max-turns=3"),
        *("--resume", "--session-id=20261115_1", "--with-builtin", "developer", *STDIN),
    )
    assert invoke(task).environment == {**UNNAMED, "GOOSE_MODE": "auto"}


@pytest.mark.parametrize(("permission", "mode"), [("agent", None), ("plan", "chat")])
def test_permissions_have_modes(permission: Any, mode: str | None) -> None:
    environment = invoke(Task(prompt="go", permission=permission)).environment
    assert environment.get("GOOSE_MODE") == mode


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False)).command == ("goose", "run", "--quiet", *STDIN)


@pytest.mark.parametrize("prompt", ["ä" * 60_000, "--help"])
def test_a_long_prompt_or_one_like_an_option_is_not_an_argument(prompt: str) -> None:
    call = invoke(Task(prompt=prompt))
    assert (call.command, call.stdin) == (("goose", "run", *OUTPUT, *STDIN), prompt.encode())


@pytest.mark.parametrize(
    ("task", "way_out"),
    [
        (Task(prompt="go", permission="ask"), "use --via acp"),
        (Task(prompt="go", permission="edit"), "use --permission agent, plan or all"),
        (Task(prompt="go", allow=("shell",)), "leave out --allow"),
    ],
)
def test_what_it_does_not_have_is_refused_with_a_way_out(task: Task, way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=way_out):
        invoke(task)


@each(
    ("given", "expected"),
    [
        (["goose", "run", "-t", "hi"], ["goose", "run", *OUTPUT, "-t", "hi"]),
        (["/opt/goose", "run", "-i", "-"], ["/opt/goose", "run", *OUTPUT, "-i", "-"]),
        (["goose", "run", *OUTPUT, "-t", "hi"], ["goose", "run", *OUTPUT, "-t", "hi"]),
        (["goose", "run", "--output-format=json", "-t", "hi"], None),
        (["goose", "run", "-t", "hi", "--interactive"], None),
        (["goose", "run", "--recipe", "a", "--explain"], None),
        (["goose", "session"], None),
        (["goose", "run", "--help"], None),
        (["goose"], None),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    ("words", "resumed"),
    [("-r -t hi", True), ("--resume --session-id 1 -t hi", True), ("-t hi", False)],
)
def test_a_command_that_resumes_is_known(words: str, *, resumed: bool) -> None:
    assert resumes(["goose", "run", *words.split()]) is resumed


@pytest.mark.parametrize(
    ("name", "kept"),
    [("AGENT_SESSION_ID", False), ("GOOSE_MODEL", True), ("GOOSE_MODE", True), ("PATH", True)],
)
def test_variables_of_an_outer_goose_are_not_inherited(name: str, *, kept: bool) -> None:
    assert keeps_variable(name) is kept
