"""An option of the agent that is given to rook is answered with where to put it."""

import shlex

import pytest
from tests.warm import rook


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [
        ("run --dangerously-skip-permissions x", "run x -- --dangerously-skip-permissions"),
        ("run x --yolo", "run x -- --yolo"),
        ("run --sandbox read-only 'Fix it'", "run 'Fix it' -- --sandbox read-only"),
        ("run -q --append-system-prompt=B x", "run -q x -- --append-system-prompt=B"),
        ("run --append-system-prompt 'a b' x", "run x -- --append-system-prompt 'a b'"),
        ("run --max-cost 2 --yolo x -- -c", "run --max-cost 2 x -- -c --yolo"),
        ("run --model m -p x", "run --model m x -- -p"),
        ("loop --yolo x --check true", "loop x --check true -- --yolo"),
        (f"run --yolo {'x' * 81}", "run … -- --yolo"),
    ],
)
def test_an_option_of_the_agent_is_to_be_put_behind_the_dashes(typed: str, suggestion: str) -> None:
    done = rook(*shlex.split(typed))
    assert (done.returncode, done.stdout) == (2, "")
    hint = "If it is an option of the agent, put it behind --:  rook "
    assert done.stderr.endswith(f"{hint}{suggestion}\n".replace(" … ", " '…' "))


def test_a_misspelt_option_of_rook_is_still_suggested() -> None:
    assert "'--max-cost'" in rook("run", "--max-csot", "2", "x").stderr


def test_a_wrong_letter_among_flags_of_rook_is_just_wrong() -> None:
    done = rook("run", "-qz", "x")
    assert done.returncode == 2
    assert "put it behind" not in done.stderr
