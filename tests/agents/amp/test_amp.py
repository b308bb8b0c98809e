"""Amp, as its documents tell of it: its stream, how it is told apart, and its command line."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from nightrook.adapter.agent import Invocation, Task
from nightrook.agents import agent, detect
from nightrook.agents.amp.adapter import recognises
from nightrook.agents.amp.command import invoke, keeps_variable, with_output_flags
from nightrook.model.answer import final_text
from nightrook.model.errors import UnsupportedError
from tests.recorded import cases, folded, messages, name_of, results
from tests.rules import each
from tests.warm import rook

OUTPUT = ("--stream-json", "--stream-json-thinking")


def test_it_says_that_it_is_known_from_documents_only() -> None:
    amp = agent("amp")
    assert (amp.evidence, amp.checked_versions) == ("documentation", ())


@each("path", cases("amp"), ids=name_of)
def test_the_tokens_are_those_of_its_messages_and_the_answer_that_of_its_result(
    path: Path,
) -> None:
    state, told = folded(path), [m["message"]["usage"] for m in messages(path) if _counted(m)]
    tokens = state.ledger.tokens
    assert tokens.input + tokens.cache_read + tokens.cache_write == sum(
        usage["input_tokens"] for usage in told
    )
    assert tokens.output == sum(usage["output_tokens"] for usage in told)
    assert state.ledger.cost.usd is None
    if state.results and state.results[-1].ok:
        assert final_text(state) == results(path)[-1]["result"]


def _counted(message: dict[str, Any]) -> bool:
    return message["type"] == "assistant" and bool(message["message"]["usage"])


@each("path", cases("amp"), ids=name_of)
def test_a_stream_is_known_as_its_own(path: Path) -> None:
    found = detect(path.read_bytes())
    assert found is not None
    assert found.name == "amp"


@pytest.mark.parametrize(
    "message",
    [
        {"type": "system", "subtype": "init", "session_id": "0c3d746a"},
        {"type": "thread", "session_id": "T-1"},
        {"type": ["user"], "session_id": "T-1"},
        {"type": "user", "session_id": None},
    ],
)
def test_messages_of_others_are_not_its_own(message: dict[str, object]) -> None:
    assert not recognises(message)


def test_a_prompt_goes_to_stdin_and_is_shown_as_one_would_type_it() -> None:
    assert invoke(Task(prompt="Fix the tests")) == Invocation(
        command=("amp", "-x", *OUTPUT),
        typed=("amp", "-x", "Fix the tests", *OUTPUT),
        stdin=b"Fix the tests",
        stop_signal=signal.SIGINT,
    )


def test_a_typed_prompt_follows_its_flag_at_once() -> None:
    task = Task(
        prompt="go on", model="high", permission="all", resume="T-1", args=("--no-ide",), max_cost=1
    )
    assert invoke(task).typed == (
        *("amp", "threads", "continue", "T-1"),
        *("-x", "go on"),
        *OUTPUT,
        *("-m", "high"),
        "--dangerously-allow-all",
        "--no-ide",
    )


def test_without_a_stream_it_writes_plain_text() -> None:
    assert invoke(Task(prompt="go", stream=False)).command == ("amp", "-x")


@pytest.mark.parametrize("prompt", ["ä" * 60_000, "--help"])
def test_a_long_prompt_or_one_like_an_option_is_not_an_argument(prompt: str) -> None:
    call = invoke(Task(prompt=prompt))
    assert (call.command, call.stdin) == (("amp", "-x", *OUTPUT), prompt.encode())


@pytest.mark.parametrize(
    ("options", "way_out"),
    [
        ({"permission": "edit"}, "use one of agent, all"),
        ({"permission": "plan"}, "use one of agent, all"),
        ({"allow": ("Bash",)}, "leave out --allow"),
        ({"max_turns": 3}, "leave out --max-turns"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_way_out(options: dict[str, Any], way_out: str) -> None:
    with pytest.raises(UnsupportedError, match=way_out):
        invoke(Task(prompt="go", **options))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["amp", "-x", "hi"], ["amp", "-x", "hi", *OUTPUT]),
        (["amp", "--execute", "hi", "--stream-json"], ["amp", "--execute", "hi", "--stream-json"]),
        (["amp", "-x", "hi", "--", "a"], ["amp", "-x", "hi", *OUTPUT, "--", "a"]),
        (["amp", "threads", "list"], None),
    ],
)
def test_a_user_s_command_gets_what_is_missing(given: list[str], expected: Any) -> None:
    assert with_output_flags(given) == expected


@pytest.mark.parametrize(
    ("name", "kept"), [("AMP_CURRENT_THREAD_ID", False), ("AMP_API_KEY", True), ("PATH", True)]
)
def test_variables_of_an_outer_amp_are_not_inherited(name: str, *, kept: bool) -> None:
    assert keeps_variable(name) is kept


@pytest.mark.slow
def test_without_a_login_it_is_stopped_and_its_words_are_shown(tmp_path: Path) -> None:
    program = tmp_path / "amp"
    program.write_text(
        "#!/bin/sh\necho 'No API key found. Starting login flow...'\n"
        "printf 'When prompted, paste your code here: '\nexec sleep 600\n"
    )
    program.chmod(0o755)
    env = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "ROOK_HOME": str(tmp_path / "home"),
    }
    done = rook("run", "--agent", "amp", "Say hello", cwd=tmp_path, env=env)
    assert done.returncode == 7, done.stderr
    assert "stuck: waits for a login (No API key found. Starting login flow...)" in done.stderr
    assert "to log in:  amp login" in done.stderr
