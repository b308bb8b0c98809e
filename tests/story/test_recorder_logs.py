"""RecorderLogs a recorder: all it wrote, in turns, and an error of a taker is told."""

import asyncio
from pathlib import Path

import pytest

from nightrook.story.recorder_logs import RecorderLogs
from nightrook.story.tail import Piece, Tail
from tests.process.recording import python, start


def follow(folder: Path, code: str, take: object = None, tick: object = None) -> bytes:
    """Follow a piece of Python to its end; give what was handed on of its stdout."""
    got: list[bytes] = []

    async def main() -> None:
        recorder = start(folder, python(code))
        try:
            with Tail(folder, "stdout") as tail:
                taker = take or (lambda pieces: got.extend(data for data, _ in pieces))
                listening = RecorderLogs(
                    recorder,
                    [(tail, taker)],  # type: ignore[list-item]
                    tick=tick or (lambda: None),  # type: ignore[arg-type]
                )
                async with asyncio.timeout(30):
                    await listening.follow()
                while listening.read():
                    pass
        finally:
            await asyncio.to_thread(recorder.close)

    asyncio.run(main())
    return b"".join(got)


def test_everything_is_handed_on_in_order(tmp_path: Path) -> None:
    code = "import sys\nfor n in range(200_000): sys.stdout.write(f'{n}\\n')"
    expected = "".join(f"{n}\n" for n in range(200_000)).encode()
    assert follow(tmp_path, code) == expected


def test_what_a_taker_raises_ends_the_following(tmp_path: Path) -> None:
    def broken(pieces: list[Piece]) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        follow(tmp_path, "import time; print(1, flush=True); time.sleep(60)", broken)


def test_time_is_kept_while_nothing_is_written(tmp_path: Path) -> None:
    ticks: list[None] = []

    def tick() -> None:
        ticks.append(None)
        if len(ticks) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        follow(tmp_path, "import time; time.sleep(60)", tick=tick)
