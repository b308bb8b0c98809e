"""Starts a recorder for a run and talks to it: commands go down, bells come up."""

import marshal
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from rookery.process import trees

# The packages are made bare: what they import for others takes longer than the recorder itself.
_BOOT = """
import sys
for name, path in zip(("rookery", "rookery.process"), sys.argv[1:]):
    sys.modules[name] = package = type(sys)(name)
    package.__path__ = [path]
from rookery.process.recorder import main
main()
"""
_MOST_BELLS = 65536
_PACKAGE = Path(__file__).parent.parent


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What a recorder needs to record a run."""

    folder: Path
    files: Mapping[str, str]
    """The names of the files in the folder: stdout, stderr, stdin, arrivals, exit and log."""

    command: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    stdin: str | int = "null"
    """`null`, `file` (the `stdin` of `files`) or a descriptor to pass to the agent."""

    deadline_s: float | None = None
    grace_s: float = 5.0
    ask_signal: int = 15


class RecorderProcess:
    """A running recorder; it ends the agent's whole tree when our process ends."""

    def __init__(self, plan: Plan) -> None:
        sent = {
            "folder": str(plan.folder),
            "files": dict(plan.files),
            "command": list(plan.command),
            "cwd": plan.cwd,
            "environment": {**plan.environment, trees.MARKER: str(plan.folder)},
            "stdin": plan.stdin,
            "deadline_s": plan.deadline_s,
            "grace_s": plan.grace_s,
            "ask_signal": int(plan.ask_signal),
            "runner": os.getpid(),
        }
        self._marker = str(plan.folder)
        log = os.open(
            plan.folder / plan.files["log"],
            os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW,
            0o600,
        )
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, _PACKAGE, _PACKAGE / "process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                pass_fds=[plan.stdin] if isinstance(plan.stdin, int) else (),
                env={"PATH": os.defpath},
                start_new_session=True,  # from the first moment, so that Ctrl-C does not reach it
            )
        finally:
            os.close(log)
        data = marshal.dumps(sent)  # read by the same Python, and json takes long to import
        self._say(b"%08d" % len(data) + data)
        assert self._process.stdout is not None
        self.bell = self._process.stdout.fileno()
        os.set_blocking(self.bell, False)

    @property
    def pid(self) -> int:
        """The recorder's process id."""
        return self._process.pid

    def hear(self) -> bytes | None:
        """Return the bells that have rung: lines of `arrivals`; None if the recorder has ended."""
        try:
            return os.read(self.bell, _MOST_BELLS) or None
        except BlockingIOError:
            return b""

    def stop(self, why: str) -> None:
        """Ask the agent to end; if it does not, terminate and then kill it."""
        self._say(f"stop {why}\n".encode())

    def kill(self, why: str) -> None:
        """End the agent at once."""
        self._say(f"kill {why}\n".encode())

    def sync(self) -> None:
        """Sync everything that was recorded to disk."""
        self._say(b"sync\n")

    def close(self) -> None:
        """Wait for the recorder; end the processes that outlived it if it was killed."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        if self._process.wait() != 0:
            trees.kill_marked(self._marker)

    def _say(self, words: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(words)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            return  # it has ended, or was collected; its exit code shows the rest
