"""Droid's command line, as we build it and as users write it."""

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.droid.command import invoke, keeps_variable, with_output_flags
from nightrook.model.errors import UnsupportedError
from nightrook.model.permissions import Permission

OUTPUT = ("--output-format", "stream-json")


def test_a_plain_task_goes_to_stdin() -> None:
    assert invoke(Task(prompt="Say hi")) == Invocation(
        command=("droid", "exec", *OUTPUT),
        typed=("droid", "exec", *OUTPUT, "Say hi"),
        stdin=b"Say hi",
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="-x",
        model="custom:m",
        permission="all",
        allow=("Create", "MCP:tiny"),
        resume="id-1",
        args=("-r", "high"),
    )
    made = invoke(task)
    assert made.command == (
        *("droid", "exec", *OUTPUT, "--model=custom:m", "--skip-permissions-unsafe"),
        *("--add-tools=Create,MCP:tiny", "--fork=id-1", "-r", "high"),
    )
    assert (made.typed or ())[-2:] == ("--", "-x")


@pytest.mark.parametrize(
    ("permission", "flags"),
    [("agent", ()), ("edit", ("--auto", "low")), ("plan", ("--use-spec",))],
)
def test_permissions_are_levels_of_autonomy(permission: Permission, flags: tuple[str, ...]) -> None:
    command = invoke(Task(prompt="go", permission=permission, stream=False)).command
    assert command == ("droid", "exec", *flags)


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="has no permission mode 'ask'"):
        invoke(Task(prompt="go", permission="ask"))
    with pytest.raises(UnsupportedError, match="has no flag for the number of turns"):
        invoke(Task(prompt="go", max_turns=3))


def test_only_what_is_missing_is_added_to_a_user_s_command() -> None:
    assert with_output_flags(["droid", "exec", "hi"]) == ["droid", "exec", *OUTPUT, "hi"]
    for own in ("stream-json", "debug"):
        given = ["droid", "exec", "-o", own, "hi"]
        assert with_output_flags(given) == given


@pytest.mark.parametrize(
    "given",
    [
        ["droid"],
        ["droid", "mcp", "list"],
        ["droid", "exec", "-o", "json", "hi"],
        ["droid", "exec", "--input-format", "stream-jsonrpc"],
        ["droid", "exec", "--list-tools"],
        ["droid", "exec", "--help"],
    ],
)
def test_what_writes_no_messages_is_left_alone(given: list[str]) -> None:
    assert with_output_flags(given) is None


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["DROID_PARENT_SESSION_ID", "FACTORY_EXEC_TARGET_AUTONOMY", "FACTORY_PROJECT_DIR"]
    kept = ["PATH", "HOME", "FACTORY_API_KEY", "FACTORY_HOME_OVERRIDE"]
    assert [name for name in dropped + kept if keeps_variable(name)] == kept
