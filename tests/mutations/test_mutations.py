"""Damaged folders: every command that reads one ends, without a traceback, and lists the others."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = ("run", "loop", "batch", "settings")
PER_PROCESS = 25
QUICK = {"run": 100, "loop": 50, "batch": 50, "settings": 25}
SOAK = 500


def attack(kind: str, first: int, count: int) -> list[str]:
    """Damage folders in a process of their own; return what it reported."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutations.attack", kind, str(first), str(count)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def parts(counts: dict[str, int]) -> list[tuple[str, int]]:
    """Cut the numbers of all kinds into what one process does."""
    return [(kind, first) for kind, most in counts.items() for first in range(0, most, PER_PROCESS)]


@pytest.mark.parametrize(("kind", "first"), parts(QUICK))
def test_no_damage_causes_a_traceback_a_hang_or_a_shorter_list(kind: str, first: int) -> None:
    *problems, counts = attack(kind, first, PER_PROCESS)
    assert problems == []
    assert counts.startswith(f"{PER_PROCESS} folders, ")


@pytest.mark.soak
@pytest.mark.parametrize(("kind", "first"), parts(dict.fromkeys(KINDS, SOAK)))
def test_five_hundred_damaged_folders_of_each_kind_are_read(kind: str, first: int) -> None:
    *problems, _ = attack(kind, first, PER_PROCESS)
    assert problems == []
