"""Chunks that are repeated, overlap, are missing or lie: the mirror is a prefix of the truth."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.fleet.mirror import LARGEST_CHUNK, Mirror, Written
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo

TRUTH = bytes(range(256)) * 2


def folder(home: Path) -> RunFolder:
    return create_run(home, RunInfo(command=["claude"], cwd="/", started_at=1.0))


@given(
    chunks=st.lists(st.tuples(st.integers(0, len(TRUTH)), st.integers(0, 200)), max_size=30),
)
def test_any_chunks_of_a_log_leave_a_prefix_of_it(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[tuple[int, int]]
) -> None:
    made = folder(tmp_path_factory.mktemp("home"))
    with Mirror(made) as mirror:
        for offset, length in chunks:
            result = mirror.write("stdout", offset, TRUTH[offset : offset + length])
            assert result is not Written.REFUSED
        size = mirror.sizes.get("stdout", 0)
        mirror.write("stdout", size, TRUTH[size:])
        assert mirror.missing == {}
    assert (made.path / "stdout.raw").read_bytes() == TRUTH


def test_other_bytes_for_a_position_are_refused_and_reported(tmp_path: Path) -> None:
    made = folder(tmp_path)
    with Mirror(made) as mirror:
        mirror.write("stdout", 0, b"hello")
        assert mirror.write("stdout", 3, b"LO world") is Written.REFUSED
        assert mirror.problem == "stdout.raw was sent again with other bytes at 3"
    assert (made.path / "stdout.raw").read_bytes() == b"hello"


def test_a_chunk_beyond_the_end_waits_and_says_what_is_missing(tmp_path: Path) -> None:
    with Mirror(folder(tmp_path)) as mirror:
        mirror.write("stderr", 0, b"ab")
        assert mirror.write("stderr", 4, b"ef") is Written.BEYOND
        assert (mirror.missing, mirror.sizes) == ({"stderr": 2}, {"stderr": 2})


def test_a_run_cannot_fill_the_disk(tmp_path: Path) -> None:
    with Mirror(folder(tmp_path), largest=1) as mirror:
        mirror._left = 10
        assert mirror.write("stdout", 0, bytes(10)) is Written.NEW
        assert mirror.write("stdout", 10, b"x") is Written.REFUSED
        assert mirror.write("stderr", 0, bytes(LARGEST_CHUNK + 1)) is Written.REFUSED


def test_a_mirror_continues_where_an_earlier_process_ended(tmp_path: Path) -> None:
    made = folder(tmp_path)
    with Mirror(made) as mirror:
        mirror.write("stdout", 0, b"abc")
    with Mirror(made) as mirror:
        assert mirror.lacks({"stdout": 6}) == {"stdout": 3}
        assert mirror.write("stdout", 1, b"bcdef") is Written.NEW
        assert mirror.has({"stdout": 6})
    assert (made.path / "stdout.raw").read_bytes() == b"abcdef"
