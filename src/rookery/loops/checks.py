"""Runs check commands: with a time limit, under guard, output bounded."""

import asyncio
import os
import time

from rookery.loops.state import Check
from rookery.process.guard_process import GuardProcess

_MOST_OUTPUT = 64 * 1024
_PIECE = 64 * 1024


async def run_check(command: str, *, cwd: str, timeout_s: float, marker: str) -> Check:
    """Run a command with the shell, since it is the user's own text.

    None of its processes outlives it, or us; `marker` is the same for all checks of a loop.
    """
    started = time.monotonic()
    words = ["/bin/sh", "-c", command]
    try:
        guard = await asyncio.to_thread(GuardProcess, words, cwd=cwd, marker=marker)
    except OSError as error:
        text = f"[rook] the check cannot run in {cwd}: {error.strerror}"
        return Check(command=command, ok=False, output=text)
    output = _Tail(guard.output)
    loop = asyncio.get_running_loop()
    loop.add_reader(guard.output, output.read)
    ended = asyncio.ensure_future(asyncio.to_thread(guard.wait))
    try:
        # Wait for the process, not for the end of its output: a child may keep that open.
        await asyncio.wait({ended}, timeout=timeout_s)
        late = not ended.done()
    finally:
        await asyncio.shield(asyncio.to_thread(guard.end))
        code = await asyncio.shield(ended)
        loop.remove_reader(guard.output)
        output.read()
        guard.close()
    text = output.kept.decode("utf-8", "replace")
    if late:
        text += f"\n[rook] the check timed out after {timeout_s:g} s"
    return Check(
        command=command,
        ok=code == 0 and not late,
        exit_code=None if late else code,
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
