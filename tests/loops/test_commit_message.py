"""The message of a loop's commit."""

import subprocess

import pytest

from nightrook.loops.commit_message import commit_message

TOKEN = "ghp_" + "a1B2" * 9


def message(task: str, *files: str) -> str:
    return commit_message(
        task,
        files,
        loop="loop-k7f3",
        iteration=2,
        run="abcd",
        environ={"MY_TOKEN": "hunter2hunter2"},
    )


def test_it_has_the_task_and_what_changed() -> None:
    assert message("Fix the tests\nand more", "a.py", "b.py") == (
        "Fix the tests\n\n"
        "2 files changed:\n  a.py\n  b.py\n\n"
        "Iteration 2 of loop-k7f3, made by rook (rook show abcd).\n"
    )


@pytest.mark.parametrize(
    ("task", "subject"),
    [
        ("", "Work on the task"),
        ("\n\n# Port the parser\n\nDetails", "Port the parser"),
        ("x" * 100, "x" * 69 + "..."),
        ("Fix\x1b[31m it\x07", "Fix␛[31m it␇"),
        (f"Use {TOKEN}", "Use [redacted: GitHub token]"),
        ("Use hunter2hunter2", "Use [redacted: $MY_TOKEN]"),
    ],
)
def test_the_subject_is_one_short_safe_line(task: str, subject: str) -> None:
    assert message(task, "a").split("\n")[0] == subject


@pytest.mark.parametrize(
    "name",
    [
        "Signed-off-by: Mallory <m@example.com>",
        "a\n\nSigned-off-by: Mallory <m@example.com>",
        "Co-authored-by: Mallory <m@example.com>\r",
    ],
)
def test_no_name_of_a_file_is_a_trailer(name: str) -> None:
    text = message(name, name, name)
    words = ["git", "interpret-trailers", "--parse"]
    found = subprocess.run(words, input=text, capture_output=True, text=True, check=True)
    assert found.stdout == ""
    assert len(text.split("\n")) == 8


def test_of_many_files_it_lists_the_first() -> None:
    lines = message("Fix", *(f"{n}.py" for n in range(40))).split("\n")
    assert lines[2] == "40 files changed:"
    assert (lines[32], lines[33]) == ("  29.py", "  and 10 more")
