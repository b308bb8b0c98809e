"""OpenCode's command line, as we build it and as users write it."""

import json
import signal

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.opencode.command import invoke, keeps_variable, with_output_flags
from nightrook.model.errors import NightrookError

OUTPUT = ("--format", "json", "--thinking")


def test_a_plain_task_goes_by_standard_input_word_for_word() -> None:
    assert invoke(Task(prompt='Say "hi" now')) == Invocation(
        command=("opencode", "run", *OUTPUT, "--title="),
        typed=("opencode", "run", *OUTPUT, "--title=", 'Say "hi" now'),
        stdin=b'Say "hi" now',
        stop_signal=signal.SIGTERM,
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="anthropic/claude-sonnet-4-5",
        permission="all",
        resume="ses_1",
        args=("--variant", "high"),
    )
    assert invoke(task).command == (
        *("opencode", "run", *OUTPUT),
        "--model=anthropic/claude-sonnet-4-5",
        "--auto",
        "--session=ses_1",
        *("--variant", "high"),
    )


def test_planning_is_an_agent_of_its_own() -> None:
    command = invoke(Task(prompt="go", permission="plan")).command
    assert command == ("opencode", "run", *OUTPUT, "--agent", "plan", "--title=")


def test_without_a_stream_it_writes_plain_text() -> None:
    command = invoke(Task(prompt="go", stream=False)).command
    assert command == ("opencode", "run", "--title=")


def test_a_prompt_like_an_option_is_typed_after_two_dashes() -> None:
    assert (invoke(Task(prompt="--help")).typed or ())[-2:] == ("--", "--help")


@pytest.mark.parametrize("args", [("--title", "Mine"), ("--title=Mine",)])
def test_a_title_of_the_user_s_stays(args: tuple[str, ...]) -> None:
    assert invoke(Task(prompt="go", args=args)).command == ("opencode", "run", *OUTPUT, *args)


def rules(task: Task) -> object:
    told = invoke(task).environment
    return json.loads(told["OPENCODE_PERMISSION"]) if told else None


def test_rules_are_left_to_the_user_s_settings() -> None:
    assert rules(Task(prompt="go")) is None


def test_who_may_edit_may_read_but_not_run() -> None:
    told = rules(Task(prompt="go", permission="edit"))
    assert isinstance(told, dict)
    assert next(iter(told)) == "* *"  # the last rule that fits decides
    assert (told["* *"], told["edit *"]) == ("deny", "allow")
    assert told["read *"]["*.env"] == "deny"
    assert "bash *" not in told


def test_a_rule_allows_more() -> None:
    allow = ("webfetch", "bash(git *)", "bash(ls)")
    assert rules(Task(prompt="go", allow=allow)) == {
        "webfetch *": "allow",
        "bash *": {"git *": "allow", "ls": "allow"},
    }
    told = rules(Task(prompt="go", permission="edit", allow=("bash(git *)", "read(x.env)")))
    assert isinstance(told, dict)
    assert told["bash *"] == {"git *": "allow"}
    assert list(told["read *"]) == ["*", "*.env", "*.env.*", "*.env.example", "x.env"]


def test_a_narrow_rule_keeps_what_was_allowed_before() -> None:
    told = rules(Task(prompt="go", allow=("bash", "bash(ls)")))
    assert told == {"bash *": {"*": "allow", "ls": "allow"}}


def test_no_rule_takes_the_place_of_one_of_the_user_s_settings() -> None:
    task = Task(prompt="go", permission="edit", allow=("bash(git *)", "mcp_*"))
    told = rules(task)
    assert isinstance(told, dict)
    assert all(name.endswith(" *") for name in told)  # such a name nobody writes
    assert told["mcp_* *"] == "allow"


@pytest.mark.parametrize("rule", ["Bash(ls", "--auto", "-x"])
def test_an_invalid_rule_is_refused_with_a_solution(rule: str) -> None:
    with pytest.raises(NightrookError, match="isn't a rule of opencode: use a permission such as"):
        invoke(Task(prompt="go", allow=(rule,)))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["opencode", "run", "hi"], ["opencode", "run", *OUTPUT, "hi"]),
        (["/bin/opencode", "run", *OUTPUT, "hi"], ["/bin/opencode", "run", *OUTPUT, "hi"]),
        (
            ["opencode", "run", "--format=json", "hi"],
            ["opencode", "run", "--thinking", "--format=json", "hi"],
        ),
        (
            ["opencode", "run", "--no-thinking", "hi"],
            ["opencode", "run", "--format", "json", "--no-thinking", "hi"],
        ),
        (
            ["opencode", "run", "--", "--format", "text"],
            ["opencode", "run", *OUTPUT, "--", "--format", "text"],
        ),
    ],
)
def test_only_what_is_missing_is_added_to_a_user_s_command(
    given: list[str], expected: list[str]
) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        ["opencode"],
        ["opencode", "serve", "--port", "1"],
        ["opencode", "run", "--format", "default", "hi"],
        ["opencode", "run", "--format"],
        ["opencode", "run", "--help"],
    ],
)
def test_what_writes_no_messages_is_left_alone(given: list[str]) -> None:
    assert with_output_flags(given) is None


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT", "PWD"]
    kept = ["PATH", "HOME", "OPENCODE_CONFIG", "OPENCODE_API_KEY", "OPENCODE_PERMISSION"]
    assert [name for name in dropped + kept if keeps_variable(name)] == kept
