"""Calls several `rook` commands in a copy of this process, and reports those that went wrong."""

import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

import msgspec

from nightrook.cli.main import main

DEADLINE_S = 120.0
"""After this long a call hangs; each takes some milliseconds."""

_TRACEBACK = "Traceback (most recent call last)"
_KILLS = "killed by the test"


class Call(msgspec.Struct):
    """One call of `rook`, how it ended and what it printed."""

    words: list[str]
    code: int | None
    """None if an exception reached the top."""

    out: str
    err: str

    @property
    def is_wrong(self) -> bool:
        """Whether it ended with a traceback, or with a failure that says nothing."""
        silent = self.code == 2 and not self.err.strip()
        return self.code is None or silent or _TRACEBACK in self.out + self.err


class Outcome(NamedTuple):
    """What came of all calls; `hung` is the call that did not end."""

    calls: list[Call]
    hung: Sequence[str] | None


def call_all(lines: Sequence[Sequence[str]], env: dict[str, str], cwd: Path) -> Outcome:
    """Call `rook` with each line, in a fork that ends with the last of them or at its deadline."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _call_each(lines, env, cwd, writing)
    os.close(writing)
    data = _read_until(reading, time.monotonic() + DEADLINE_S)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    calls = [msgspec.json.decode(line, type=Call) for line in data.split(b"\n") if line]
    return Outcome(calls, None if len(calls) == len(lines) else lines[len(calls)])


def _read_until(fd: int, deadline: float) -> bytes:
    data = b""
    with open(fd, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
            more = pipe.read(1 << 20)
            if not more:
                break
            data += more
    return data


def _call_each(
    lines: Sequence[Sequence[str]], env: dict[str, str], cwd: Path, writing: int
) -> NoReturn:
    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    os.kill = _refuse_to_kill
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    outputs = [_unnamed_file(), _unnamed_file()]
    for number, fd in enumerate(outputs, 1):
        os.dup2(fd, number)
    try:
        for words in lines:
            call = _call(list(words), outputs)
            line = msgspec.json.encode(call) + b"\n"
            while line:
                line = line[os.write(writing, line) :]
    finally:
        os._exit(0)


def _unnamed_file() -> int:
    fd, path = tempfile.mkstemp()
    os.unlink(path)
    return fd


def _refuse_to_kill(pid: int, number: int) -> None:
    raise ProcessLookupError(f"{_KILLS}: {pid} {number}")


def _call(words: list[str], outputs: list[int]) -> Call:
    variables = dict(word.split("=", 1) for word in words if word.startswith("_ROOK_COMPLETE"))
    variables |= dict(word.split("=", 1) for word in words if word.startswith("COMP_"))
    plain = [word for word in words if word.partition("=")[0] not in variables]
    os.environ.update(variables)
    for fd in outputs:
        os.ftruncate(fd, 0)
        os.lseek(fd, 0, os.SEEK_SET)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    sys.argv = ["rook", *plain]
    code: int | None = 0
    problem = ""
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # whatever reaches the top is what the user would see
        code, problem = None, traceback.format_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    for name in variables:
        os.environ.pop(name)
    out, err = (_text_of(fd) for fd in outputs)
    return Call(words, code, out, err + problem)


def _text_of(fd: int) -> str:
    size = os.fstat(fd).st_size
    return os.pread(fd, min(size, 1 << 20), 0).decode("utf-8", "replace")
