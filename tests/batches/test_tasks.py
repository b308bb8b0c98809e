"""The file of tasks of a batch."""

import json
from pathlib import Path

import pytest

from rookery.batches.tasks import BatchTask, read_tasks
from rookery.model.errors import RookeryError


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "has no tasks"),
        (b"\n\n", "has no tasks"),
        (b"{", "line 1"),
        (lines({"prompt": "a"}, {"promt": "b"}), "line 2: .*promt"),
        (lines({"prompt": " "}), "line 1: the prompt is empty"),
        (lines({"prompt": "a", "id": "x"}, {"prompt": "b", "id": "x"}), "the id 'x'"),
        (lines({"prompt": "a", "check": 3}), "line 1: Expected `array`.*check"),
        (lines({"prompt": "a", "permission": "edti"}), "line 1: Invalid enum value 'edti'"),
        (lines({"prompt": "a", "permission": "ask"}), "line 1: Invalid enum value 'ask'"),
        (lines({"prompt": "a", "max_cost": -5}), "line 1: Expected .* >= 0.*max_cost"),
        (lines({"prompt": "a", "timeout": -3}), "line 1: Expected .* > 0.*timeout"),
        (lines({"prompt": "a", "timeout": "soon"}), "line 1: Expected .*timeout"),
        (lines({"prompt": "a", "max_iterations": -1}), "line 1: Expected .* >= 1.*max_iterations"),
        (b'["a"]', "line 1: Expected `object`"),
    ],
)
def test_a_wrong_line_is_named(data: bytes, words: str) -> None:
    with pytest.raises(RookeryError, match=words):
        read_tasks(data, "tasks.jsonl")


def test_people_may_write_one_for_a_list_and_times_as_they_say_them() -> None:
    line = {"prompt": "a", "check": "make", "signal": ["A", "B"], "allow": "Bash", "timeout": "5m"}
    (task,) = read_tasks(lines(line), "f")
    assert (task.check, task.signal, task.allow) == (("make",), ("A", "B"), ("Bash",))
    assert task.timeout == 300.0


def test_what_a_task_leaves_open_is_as_usual() -> None:
    usual = {"model": "small", "max_cost": 2.0}
    first, second = read_tasks(lines({"prompt": "a"}, {"prompt": "b", "model": "big"}), "f", usual)
    assert (first.model, first.max_cost) == ("small", 2.0)
    assert (second.model, second.max_cost) == ("big", 2.0)


def test_a_task_without_a_name_is_called_by_its_line() -> None:
    found = read_tasks(b"\n" + lines({"prompt": "a"}, {"prompt": "b", "id": "mine"}), "f")
    assert [task.id for task in found] == ["2", "mine"]


def test_every_field_of_a_task_is_told_in_the_docs(root: Path) -> None:
    page = (root / "docs" / "loops.md").read_text()
    table = page[page.index("| field | what it says |") :]
    for field in BatchTask.__struct_fields__:
        assert f"`{field}`" in table
