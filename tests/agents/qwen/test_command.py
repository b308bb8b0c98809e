"""Qwen Code's command line, as we build it and as users write it."""

import signal
from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.qwen.command import invoke, keeps_variable, resumes, with_output_flags
from nightrook.model.errors import UnsupportedError
from tests.rules import each

OUTPUT = ("--output-format", "stream-json")


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("qwen", *OUTPUT),
        typed=("qwen", *OUTPUT, *("--prompt", "Fix the tests")),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGTERM,
        environment={"QWEN_CODE_NO_RELAUNCH": "true"},
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="qwen3-coder",
        permission="edit",
        allow=("run_shell_command(git status)", "web_fetch"),
        max_cost=1.5,
        max_turns=3,
        resume="s-1",
        partial=True,
        args=("--bare",),
    )
    assert invoke(task).command == (
        "qwen",
        *OUTPUT,
        "--include-partial-messages",
        "--model=qwen3-coder",
        *("--approval-mode", "auto-edit"),
        "--allowed-tools=run_shell_command(git status)",
        "--allowed-tools=web_fetch",
        *("--max-session-turns", "3"),
        "--resume=s-1",
        "--bare",
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
    assert invoke(task).command == ("qwen", *OUTPUT, *flags)


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False, partial=True)).command == ("qwen",)


@pytest.mark.parametrize("prompt", ["ä" * 60_000, "--help"])
def test_a_long_prompt_or_one_like_an_option_is_not_an_argument(prompt: str) -> None:
    call = invoke(Task(prompt=prompt))
    assert (call.command, call.stdin) == (("qwen", *OUTPUT), prompt.encode())


def test_a_mode_that_it_does_not_have_is_refused_with_a_way_out() -> None:
    with pytest.raises(UnsupportedError, match="use one of agent, edit, plan, all"):
        invoke(Task(prompt="go", permission="ask"))


@each(
    ("given", "expected"),
    [
        (["qwen", "-p", "hi"], ["qwen", *OUTPUT, "-p", "hi"]),
        (["/opt/qwen", "-o", "stream-json", "hi"], ["/opt/qwen", "-o", "stream-json", "hi"]),
        (["qwen", "--output-format=json", "hi"], ["qwen", "--output-format=json", "hi"]),
        (["qwen", "--output-format", "text"], None),
        (["qwen", "-o"], None),
        (["qwen", "fix it"], ["qwen", *OUTPUT, "fix it"]),
        (["qwen", "-m", "x", "fix it"], ["qwen", *OUTPUT, "-m", "x", "fix it"]),
        (["qwen", "--prompt=hi"], ["qwen", *OUTPUT, "--prompt=hi"]),
        (["qwen"], None),
        (["qwen", "mcp", "add", "x", "npx -y y"], None),
        (["qwen", "extensions", "list"], None),
        (["qwen", "--version"], None),
        (["qwen", "-p", "hi", "--help"], None),
        (["qwen", "--", "-o", "text"], ["qwen", *OUTPUT, "--", "-o", "text"]),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (["qwen", "-r", "s-1", "go"], True),
        (["qwen", "--resume=s-1", "go"], True),
        (["qwen", "--continue", "go"], True),
        (["qwen", "go"], False),
        (["qwen", "--", "--resume"], False),
    ],
)
def test_resume_and_continue_resume_a_session(command: list[str], *, answer: bool) -> None:
    assert resumes(command) is answer


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("QWEN_CODE", False),
        ("QWEN_CODE_IDE_SERVER_PORT", False),
        ("QWEN_CODE_NO_RELAUNCH", False),
        ("QWEN_CODE_SESSION_ID", False),
        ("QWEN_CODE_STARTUP_VERSION", False),
        ("QWEN_CODE_MANAGED_NPM_PIN", False),
        ("QWEN_CODE_LAUNCHER_PID", False),
        ("OPENAI_API_KEY", True),
        ("QWEN_CODE_LANG", True),
        ("PATH", True),
    ],
)
def test_variables_of_an_outer_qwen_are_not_inherited(name: str, *, kept: bool) -> None:
    assert keeps_variable(name) is kept
