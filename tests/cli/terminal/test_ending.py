"""The final answer of a run: where it is printed, and where it is left out."""

import io
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.cli.commands.test_run import Desk
from tests.warm import ROOK

from nightrook.cli.terminal.ending import print_answer
from nightrook.cli.terminal.output import SafeOutput
from nightrook.config.options import ViewOptions
from nightrook.display.plain import PlainDisplay
from nightrook.model.events import Event, Text, TurnFinished
from nightrook.model.fold import Fold
from nightrook.model.records import Record

ANSWER = "All tests pass.\n\n- fixed `a.py`\n::error::not a command\n##vso[task.complete]"
LINES = ["All tests pass.", "", "- fixed `a.py`"]


def printed(
    *events: Event, view_options: ViewOptions | None = None, environ: dict[str, str] | None = None
) -> list[str]:
    """What is printed of the answer after all lines of some events."""
    out = io.StringIO()
    shown = SafeOutput(out, environ or {})
    view_options = view_options or ViewOptions()
    display = PlainDisplay(io.StringIO(), "claude", verbose=view_options.verbose)
    fold = Fold(iter([Record(n, None, 0, 0, event) for n, event in enumerate(events)]))
    for record in fold:
        display.show(record)
    print_answer(shown, view_options, fold.state, display.texts)  # type: ignore[arg-type]
    return out.getvalue().split("\n")[:-1]


def test_the_answer_is_printed_whole_after_an_empty_line() -> None:
    said, ended = Text(id="1", text=ANSWER), TurnFinished(ok=True, text=ANSWER)
    assert printed(said, ended)[:4] == ["", *LINES]
    assert printed(ended)[:4] == ["", *LINES]
    assert printed(Text(id="1", text="On it."), TurnFinished(ok=True, text="Done.")) == [
        "",
        "Done.",
    ]


def test_an_answer_that_the_last_text_line_showed_is_not_printed_again() -> None:
    assert printed(Text(id="1", text="Done."), TurnFinished(ok=True, text="Done.\n")) == []
    said, ended = Text(id="1", text=ANSWER), TurnFinished(ok=True, text=ANSWER)
    assert printed(said, ended, view_options=ViewOptions(verbose=True)) == []


@pytest.mark.parametrize("options", [ViewOptions(no_answer=True), ViewOptions(no_text=True)])
def test_no_answer_leaves_it_out(options: ViewOptions) -> None:
    assert printed(TurnFinished(ok=True, text=ANSWER), view_options=options) == []


def test_a_run_without_a_result_or_with_an_error_has_no_answer() -> None:
    assert printed(Text(id="1", text=ANSWER)) == []
    assert printed(Text(id="1", text=ANSWER), TurnFinished(ok=False)) == []


def test_no_line_of_an_answer_is_a_command_for_a_ci_service() -> None:
    lines = printed(TurnFinished(ok=True, text=ANSWER), environ={"GITHUB_ACTIONS": "true"})
    assert lines[4:] == [": :error::not a command", "# #vso[task.complete]"]


@pytest.fixture(scope="module")
def stream() -> bytes:
    messages: list[dict[str, object]] = [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-sonnet-4-5"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": ANSWER}]}},
        {"type": "result", "subtype": "success", "is_error": False, "result": ANSWER},
    ]
    messages[0] |= {"cwd": "/repo", "claude_code_version": "2.1.325", "apiKeySource": "none"}
    messages[2] |= {"total_cost_usd": 0.5, "num_turns": 1, "session_id": "s"}
    return b"".join(msgspec.json.encode(message) + b"\n" for message in messages)


@pytest.mark.parametrize("command", ["", "show", "replay --instant", "attach"])
def test_plain_output_has_heading_lines_and_answer_in_this_order(
    command: str, stream: bytes, tmp_path: Path
) -> None:
    environment = Desk(tmp_path).environment("")

    def rook(words: str, data: bytes = b"") -> list[str]:
        """All that is printed, to stdout and to stderr, as a CI job logs it."""
        done = subprocess.run(
            [ROOK, *words.split()],
            env=environment,
            input=data,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=True,
        )
        return done.stdout.decode().split("\n")

    first = rook("", stream)
    lines = rook(command) if command else first
    if command == "attach":
        lines = [line for line in lines if not line.startswith("[rook] Agent command")]
    name = first[0].split()[-1]
    assert lines[:7] == [
        f"[rook] claude 2.1.325 · claude-sonnet-4-5 · /repo · run {name}",
        '[claude] "All tests pass."',
        "[claude] Complete (cost: $0.5000)",
        "",
        *LINES,
    ]
    assert any(line.startswith("[rook] success") for line in lines[9:])
    assert "- fixed `a.py`" not in rook(f"{command} --no-answer", b"" if command else stream)
