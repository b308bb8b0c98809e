"""Starts a guard for a command: its output, its end, and no process left behind."""

import os
import subprocess
from collections.abc import Sequence

from rookery.process import trees
from rookery.process.bare_python import bare_python

_MOST_S = 10.0
"""How long a guard may take to end the tree of its command."""


class GuardProcess:
    """A command under guard; all its processes have the marker in their environment.

    What an earlier guard with the same marker left behind, because it was killed, is ended first.
    """

    def __init__(self, command: Sequence[str], *, cwd: str, marker: str) -> None:
        trees.kill_marked(marker)
        self._marker = marker
        self._process = subprocess.Popen(
            [*bare_python("guard"), str(os.getpid()), *command],
            cwd=cwd,
            env={**os.environ, trees.MARKER: marker},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C does not reach it: the loop decides what ends
        )
        assert self._process.stderr is not None
        self.output = self._process.stderr.fileno()
        """What the command writes, as a descriptor to read from."""

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
        if self._process.returncode != 0:
            trees.kill_marked(self._marker)

    def close(self) -> None:
        """Close what connects us to it."""
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()
