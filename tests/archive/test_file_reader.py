"""The lines with a needle are found, wherever the buffer cuts them."""

import json
import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nightrook.adapter.history import Counting, Facts
from nightrook.archive.file_reader import Scanner

READER = Counting(
    needles=(b'"usage"', b"Title"),
    facts=Facts,
    begin=lambda _: Facts(),
    findings=lambda _, __: (),
)
BULK = (b'"message":{', b'"role":"user"')

LINES = (
    b'{"usage":1}',
    b'{"customTitle":"x"}',
    b'{"message":{"role":"user","content":"usage","usage":3}}',
    b'{"message":{"role":"assistant","usage":3}}',
    b'{"text":"' + b"x" * 90 + b'"}',
    b'{"text":"' + b"x" * 150 + b'","usage":2}',
    b"",
    b"usage",
)


def scanned(path: Path, data: bytes, size: int, *, cap: int = 1 << 20) -> tuple[list[bytes], int]:
    """The lines that are found with a buffer of some size, and the position behind them."""
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    try:
        parts = list(Scanner(READER, bulk=BULK, size=size, cap=cap).scan(fd, 0))
    finally:
        os.close(fd)
    return [line for part in parts for line in part.lines], parts[-1].position if parts else 0


@given(st.lists(st.sampled_from(LINES)), st.integers(40, 300), st.booleans())
def test_any_buffer_finds_the_same_lines(
    tmp_path_factory: object, lines: list[bytes], size: int, complete: bool
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    path = tmp_path_factory.getbasetemp() / "lines"  # type: ignore[attr-defined]
    bulk = b'"message":{"role":"user"'
    hits = [line for line in lines if (b'"usage"' in line or b"Title" in line) and bulk not in line]
    rest = b"" if complete else b'{"usage":'
    assert scanned(path, data + rest, size) == (hits, len(data))


def test_usage_at_the_end_of_a_line_over_the_cap_is_found(tmp_path: Path) -> None:
    line = json.dumps({"type": "a", "content": "x" * 500_000, "usage": {"n": 7}}).encode()
    (found,), position = scanned(tmp_path / "lines", line + b"\n", 1024, cap=100_000)
    assert json.loads(found)["usage"] == {"n": 7}
    assert position == len(line) + 1


def test_bulk_that_is_longer_than_the_buffer_is_skipped(tmp_path: Path) -> None:
    bulk = b'{"message":{"role":"user","content":"' + b"x" * 5000 + b'","usage":1}}\n'
    data = bulk + b'{"usage":1}\n'
    assert scanned(tmp_path / "lines", data, 128) == ([b'{"usage":1}'], len(data))


def test_a_line_without_an_end_is_left_for_the_next_time(tmp_path: Path) -> None:
    data = b'{"usage":1}\n' + b'{"usage":"' + b"x" * 5000
    assert scanned(tmp_path / "lines", data, 128) == ([b'{"usage":1}'], 12)
