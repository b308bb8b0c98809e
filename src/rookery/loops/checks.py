"""Runs check commands: with a time limit, in a process group of their own, output bounded."""

import asyncio
import os
import signal
import subprocess
import time

from rookery.loops.state import Check

_MOST_OUTPUT = 64 * 1024
_PIECE = 64 * 1024


async def run_check(command: str, *, cwd: str, timeout_s: float) -> Check:
    """Run a command with the shell, since it is the user's own text."""
    started = time.monotonic()
    process = subprocess.Popen(  # noqa: ASYNC220 - a start takes no longer than a switch
        ["/bin/sh", "-c", command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout as pipe:
        output = _Tail(pipe.fileno())
        loop = asyncio.get_running_loop()
        loop.add_reader(pipe.fileno(), output.read)
        ended = asyncio.ensure_future(asyncio.to_thread(process.wait))
        try:
            # Wait for the process, not for the end of its output: a child may keep that open.
            await asyncio.wait({ended}, timeout=timeout_s)
            late = not ended.done()
        finally:
            _end_group(process.pid)
            await asyncio.shield(ended)
            loop.remove_reader(pipe.fileno())
        output.read()
    text = output.kept.decode("utf-8", "replace")
    if late:
        text += f"\n[rook] the check timed out after {timeout_s:g} s"
    code = None if late else process.returncode
    return Check(
        command=command,
        ok=code == 0,
        exit_code=code,
        stopped="timed_out" if late else None,
        duration_s=time.monotonic() - started,
        output=text,
    )


class _Tail:
    """Reads a pipe and keeps the last part, where a check usually reports what is wrong."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self.kept = b""

    def read(self) -> None:
        """Read everything that is available."""
        try:
            while piece := os.read(self._fd, _PIECE):
                self.kept = (self.kept + piece)[-_MOST_OUTPUT:]
        except BlockingIOError:
            return
        asyncio.get_running_loop().remove_reader(self._fd)


def _end_group(pid: int) -> None:
    """Kill whatever the check left running in its process group."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
