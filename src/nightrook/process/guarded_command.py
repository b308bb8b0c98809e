"""Runs a command under a guard: its output, its end, and no process left behind."""

import asyncio
import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nightrook.process import trees
from nightrook.process.isolated_python import isolated_python

_MOST_S = 10.0
"""The time that a guard may take to end the tree of its command."""

_MOST_OUTPUT = 64 * 1024
_PIECE = 64 * 1024


class GuardedEnd(NamedTuple):
    """The end of a command under guard."""

    exit_code: int | None
    """Exit code; None if it was ended, or its guard was killed."""

    timed_out: bool
    output: bytes
    """The last part of its output."""


async def run_guarded(
    command: Sequence[str],
    *,
    cwd: str,
    marker: str,
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
) -> GuardedEnd:
    """Run a command to its end, or until its time is up; an OSError if it cannot be started.

    None of its processes outlives it, or us.
    """
    guard = await asyncio.to_thread(
        GuardProcess, command, cwd=cwd, marker=marker, environment=environment
    )
    output = _Tail(guard.output)
    loop = asyncio.get_running_loop()
    loop.add_reader(guard.output, output.read)
    ended = asyncio.ensure_future(asyncio.to_thread(guard.wait))
    try:
        # Wait for the process, not for the end of its output: a child may keep that open.
        await asyncio.wait({ended}, timeout=timeout_s)  # guards: check-timeout
        late = not ended.done()
    finally:
        await asyncio.shield(asyncio.to_thread(guard.end))
        code = await asyncio.shield(ended)
        loop.remove_reader(guard.output)
        output.read()
        guard.close()
    return GuardedEnd(None if late else code, late, output.kept)


class GuardProcess:
    """A command under guard; all its processes have the marker in their environment.

    What an earlier guard with the same marker left behind, because it was killed, is ended first.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str,
        marker: str,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        trees.kill_marked(marker)  # guards: earlier-check-cleaned
        self._marker = marker
        self._process = subprocess.Popen(
            [*isolated_python("command_guard"), str(os.getpid()), *command],
            cwd=cwd,
            env={**os.environ, **(environment or {}), trees.MARKER: marker},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C does not reach it: the loop decides what ends
        )
        assert self._process.stderr is not None
        self.output = self._process.stderr.fileno()
        """The output of the command, as a descriptor to read from."""

    def wait(self) -> int | None:
        """Wait until the command and its tree have ended; return its exit code.

        A signal is a negative number; None if the guard itself was killed.
        """
        assert self._process.stdout is not None
        status = self._process.stdout.read()
        self._process.wait()
        return os.waitstatus_to_exitcode(int(status)) if status.strip() else None

    def end(self) -> None:
        """End the command and its whole tree."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_MOST_S)
        except subprocess.TimeoutExpired:  # someone has stopped it
            self._process.kill()
            self._process.wait()
        if self._process.returncode != 0:  # guards: killed-guard-cleaned
            trees.kill_marked(self._marker)

    def close(self) -> None:
        """Close our ends of its pipes."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()


class _Tail:
    """Reads a pipe and keeps the last part, where a command usually reports errors."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self.kept = b""

    def read(self) -> None:
        """Read everything that is available."""
        try:
            while piece := os.read(self._fd, _PIECE):
                self.kept = (self.kept + piece)[-_MOST_OUTPUT:]  # guards: check-output-bounded
        except BlockingIOError:
            return
        asyncio.get_running_loop().remove_reader(self._fd)
