"""Cline's command line, as we build it and as users write it."""

import signal

import pytest

from nightrook import agents
from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.cline.command import invoke, keeps_variable, with_output_flags
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission


@pytest.mark.parametrize("prompt", ["Go", "Say hi", "--help", "x" * 300_000])
def test_every_prompt_goes_to_stdin_word_for_word(prompt: str) -> None:
    made = invoke(Task(prompt=prompt))
    assert (made.command, made.stdin) == (("cline", "--json", " "), prompt.encode())


def test_it_is_stopped_with_sigint_and_leaves_no_daemon() -> None:
    assert invoke(Task(prompt="Say hi")) == Invocation(
        command=("cline", "--json", " "),
        typed=("cline", "--json", "Say hi"),
        stdin=b"Say hi",
        stdin_is_pipe=True,
        stop_signal=signal.SIGINT,
        environment={"CLINE_SESSION_BACKEND_MODE": "local"},
    )


@pytest.mark.parametrize(
    ("permission", "flags"),
    [("agent", ()), ("plan", ("--plan",)), ("all", ("--auto-approve", "true"))],
)
def test_every_field_of_a_task_has_its_flag(permission: Permission, flags: tuple[str, ...]) -> None:
    task = Task(prompt="go", model="m", permission=permission, stream=False, args=("-P", "openai"))
    assert invoke(task).command == ("cline", "--model=m", *flags, "-P", "openai", " ")


@pytest.mark.parametrize(
    ("task", "why"),
    [
        (Task(prompt="x", permission="ask"), "has no permission mode 'ask'"),
        (Task(prompt="x", permission="edit"), "has no permission mode 'edit'"),
        (Task(prompt="x", allow=("editor",)), "has no rules for single tools"),
        (Task(prompt="x", resume="1"), "resumes sessions only in a terminal"),
        (Task(prompt="x", max_turns=3), "has no flag for the number of turns"),
    ],
    ids=["ask", "edit", "allow", "resume", "turns"],
)
def test_what_it_cannot_do_is_refused(task: Task, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        invoke(task)


def test_what_is_piped_follows_the_prompt_after_a_blank_line() -> None:
    assert agents.agent("cline").with_stdin("Sum up", "data") == "Sum up\n\ndata"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["cline", "fix it"], ["cline", "--json", "fix it"]),
        (["cline", "--json", "fix it"], ["cline", "--json", "fix it"]),
        (["cline", "auth"], None),
        (["cline"], None),
        (["cline", "--id", "1", "fix it"], None),
        (["cline", "--tui", "fix it"], None),
        (["cline", "--version"], None),
    ],
)
def test_the_flag_is_added_where_it_has_a_meaning(
    given: list[str], expected: list[str] | None
) -> None:
    assert with_output_flags(given) == expected


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["CLINE_WRAPPER_PATH", "CLINE_HOOK_AGENT_RESUME", "CLINE_HUB_PORT"]
    kept = ["PATH", "HOME", "CLINE_API_KEY", "CLINE_DIR", "CLINE_MODEL"]
    assert [name for name in dropped + kept if keeps_variable(name)] == kept
