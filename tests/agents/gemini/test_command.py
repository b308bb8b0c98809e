"""Gemini CLI's command line, as we build it and as users write it."""

import signal
from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.gemini.command import invoke, keeps_variable, with_output_flags
from nightrook.model.errors import UnsupportedError
from tests.rules import each

OUTPUT = ("--output-format", "stream-json")
ALONE = {"GEMINI_CLI_NO_RELAUNCH": "true"}


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("gemini", *OUTPUT),
        typed=("gemini", *OUTPUT, *("--prompt", "Fix the tests")),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGTERM,
        environment=ALONE,
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="gemini-2.5-pro",
        permission="edit",
        allow=("run_shell_command(git)", "web_fetch"),
        max_cost=1.5,
        resume="s-1",
        partial=True,
        args=("--skip-trust",),
    )
    assert invoke(task).command == (
        "gemini",
        *OUTPUT,
        "--model=gemini-2.5-pro",
        *("--approval-mode", "auto_edit"),
        "--allowed-tools=run_shell_command(git)",
        "--allowed-tools=web_fetch",
        "--resume=s-1",
        "--skip-trust",
    )
    assert (invoke(task).typed or ())[-2:] == ("--prompt", "go")


@pytest.mark.parametrize(
    ("permission", "flags"),
    [
        ("agent", ()),
        ("plan", ("--approval-mode", "plan")),
        ("all", ("--approval-mode", "yolo")),
    ],
)
def test_permissions_have_modes(permission: Any, flags: tuple[str, ...]) -> None:
    task = Task(prompt="go", permission=permission)
    assert invoke(task).command == ("gemini", *OUTPUT, *flags)


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False)).command == ("gemini",)


@pytest.mark.parametrize("prompt", ["ä" * 60_000, "--help"])
def test_a_long_prompt_or_one_like_an_option_is_not_an_argument(prompt: str) -> None:
    call = invoke(Task(prompt=prompt))
    assert (call.command, call.stdin) == (("gemini", *OUTPUT), prompt.encode())


def test_a_mode_that_it_does_not_have_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnsupportedError, match="use one of agent, edit, plan, all"):
        invoke(Task(prompt="go", permission="ask"))


def test_a_number_of_turns_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnsupportedError, match=r"leave out --max-turns, or set model\.max"):
        invoke(Task(prompt="go", max_turns=3))


@each(
    ("given", "expected"),
    [
        (["gemini", "-p", "hi"], ["gemini", *OUTPUT, "-p", "hi"]),
        (["/opt/gemini", "-o", "stream-json", "hi"], ["/opt/gemini", "-o", "stream-json", "hi"]),
        (
            ["gemini", "--output-format=stream-json", "hi"],
            ["gemini", "--output-format=stream-json", "hi"],
        ),
        (["gemini", "-o", "json", "hi"], None),
        (["gemini", "--output-format", "text"], None),
        (["gemini", "-o"], None),
        (["gemini", "fix it"], ["gemini", *OUTPUT, "fix it"]),
        (["gemini", "-m", "x", "fix it"], ["gemini", *OUTPUT, "-m", "x", "fix it"]),
        (["gemini", "--prompt=hi"], ["gemini", *OUTPUT, "--prompt=hi"]),
        (["gemini"], None),
        (["gemini", "mcp", "add", "x", "npx -y y"], None),
        (["gemini", "extensions", "list"], None),
        (["gemini", "--version"], None),
        (["gemini", "-p", "hi", "--help"], None),
        (["gemini", "--", "-o", "text"], ["gemini", *OUTPUT, "--", "-o", "text"]),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("GEMINI_CLI", False),
        ("GEMINI_CLI_IDE_SERVER_PORT", False),
        ("GEMINI_CLI_NO_RELAUNCH", False),
        ("GEMINI_API_KEY", True),
        ("GEMINI_CLI_HOME", True),
        ("PATH", True),
    ],
)
def test_variables_of_an_outer_gemini_are_not_inherited(name: str, *, kept: bool) -> None:
    assert keeps_variable(name) is kept
