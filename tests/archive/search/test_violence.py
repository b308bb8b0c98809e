"""The index when it is killed, deleted, damaged or read while it is made: the next run is right."""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from nightrook.archive.search.index import FILE, SearchIndex, remove
from nightrook.archive.search.indexing import fill
from nightrook.archive.search.search import SearchQuery, search
from nightrook.cli.main import cli

TRANSCRIPTS = Path(__file__).parents[2] / "agents" / "claude" / "transcripts"
QUERIES = ("background", "thing", "a.txt", "echo", "file*")
FILLS = """
import sys
from pathlib import Path
from nightrook.archive.search import indexing
from nightrook.archive.search.index import SearchIndex
indexing._FIRST_COMMIT_S = indexing._COMMIT_S = 0
print("ready", flush=True)
with SearchIndex.open(Path(sys.argv[1])) as words:
    for _ in indexing.fill(words, [Path(sys.argv[2])]):
        print("committed", flush=True)
"""
"""Fills an index with a commit after every file."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with many small sessions."""
    home = tmp_path / "home"
    for number, case in enumerate(sorted(TRANSCRIPTS.glob("*-2.1.325"))):
        for file in case.rglob("*.jsonl"):
            below = file.relative_to(case)
            target = home / below.parent / f"{number:02}-{below.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    return home


def answers(path: Path) -> list[object]:
    """What the index at a path finds, without the scores."""
    with SearchIndex.open(path) as words:
        return [
            sorted(
                (hit.session, hit.kind, hit.position, hit.excerpt)
                for hit in search(words.connection, SearchQuery(text=text), limit=1000).hits
            )
            for text in QUERIES
        ]


def expected(home: Path, folder: Path) -> list[object]:
    path = folder / "fresh" / FILE
    with SearchIndex.open(path) as words:
        list(fill(words, [home]))
    return answers(path)


def kill_while_filling(path: Path, home: Path, chance: random.Random) -> None:
    """Start to fill an index, and kill that after a random number of commits."""
    command = [sys.executable, "-c", FILLS, str(path), str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(chance.randrange(12)):
            if not process.stdout.readline():
                break
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)


def check_kills(home: Path, folder: Path, kills: int) -> None:
    chance, wanted = random.Random(7), expected(home, folder)
    path = folder / "killed" / FILE
    for number in range(kills):
        kill_while_filling(path, home, chance)
        if number % 10 == 9:
            remove(path)  # lest all is indexed before most kills
    with SearchIndex.open(path) as words:
        list(fill(words, [home]))
    assert answers(path) == wanted


def test_after_kills_the_next_run_is_right(home: Path, tmp_path: Path) -> None:
    check_kills(home, tmp_path, 3)


@pytest.mark.soak
def test_after_a_hundred_kills_the_next_run_is_right(home: Path, tmp_path: Path) -> None:
    check_kills(home, tmp_path, 100)


def test_a_search_reads_what_another_process_has_committed(home: Path, tmp_path: Path) -> None:
    wanted, path = expected(home, tmp_path), tmp_path / "shared" / FILE
    command = [sys.executable, "-c", FILLS, str(path), str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "committed\n":
                found = answers(path)
                assert all(set(now) <= set(all_) for now, all_ in zip(found, wanted, strict=True))  # type: ignore[call-overload]
    assert process.returncode == 0
    assert answers(path) == wanted


def searched(home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ROOK_HOME", str(folder))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    result = CliRunner().invoke(cli, ["search", "background", "--json"])
    assert result.exit_code == 0, result.output
    return result.stdout


def damages(path: Path) -> Iterator[str]:
    """Damage the index in every way, one after another."""
    yield "whole"
    remove(path)
    yield "deleted"
    path.unlink()
    yield "deleted without its log"
    path.write_bytes(b"")
    yield "empty"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    yield "cut in half"
    path.write_bytes(b"not a database, but long enough to be one" * 500)
    yield "something else"
    chance = random.Random(3)
    for number in range(6):
        data = bytearray(path.read_bytes())
        at = chance.randrange(0, len(data), 4096)
        data[at : at + 4096] = chance.randbytes(min(4096, len(data) - at))
        path.write_bytes(data)
        yield f"page {number} of noise"


def test_a_deleted_or_damaged_index_is_made_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nightrook"
    wanted = searched(home, folder, monkeypatch)
    for damage in damages(folder / FILE):
        assert searched(home, folder, monkeypatch) == wanted, damage


def test_an_index_that_is_deleted_while_it_is_open_is_right_the_next_time(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "nightrook"
    wanted = searched(home, folder, monkeypatch)
    with SearchIndex.open(folder / FILE) as words:
        filling = fill(words, [home])
        remove(folder / FILE)
        list(filling)
        found = search(words.connection, SearchQuery(text="background"))
    assert found.total > 0
    assert searched(home, folder, monkeypatch) == wanted
