"""What is piped to rook: when it counts as data, how it is read, and how it reaches an agent."""

import asyncio
import os
import pty
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nightrook.config.options import RunOptions
from nightrook.runs.run import Run
from nightrook.runs.standard_input import has_begun, has_unread, is_data, read_text
from nightrook.runs.start import start_command
from tests.process.recording import wait_for
from tests.runs.scripted import program


@contextmanager
def pipe(data: bytes = b"", *, ended: bool = True) -> Iterator[int]:
    """The end of a pipe that one reads from."""
    reading, writing = os.pipe()
    os.write(writing, data)
    if ended:
        os.close(writing)
    try:
        yield reading
    finally:
        os.close(reading)
        if not ended:
            os.close(writing)


def never() -> None:
    raise AssertionError("it did not have to wait")


def test_a_pipe_a_socket_and_a_file_are_data(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with pipe() as piped, ours, theirs, open(tmp_path / "x", "w+b") as file:
        assert [is_data(fd) for fd in (piped, ours.fileno(), file.fileno())] == [True] * 3


def test_a_terminal_dev_null_a_closed_input_and_one_for_writing_are_not_data(
    tmp_path: Path,
) -> None:
    terminal, other_end = pty.openpty()
    with open(os.devnull, "rb") as nothing, open(tmp_path / "x", "wb") as written:
        closed = os.dup(nothing.fileno())
        os.close(closed)
        descriptors = (terminal, nothing.fileno(), closed, written.fileno())
        assert [is_data(fd) for fd in descriptors] == [False] * 4
    os.close(terminal)
    os.close(other_end)


def test_an_input_has_begun_with_its_first_byte_or_its_end() -> None:
    with pipe(b"x", ended=False) as begun, pipe() as ended, pipe(ended=False) as silent:
        assert has_begun(begun)
        assert has_begun(ended)
        assert not has_begun(silent, patience_s=0)


def test_unread_bytes_are_noticed() -> None:
    with pipe(b"x") as late, pipe() as ended, pipe(ended=False) as silent:
        assert [has_unread(fd) for fd in (late, ended, silent)] == [True, False, False]


def test_an_input_is_read_to_its_end_but_not_far_over_the_limit() -> None:
    with pipe(b"caf\xc3\xa9 \xff") as short, pipe(b"x" * 50_000, ended=False) as long:
        assert read_text(short, most=100, on_wait=never) == "café \ufffd"
        assert len(read_text(long, most=1000, on_wait=never)) > 1000


def test_an_input_that_does_not_block_is_awaited() -> None:
    with pipe(b"x") as source:
        os.set_blocking(source, False)
        assert read_text(source, most=100, on_wait=never) == "x"


def passed(
    folder: Path,
    source: int,
    *command: str,
    while_running: Callable[[], None] = lambda: None,
    max_log_size: int | None = None,
) -> Run:
    """Run a command that reads from the descriptor."""
    options = RunOptions(cwd=str(folder), home=str(folder / "home"), max_log_size=max_log_size)

    async def whole() -> Run:
        run = start_command(command, options, stdin=os.dup(source))
        async with run:
            while_running()
            await run.wait()
        return run

    return asyncio.run(whole())


def test_a_command_gets_its_input_byte_for_byte_and_it_is_recorded(tmp_path: Path) -> None:
    data = os.urandom(3_000_000) + b"\xff\x00\r\n"
    (tmp_path / "data").write_bytes(data)
    with open(tmp_path / "data", "rb") as source:
        run = passed(tmp_path, source.fileno(), "cat")
    assert run.stdout() == data
    assert (run.folder.path / "stdin.raw").read_bytes() == data


def test_a_command_gets_its_input_as_it_comes(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    first = tmp_path / "first"

    def send_the_rest() -> None:
        os.write(writing, b"one\n")
        wait_for(lambda: first.exists() and first.read_text() != "")
        os.write(writing, b"two\n")
        os.close(writing)

    script = f"read x; echo $x > {first}; cat"
    run = passed(tmp_path, reading, "sh", "-c", script, while_running=send_the_rest)
    os.close(reading)
    assert (first.read_text(), run.stdout()) == ("one\n", b"two\n")


@pytest.mark.parametrize("data", [b"", b"x" * 60_000])
def test_a_command_that_does_not_read_ends_although_its_input_is_open(
    tmp_path: Path, data: bytes
) -> None:
    with pipe(data, ended=False) as source:
        run = passed(tmp_path, source, "true")
    assert run.exit_code == 0


def test_no_more_of_an_input_is_recorded_than_of_an_output(tmp_path: Path) -> None:
    with pipe(b"x" * 5000) as source:
        run = passed(tmp_path, source, "wc", "-c", max_log_size=1000)
    assert run.stdout().strip() == b"5000"
    assert (run.folder.path / "stdin.raw").stat().st_size == 1000


def test_the_input_of_an_agent_is_kept_with_the_run(tmp_path: Path) -> None:
    with pipe(b"+ a line\n") as source:
        command = (program(tmp_path), "-p", "Review this", "--script-speed", "0")
        run = passed(tmp_path, source, *command)
    assert (run.folder.path / "stdin.raw").read_bytes() == b"+ a line\n"
