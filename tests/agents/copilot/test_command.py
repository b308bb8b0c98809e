"""GitHub Copilot CLI's command line, as we build it and as users write it."""

from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.copilot.command import invoke, keeps_variable, with_output_flags
from nightrook.model.errors import UnsupportedError
from tests.rules import each

OUTPUT = ("--output-format", "json")


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("copilot", *OUTPUT),
        typed=("copilot", *OUTPUT, "--prompt", "Fix the tests"),
        stdin=b"Fix the tests",
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="gpt-5",
        permission="edit",
        allow=("shell(git:*)", "tiny(echo)"),
        max_cost=1.5,
        resume="s-1",
        partial=True,
        args=("--no-custom-instructions",),
    )
    assert invoke(task).command == (
        *("copilot", *OUTPUT, "--model=gpt-5", "--allow-tool=write"),
        *("--allow-tool=shell(git:*)", "--allow-tool=tiny(echo)", "--resume=s-1"),
        "--no-custom-instructions",
    )


@pytest.mark.parametrize(
    ("permission", "flags"),
    [("agent", ()), ("plan", ("--mode=plan",)), ("all", ("--allow-all",))],
)
def test_permissions_have_modes(permission: Any, flags: tuple[str, ...]) -> None:
    assert invoke(Task(prompt="go", permission=permission)).command == (
        "copilot",
        *OUTPUT,
        *flags,
    )


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False)).command == ("copilot", "--silent")


@pytest.mark.parametrize("prompt", ["ä" * 60_000, "--help"])
def test_a_long_prompt_or_one_like_an_option_is_not_an_argument(prompt: str) -> None:
    call = invoke(Task(prompt=prompt))
    assert (call.command, call.stdin) == (("copilot", *OUTPUT), prompt.encode())


@pytest.mark.parametrize(
    ("task", "way_out"),
    [
        (Task(prompt="go", permission="ask"), "use --via acp"),
        (Task(prompt="go", max_turns=3), "leave out --max-turns"),
    ],
)
def test_what_it_does_not_have_is_refused_with_a_way_out(task: Task, way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=way_out):
        invoke(task)


@each(
    ("given", "expected"),
    [
        (["copilot", "-p", "hi"], ["copilot", *OUTPUT, "-p", "hi"]),
        (["/opt/copilot", "--prompt=hi"], ["/opt/copilot", *OUTPUT, "--prompt=hi"]),
        (["copilot", *OUTPUT, "-p", "hi"], ["copilot", *OUTPUT, "-p", "hi"]),
        (["copilot", "--output-format=text", "-p", "hi"], None),
        (["copilot", "-i", "hi there"], None),
        (["copilot", "--acp"], None),
        (["copilot"], None),
        (["copilot", "login"], None),
        (["copilot", "--version"], None),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("COPILOT_CLI", False),
        ("COPILOT_AGENT_SESSION_ID", False),
        ("COPILOT_LOADER_PID", False),
        ("COPILOT_MODEL", True),
        ("COPILOT_ALLOW_ALL", True),
        ("GH_TOKEN", True),
    ],
)
def test_variables_of_an_outer_copilot_are_not_inherited(name: str, *, kept: bool) -> None:
    assert keeps_variable(name) is kept
