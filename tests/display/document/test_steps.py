"""The steps of a document: what happened in what, how it ended, and what is left out."""

import json
from typing import Any

import msgspec
from tests.display.document.documents import html
from tests.display.document.documents import steps as made_steps

from nightrook.adapter.agent import Replacement
from nightrook.display.document import steps as module
from nightrook.display.document.steps import Block, Step
from nightrook.model.events import (
    Event,
    FileChanged,
    PermissionDenied,
    SessionStarted,
    Text,
    Thinking,
    ToolFinished,
    ToolKind,
    ToolStarted,
    TurnFinished,
)


def call(id: str, name: str = "Bash", kind: ToolKind = "execute", **more: Any) -> ToolStarted:
    input = msgspec.Raw(json.dumps(more.pop("input", {"command": "ls"})).encode())
    return ToolStarted(id=id, name=name, kind=kind, input=input, **more)


def steps(*events: Event, **more: Any) -> list[Step]:
    return [*made_steps(events, **more)]


def test_a_call_has_its_input_output_and_time() -> None:
    (step,) = steps(call("1", title="ls"), ToolFinished(id="1", status="ok", output="a\nb\n"))
    assert (step.label, step.title, step.state, step.aside) == ("Bash", "ls", "good", ("1.0s",))
    assert step.blocks == (Block("input", "command: ls"), Block("output", "a\nb"))


def test_a_failed_call_shows_its_error_and_exit_code() -> None:
    failed = ToolFinished(id="1", status="error", error="no such file", exit_code=2)
    (step,) = steps(call("1"), failed)
    assert (step.state, step.aside) == ("bad", ("exit 2", "1.0s"))
    assert step.blocks[-1] == Block("error", "no such file")


def test_a_call_that_has_not_ended_is_running() -> None:
    (step,) = steps(call("1"))
    assert (step.state, step.aside) == ("runs", ("running",))


def test_an_edit_is_a_difference_with_its_lines() -> None:
    (step,) = steps(
        call("1", "Edit", "edit", title="/x/a.py"),
        FileChanged(path="/x/a.py", added=2, removed=1, tool_id="1"),
        ToolFinished(id="1", status="ok", output="done"),
        replacements=lambda _: (Replacement(before="a\nb", after="a\nc"),),
    )
    assert (step.title, step.aside[0]) == ("a.py", "+2 −1")
    assert step.blocks[0] == Block("change", " a\n-b\n+c")


def test_what_a_subagent_did_follows_it_one_level_deeper() -> None:
    made = steps(
        call("1", "Task", "subagent", title="Explore", subagent="explorer"),
        Text(id="t", text="meanwhile"),
        call("2", "Grep", "search", title="x", parent="1"),
        ToolFinished(id="2", status="ok"),
        ToolFinished(id="1", status="ok", output="found"),
        Text(id="u", text="after"),
    )
    assert [(one.label, one.title, one.depth, one.inside) for one in made] == [
        ("Task", "Explore", 0, 1),
        ("Grep", "x", 1, 0),
        ("", "meanwhile", 0, 0),
        ("", "after", 0, 0),
    ]


def test_subagents_of_subagents_are_not_nested_for_ever() -> None:
    calls = [
        call(str(n), "Task", "subagent", parent=str(n - 1) if n else None) for n in range(3000)
    ]
    made = steps(*calls)
    assert [one.depth for one in made[:8]] == [0, 1, 2, 3, 4, 5, 6, 6]
    assert len(made) == 3000
    page = html(calls)
    assert page.count("<details") == page.count("</details>")
    assert page.count("<div") == page.count("</div>")


def test_a_denied_call_is_shown_once_with_what_would_allow_it() -> None:
    (step,) = steps(
        call("1", title="rm -r build"),
        PermissionDenied(tool_id="1", name="Bash", fix="Bash(rm -r build)"),
        ToolFinished(id="1", status="denied", error="not permitted"),
    )
    assert (step.label, step.state, step.title) == ("Denied", "bad", "Bash: rm -r build")
    assert step.aside == ("allow it: --allow 'Bash(rm -r build)'",)


def test_a_text_that_is_too_long_is_cut_and_says_so() -> None:
    (step,) = steps(Text(id="1", text="x" * (module.LONGEST_BLOCK + 5)))
    (block,) = step.blocks
    assert (len(block.text), block.left_out) == (module.LONGEST_BLOCK, 5)
    assert "… 5 more characters" in html([Text(id="1", text="x" * (module.LONGEST_BLOCK + 5))])


def test_all_texts_together_are_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "MOST_TEXT", 25)
    made = steps(*(Text(id=str(n), text="x" * 10) for n in range(5)))
    assert [len(one.blocks[0].text) for one in made] == [10, 10, 5, 0, 0]
    assert [one.blocks[0].left_out for one in made] == [0, 0, 5, 10, 10]


def test_secrets_are_redacted_wherever_they_stand() -> None:
    def redact(text: str) -> str:
        return text.replace("hunter2", "[redacted]")

    page = html(
        [
            SessionStarted(cwd="/x/hunter2", model="hunter2", version="hunter2"),
            Text(id="1", text="hunter2"),
            Thinking(id="2", text="hunter2"),
            call("1", "hunter2", title="hunter2", input={"hunter2": "hunter2"}),
            ToolFinished(id="1", status="error", error="hunter2", exit_code=1),
            PermissionDenied(name="hunter2", fix="hunter2"),
            TurnFinished(ok=False, errors=("hunter2",)),
        ],
        redact=redact,
    )
    assert "hunter2" not in page
    assert page.count("[redacted]") >= 10
