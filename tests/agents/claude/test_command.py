"""Claude Code's command line, as we build it and as users write it."""

import signal

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.claude.command import invoke, keeps_variable, with_output_flags

OUTPUT = ("--output-format", "stream-json", "--verbose")


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("claude", "-p", *OUTPUT),
        typed=("claude", "-p", *OUTPUT, "Fix the tests"),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGINT,
    )


def test_every_field_of_a_task_has_its_flag() -> None:
    task = Task(
        prompt="go",
        model="opus",
        permission="edit",
        allow=("Bash(ls)", "Read"),
        max_cost=1.5,
        max_turns=3,
        resume="s-1",
        partial=True,
        args=("--append-system-prompt", "be brief"),
    )
    call = invoke(task)
    assert call.command == (
        "claude",
        "-p",
        *OUTPUT,
        "--include-partial-messages",
        "--model=opus",
        *("--permission-mode", "acceptEdits"),
        *("--max-budget-usd", "1.5"),
        *("--max-turns", "3"),
        "--resume=s-1",
        "--allowedTools=Bash(ls)",
        "--allowedTools=Read",
        *("--append-system-prompt", "be brief"),
    )
    assert call.typed == (
        "claude",
        "-p",
        *OUTPUT,
        "--include-partial-messages",
        *("--model", "opus"),
        *("--permission-mode", "acceptEdits"),
        *("--max-budget-usd", "1.5"),
        *("--max-turns", "3"),
        *("--resume", "s-1"),
        *("--allowedTools", "Bash(ls)", "--allowedTools", "Read"),
        *("--append-system-prompt", "be brief"),
        *("--", "go"),
    )


@pytest.mark.parametrize(
    ("permission", "flags"),
    [
        ("agent", ()),
        ("plan", ("--permission-mode", "plan")),
        ("all", ("--dangerously-skip-permissions",)),
    ],
)
def test_permissions_have_modes(permission: str, flags: tuple[str, ...]) -> None:
    task = Task(prompt="go", permission=permission)  # type: ignore[arg-type]
    assert invoke(task).command == ("claude", "-p", *OUTPUT, *flags)


def test_a_task_that_may_ask_talks_over_standard_input() -> None:
    said = '{"type":"user","message":{"role":"user","content":"--say \\"hi\\"\\n\u2028"}}\n'
    call = invoke(Task(prompt='--say "hi"\n\u2028', permission="ask", allow=("Read",)))
    assert call == Invocation(
        command=(
            *("claude", "-p", *OUTPUT),
            *("--input-format", "stream-json", "--permission-prompt-tool", "stdio"),
            "--allowedTools=Read",
        ),
        stdin=said.encode(),
        keep_stdin_open=True,
        stop_signal=signal.SIGINT,
    )


def test_without_a_stream_it_writes_plain_text() -> None:
    task = Task(prompt="go", stream=False, partial=True)
    assert invoke(task).command == ("claude", "-p")


def test_a_prompt_that_looks_like_an_option_stands_behind_two_dashes() -> None:
    assert (invoke(Task(prompt="--help")).typed or ())[-2:] == ("--", "--help")


def test_a_long_prompt_goes_by_standard_input() -> None:
    prompt = "ä" * 60_000
    call = invoke(Task(prompt=prompt))
    assert call.command == ("claude", "-p", *OUTPUT)
    assert call.stdin == prompt.encode()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["claude", "-p", "hi"], ["claude", *OUTPUT, "-p", "hi"]),
        (["/bin/claude", "-p", *OUTPUT, "hi"], ["/bin/claude", "-p", *OUTPUT, "hi"]),
        (
            ["claude", "-p", "--output-format=json", "hi"],
            ["claude", "-p", "--output-format=json", "hi"],
        ),
        (["claude", "-p", "--", "--verbose"], ["claude", *OUTPUT, "-p", "--", "--verbose"]),
    ],
)
def test_only_what_is_missing_is_added_to_a_user_s_command(
    given: list[str], expected: list[str]
) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        "claude",
        "claude hi",
        "claude -c",
        "claude mcp list",
        "claude mcp add x -- npx -p y",
        "claude doctor",
        "claude --version",
        "claude -p --help",
    ],
)
def test_other_commands_are_left_unchanged(given: str) -> None:
    assert with_output_flags(given.split()) is None


@pytest.mark.parametrize("form", [("--output-format", "text"), ("--output-format=text",)])
def test_a_user_who_wants_text_gets_text(form: tuple[str, ...]) -> None:
    assert with_output_flags(["claude", "-p", *form, "hi"]) is None
    assert with_output_flags(["claude", "-p", "--output-format"]) is None


def test_variables_of_an_outer_agent_are_not_passed_on() -> None:
    dropped = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "ANTHROPIC_LOG"]
    dropped += ["CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_REMOTE_SESSION_ID"]
    kept = ["PATH", "HOME", "ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CONFIG_DIR"]
    kept += ["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "XCLAUDECODE"]
    assert [name for name in dropped + kept if keeps_variable(name)] == kept
