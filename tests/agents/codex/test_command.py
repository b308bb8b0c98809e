"""Codex's command line, as we build it and as users write it."""

import signal
from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents.codex.command import invoke, keeps_variable, resumes, with_output_flags
from nightrook.model.errors import UnsupportedError

BOUNDED = ("-c", "features.unbounded_connection_retries=false")


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("codex", "exec", "--json", *BOUNDED, "-"),
        typed=("codex", "exec", "--json", *BOUNDED, "Fix the tests"),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGINT,
    )


def test_every_field_of_a_task_has_its_flag_before_the_resume_command() -> None:
    task = Task(
        prompt="go on",
        model="gpt-5.5",
        permission="edit",
        resume="t-1",
        max_cost=1.5,
        args=("--image", "a.png"),
    )
    assert invoke(task).command == (
        "codex",
        "exec",
        "--json",
        "--model=gpt-5.5",
        *("--sandbox", "workspace-write"),
        *BOUNDED,
        *("--image", "a.png"),
        *("resume", "t-1"),
        "-",
    )
    assert (invoke(task).typed or ())[-4:] == ("resume", "t-1", "--", "go on")


@pytest.mark.parametrize(
    ("permission", "flags"),
    [
        ("agent", ()),
        ("plan", ("--sandbox", "read-only")),
        ("all", ("--dangerously-bypass-approvals-and-sandbox",)),
    ],
)
def test_permissions_have_modes(permission: Any, flags: tuple[str, ...]) -> None:
    task = Task(prompt="go on", permission=permission)
    assert invoke(task).command == ("codex", "exec", "--json", *flags, *BOUNDED, "-")


def test_without_a_stream_it_writes_plain_text() -> None:
    assert "--json" not in invoke(Task(prompt="go on", stream=False)).command


@pytest.mark.parametrize("prompt", ["-v is broken, mend it", "resume", "help"])
def test_a_prompt_that_looks_like_an_option_or_a_command_stays_a_prompt(prompt: str) -> None:
    assert (invoke(Task(prompt=prompt)).typed or ())[-2:] == ("--", prompt)


@pytest.mark.parametrize("prompt", ["ü" * 60_000, "-"])
def test_a_long_prompt_goes_by_standard_input(prompt: str) -> None:
    call = invoke(Task(prompt=prompt, resume="t"))
    assert call.command[-3:] == ("resume", "t", "-")
    assert call.stdin == prompt.encode()


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        ({"allow": ("Bash",)}, "--permission all"),
        ({"max_turns": 3}, "--timeout"),
        ({"permission": "ask"}, "use one of agent, edit, plan, all"),
    ],
)
def test_options_that_codex_lacks_are_refused(options: dict[str, Any], way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=f"^codex .*{way_out}$"):
        invoke(Task(prompt="go", **options))


@pytest.mark.parametrize(
    ("typed", "run"),
    [
        ("codex exec fix", "codex exec --json fix"),
        ("codex e fix", "codex e --json fix"),
        ("codex -m big exec fix", "codex -m big exec --json fix"),
        ("codex exec resume --last on", "codex exec --json resume --last on"),
        ("codex exec --json fix", "codex exec --json fix"),
        ("codex exec -- --json", "codex exec --json -- --json"),
    ],
)
def test_a_user_s_own_command_gets_what_makes_it_write_messages(typed: str, run: str) -> None:
    assert with_output_flags(typed.split()) == run.split()


@pytest.mark.parametrize(
    "typed",
    [
        "codex",
        "codex fix",
        "codex login",
        "codex -- exec",
        "codex mcp add exec",
        "codex exec --help",
    ],
)
def test_nothing_but_exec_writes_messages(typed: str) -> None:
    assert with_output_flags(typed.split()) is None


@pytest.mark.parametrize(
    ("typed", "goes_on"),
    [
        ("codex exec resume --last on", True),
        ("codex exec fork t on", True),
        ("codex exec --json fix", False),
        ("codex exec -- resume", False),
    ],
)
def test_resume_and_fork_resume_a_thread(typed: str, goes_on: bool) -> None:
    assert resumes(typed.split()) is goes_on


@pytest.mark.parametrize(
    "name",
    [
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "CODEX_NETWORK_PROXY_ACTIVE",
        "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
        "CODEX_MANAGED_BY_NPM",
        "CODEX_CI",
    ],
)
def test_what_a_codex_around_us_set_is_not_handed_on(name: str) -> None:
    assert not keeps_variable(name)


@pytest.mark.parametrize(
    "name",
    ["CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY", "PATH", "MY_CODEX_CI"],
)
def test_what_is_the_user_s_is_handed_on(name: str) -> None:
    assert keeps_variable(name)
