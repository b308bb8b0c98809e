"""Calls `rook` in a copy of a process that has imported everything: a real process, but quick.

Starting Python and importing `rook` takes longer than most of what the tests ask of it. So one
process imports it, and each call is a fork of that process: with streams, a working folder, an
environment and an exit of its own. Tests of the start itself and of signals start `ROOK`.
"""

import atexit
import json
import os
import pkgutil
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

ROOK = Path(sys.executable).with_name("rook")
_LARGEST_CALL = 1 << 17
_CRASHED = 70


def rook(
    *words: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Call `rook`; return its exit code and the text that it wrote."""
    given = None if stdin is None else stdin.encode()
    done = rook_bytes(*words, env=env, cwd=cwd, stdin=given)
    out, err = (_text(each) for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def _text(data: bytes) -> str:
    """Decode what was written, with the newlines that `subprocess` and files give."""
    return data.decode().replace("\r\n", "\n").replace("\r", "\n")


def rook_bytes(
    *words: str | Path,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: bytes | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Call `rook`; return its exit code and the bytes that it wrote."""
    command = [str(ROOK), *map(str, words)]
    call = {"command": command, "env": {**(env or os.environ)}, "cwd": str(cwd or Path.cwd())}
    message = json.dumps(call).encode()
    assert len(message) < _LARGEST_CALL
    inputs = (os.open(os.devnull, os.O_RDONLY), None) if stdin is None else os.pipe()
    if inputs[1] is not None and len(stdin or b"") <= select.PIPE_BUF:
        _write(inputs[1], stdin or b"")  # before the start: rook does not wait long for it
        inputs = (inputs[0], None)
    outputs = [os.pipe() for _ in ("stdout", "stderr", "exit code")]
    theirs = [inputs[0], *(write for _, write in outputs)]
    socket.send_fds(_server(), [message], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    with ThreadPoolExecutor(4) as threads:
        if inputs[1] is not None:
            threads.submit(_write, inputs[1], stdin or b"")
        out, err, code = threads.map(_read, [read for read, _ in outputs])
    return subprocess.CompletedProcess(command, int(code), out, err)


def _write(descriptor: int, data: bytes) -> None:
    with open(descriptor, "wb") as pipe:
        pipe.write(data)  # a reader that leaves early ends this thread, and no more


def _read(descriptor: int) -> bytes:
    with open(descriptor, "rb") as pipe:
        return pipe.read()


@cache
def _server() -> socket.socket:
    """Start the process whose copies are `rook`; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        process = subprocess.Popen(
            command,
            cwd=Path(__file__).parents[1],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def serve(descriptor: int) -> None:
    """Answer calls until nobody can make another."""
    package = import_module("nightrook.cli")
    for module in pkgutil.walk_packages(package.__path__, "nightrook.cli."):
        import_module(module.name)
    calls = socket.socket(fileno=descriptor)
    answering: set[int] = set()
    while True:
        message, descriptors, _, _ = socket.recv_fds(calls, _LARGEST_CALL, 4)
        if not message:
            return
        answering -= {pid for pid in answering if os.waitpid(pid, os.WNOHANG)[0]}
        child = os.fork()
        if child == 0:
            calls.close()
            _answer(json.loads(message), descriptors)
        answering.add(child)
        for each in descriptors:
            os.close(each)


def _answer(call: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """Be the parent of a `rook`, and pass on its exit code."""
    *streams, exit_code = descriptors
    child = os.fork()
    if child == 0:
        os.close(exit_code)
        _become_rook(streams, **call)
    for each in streams:
        os.close(each)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.write(exit_code, str(code).encode())
    os._exit(0)


def _become_rook(streams: list[int], command: list[str], env: dict[str, str], cwd: str) -> NoReturn:
    code: object = _CRASHED
    try:
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = open(0)  # noqa: SIM115
        sys.stdout, sys.stderr = open(1, "w"), open(2, "w", buffering=1)  # noqa: SIM115
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        time.tzset()
        sys.argv = command
        if fault := env.get("ROOK_TEST_FAULT"):
            import_module("tests.faults.injection").begin(fault)
        import_module("nightrook.cli.main").main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    serve(int(sys.argv[1]))
