"""Starts a recorder for a run and talks to it: commands go down, bells come up."""

import marshal
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.process import trees
from nightrook.process.isolated_python import isolated_python
from nightrook.process.liveness import continue_stopped, start_ticks
from nightrook.process.plain_file import open_plain

_MOST_BELLS = 65536
_ANSWER = b"!\n"  # what it rings when it has read a command; no arrival begins so
_START_S = 30.0  # for a recorder to read its plan, on a machine that is very busy
_ANSWER_S = 10.0  # for one to read a command
_END_S = 30.0  # for one to end its agent and itself: it takes 5.5 s and what the disk takes
_LOOK_S = 1.0  # between two looks at whether it is stopped
_MOST_STOPS = 5  # looks in a row that find it stopped: somebody does not let it work
_KILLED_S = 5.0  # for one that was killed: it may wait for a disk


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan by which a recorder records a run."""

    folder: Path
    files: Mapping[str, str]
    """The names of the files in the folder: stdout, stderr, stdin, arrivals, exit and log."""

    command: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    stdin: str | int = "null"
    """`null`, `file` (the `stdin` of `files`) or a descriptor to pass to the agent."""

    max_log_size: int | None = None
    """The most bytes of output that are recorded."""

    deadline_s: float | None = None
    grace_s: float = 5.0
    ask_signal: int = 15


class RecorderProcess:
    """A running recorder; it ends the agent's whole tree when our process ends.

    No call waits for a recorder that is stopped or that hangs for longer than a deadline.
    """

    def __init__(self, plan: Plan) -> None:
        self._marker = str(plan.folder)
        self._asked_at: float | None = None  # a command that it has not answered
        self._looked_at = float("-inf")
        self._stops = 0  # looks in a row that found it stopped
        self.was_stopped = False
        """True if it was found stopped by a signal, which its agent could send, and continued."""
        self.has_started = False
        """True once it records."""
        try:
            log = open_plain(
                plan.folder / plan.files["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND
            )
        except OSError as error:
            raise NightrookError(f"the recorder cannot start: {error}") from error
        try:
            self._process = subprocess.Popen(
                isolated_python("recorder"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                pass_fds=[plan.stdin] if isinstance(plan.stdin, int) else (),
                env={"PATH": os.defpath, trees.RECORDS: self._marker},
                # guards: recorder-session
                start_new_session=True,  # from the first moment, so that Ctrl-C does not reach it
            )
        except OSError as error:
            raise NightrookError(f"the recorder cannot start: {error}") from error
        finally:
            os.close(log)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._commands = self._process.stdin
        self.bell = self._process.stdout.fileno()
        for pipe in (self._commands.fileno(), self.bell):
            os.set_blocking(pipe, False)
        self.ticks = start_ticks(self.pid)
        """The start of its process; looked up before the agent can change anything."""
        self._send_plan(_encoded(plan))

    @property
    def pid(self) -> int:
        """The recorder's process id."""
        return self._process.pid

    @property
    def is_unresponsive(self) -> bool:
        """True if it has not read a command for too long, or is stopped again and again."""
        if self._stops >= _MOST_STOPS:  # guards: recorder-stopped-again
            return True
        return self._asked_at is not None and time.monotonic() > self._asked_at + _ANSWER_S

    def hear(self) -> bytes | None:
        """Return the bells that have rung: lines of `arrivals`; None if the recorder has ended."""
        try:
            bells = os.read(self.bell, _MOST_BELLS) or None
        except BlockingIOError:
            return b""
        if bells is not None:
            self.has_started = True
            if _ANSWER[:1] in bells:
                self._asked_at = None
        return bells

    def stop(self, why: str) -> None:
        """Ask the agent to end; if it does not, terminate and then kill it."""
        self._command(f"stop {why}\n".encode())

    def kill(self, why: str) -> None:
        """End the agent at once."""
        self._command(f"kill {why}\n".encode())

    def keep_running(self) -> None:
        """Continue it if something stopped it: stopped, it records nothing and holds no limit."""
        now = time.monotonic()
        if now < self._looked_at + _LOOK_S:
            return
        self._looked_at = now
        is_stopped = continue_stopped(self.pid, self.ticks)
        self._stops = self._stops + 1 if is_stopped else 0
        self.was_stopped = self.was_stopped or is_stopped

    def sync(self) -> None:
        """Sync everything that was recorded to disk."""
        self._say(b"sync\n")

    def abandon(self) -> None:
        """Kill a recorder that does not respond; `close` ends its agent."""
        self._process.kill()

    def close(self) -> None:
        """Wait for the recorder, not for ever; end the processes that outlived it."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._wake()
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.abandon()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_KILLED_S)
            code = None
        if code != 0:  # guards: killed-recorder-cleaned
            trees.kill_marked(self._marker, adopted_since=self.ticks)

    def _command(self, words: bytes) -> None:
        self._asked_at = self._asked_at or time.monotonic()
        self._wake()
        self._say(words)

    def _wake(self) -> None:
        """Continue a recorder that was stopped; one that works does not notice."""
        with suppress(OSError):
            self._process.send_signal(signal.SIGCONT)  # guards: stopped-recorder

    def _say(self, words: bytes) -> None:
        """Send a command, which is short; one for which there is no room is never answered."""
        with suppress(BrokenPipeError, ValueError):  # it has ended, or is closed
            self._commands.write(words)

    def _send_plan(self, data: bytes) -> None:
        """Send the plan, which may be longer than a pipe holds."""
        left = memoryview(b"%08d" % len(data) + data)
        room = select.poll()
        room.register(self._commands, select.POLLOUT)
        until = time.monotonic() + _START_S
        while left and (patience_s := until - time.monotonic()) > 0:
            room.poll(patience_s * 1000)
            try:
                left = left[self._commands.write(left) or 0 :]
            except BrokenPipeError:
                return  # it has ended: its log says why


def _encoded(plan: Plan) -> bytes:
    return marshal.dumps(  # read by the same Python, and json takes long to import
        {
            "folder": str(plan.folder),
            "files": dict(plan.files),
            "command": list(plan.command),
            "cwd": plan.cwd,
            "environment": {**plan.environment, trees.MARKER: str(plan.folder)},
            "stdin": plan.stdin,
            "max_log_size": plan.max_log_size,
            "deadline_s": plan.deadline_s,
            "grace_s": plan.grace_s,
            "ask_signal": int(plan.ask_signal),
            "runner": os.getpid(),
            "answer": _ANSWER,
        }
    )
