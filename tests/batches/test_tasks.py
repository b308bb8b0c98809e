"""The file of tasks of a batch."""

import json
from pathlib import Path

import pytest

from nightrook.batches.tasks import FIELDS, dump_task, make_task, read_tasks
from nightrook.model.errors import NightrookError


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "has no tasks"),
        (b"\n\n", "has no tasks"),
        (b"{", "line 1"),
        (lines({"prompt": "a"}, {"promt": "b"}), "line 2: 'promt' is not a field of a task"),
        (lines({"prompt": " "}), "line 1: the prompt is empty"),
        (lines({"prompt": "a", "id": "x"}, {"prompt": "b", "id": "x"}), "the id 'x'"),
        (lines({"prompt": "a", "check": 3}), "line 1: Expected `array`.*check"),
        (
            lines({"prompt": "a", "permission": "edti"}),
            "permission takes .*, not 'edti'",
        ),
        (
            lines({"prompt": "a", "max_cost": -5}),
            "max_cost takes .*, not -5",
        ),
        (lines({"prompt": "a", "timeout": -3}), "line 1: timeout takes a time .*, not -3"),
        (lines({"prompt": "a", "timeout": "soon"}), "line 1: timeout takes a time .*, not 'soon'"),
        (lines({"prompt": "a", "max_iterations": -1}), "line 1: Expected .* >= 1.*max_iterations"),
        (b'["a"]', "line 1: Expected `object`"),
    ],
)
def test_a_wrong_line_is_named(data: bytes, words: str) -> None:
    with pytest.raises(NightrookError, match=words):
        read_tasks(data, "tasks.jsonl")


def test_one_text_is_accepted_for_a_list_and_a_duration_for_seconds() -> None:
    line = {"prompt": "a", "check": "make", "signal": ["A", "B"], "allow": "Bash", "timeout": "5m"}
    (task,) = read_tasks(lines(line), "f")
    assert (task.check, task.signal, task.run.allow) == (("make",), ("A", "B"), ("Bash",))
    assert task.run.timeout == 300.0


def test_fields_that_a_task_does_not_set_have_their_defaults() -> None:
    usual = {"model": "small", "max_cost": 2.0}
    first, second = read_tasks(lines({"prompt": "a"}, {"prompt": "b", "model": "big"}), "f", usual)
    assert (first.run.model, first.run.max_cost) == ("small", 2.0)
    assert (second.run.model, second.run.max_cost) == ("big", 2.0)


def test_a_task_without_an_id_has_the_number_of_its_line() -> None:
    found = read_tasks(b"\n" + lines({"prompt": "a"}, {"prompt": "b", "id": "mine"}), "f")
    assert [task.id for task in found] == ["2", "mine"]


def test_every_field_of_a_task_is_in_the_docs(root: Path) -> None:
    page = (root / "docs" / "loops.md").read_text()
    table = page[page.index("| field | meaning |") :]
    for field in FIELDS:
        assert f"`{field}`" in table


def test_a_task_is_read_as_it_was_written() -> None:
    task = make_task(prompt="a", id="x", model="m", max_turns=3, check="make", env={"A": "1"})
    assert read_tasks(dump_task(task), "f") == [task]


def test_what_only_rook_sets_cannot_be_set_by_a_task() -> None:
    for name in ("resume", "home", "loop", "grace", "run"):
        with pytest.raises(NightrookError, match=f"'{name}' is not a field"):
            read_tasks(lines({"prompt": "a", name: "x"}), "f")
