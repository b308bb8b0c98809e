"""The recorder: a process of its own that starts an agent, keeps every byte and leaves nobody.

It is started as `python -I -S`, needs the standard library only, and decodes nothing. On its
standard input come the plan, as JSON, and then commands, one a line; its end means that the runner
is gone. On its standard output it rings: a byte after each thing that happened.
"""

import errno
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NoReturn

from rookery.run import contain

_CHUNK = 1 << 20
_RING = b"."
_DRAIN_S = 2.0  # how long a grandchild that holds the pipe can keep us after the leader's end
_LAST_S = 0.5  # what is left to a tree that is ended at once
_MOST_DRAINED = 64  # reads of one pipe in a go; a pipe holds far less
_STEP_S = 0.05  # between two looks at a tree that is being ended
_RESERVED = 4096  # bytes kept free for exit.json, so that a full disk cannot silence the end
_STREAMS = (("stdout.raw", b"o"), ("stderr.raw", b"e"))


class Log:
    """One raw log: appended to as bytes come, counting what a full disk loses."""

    def __init__(self, folder: int, name: str, letter: bytes, arrivals: "Arrivals") -> None:
        self._fd = os.open(name, _APPEND, 0o600, dir_fd=folder)
        self._letter = letter
        self._arrivals = arrivals
        self._gap = 0
        self.size = os.fstat(self._fd).st_size
        self.lost = 0

    def append(self, data: bytes) -> None:
        """Write all of it, or count what cannot be written; never wait for space."""
        at = time.time()
        view = memoryview(data)
        begun = self.size
        while view:
            try:
                written = os.write(self._fd, view)
            except InterruptedError:
                continue
            except OSError:
                break
            self.size += written
            view = view[written:]
        if self.size > begun:
            if self._gap:
                self._arrivals.add(at, self._letter.upper(), begun, self._gap)
                self._gap = 0
            self._arrivals.add(at, self._letter, begun, self.size - begun)
        self._gap += len(view)
        self.lost += len(view)

    def close(self) -> None:
        """Tell of a last gap and let go."""
        if self._gap:
            self._arrivals.add(time.time(), self._letter.upper(), self.size, self._gap)
        os.close(self._fd)

    def sync(self) -> None:
        """Bring what was written to the disk."""
        os.fsync(self._fd)


class Arrivals:
    """When which bytes came: a line of text each; what cannot be written now is tried again."""

    def __init__(self, folder: int) -> None:
        self._fd = os.open("arrivals", _APPEND, 0o600, dir_fd=folder)
        self._waiting = bytearray()

    def add(self, at: float, letter: bytes, offset: int, length: int) -> None:
        """Note that bytes came, or in capitals that they were lost."""
        self._waiting += b"%.6f %s %d %d\n" % (at, letter, offset, length)
        try:
            written = os.write(self._fd, self._waiting)
        except OSError:
            return
        del self._waiting[:written]

    def close(self) -> None:
        """Let go."""
        os.close(self._fd)


class Recorder:
    """Records one run, from the start of the agent to the end of the last process of its tree."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self._plan = plan
        self._folder = os.open(plan["folder"], os.O_RDONLY | os.O_DIRECTORY)
        self._arrivals = Arrivals(self._folder)
        self._logs: dict[int, Log] = {}  # by the descriptor that is read
        self._all_logs: list[Log] = []
        self._poll = select.poll()
        self._started_at = time.time()
        self._born = time.monotonic()
        self._stopping: str | None = None
        self._steps: list[tuple[float, int]] = []  # when to send which signal next
        self._leader = 0
        self._leader_fd: int | None = None
        self._runner_fd = contain.open_pidfd(plan["runner"])
        self._status: int | None = None
        self._drain_until: float | None = None
        self._commands = b""
        self._reserve()

    def run(self) -> None:
        """Start, record, end, tell."""
        contain.become_subreaper()
        wake, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        complaint = self._start()
        if complaint is not None:
            self._finish(started=False, complaint=complaint)
            return
        threading.Thread(target=self._keep_syncing, daemon=True).start()
        self._poll.register(wake, select.POLLIN)
        self._poll.register(0, select.POLLIN)
        os.set_blocking(0, False)
        if self._runner_fd is not None:
            self._poll.register(self._runner_fd, select.POLLIN)
        _ring()
        while self._at_work():
            self._turn(wake)
        self._end_tree()
        self._drain()
        self._finish(started=True)

    def _start(self) -> str | None:
        """Start the agent in a session of its own; give the reason if it cannot be started."""
        plan = self._plan
        pipes = [contain.roomy_pipe(), contain.roomy_pipe()]
        stdin = _stdin(plan, self._folder)
        try:
            process = subprocess.Popen(
                plan["command"],
                stdin=stdin,
                stdout=pipes[0][1],
                stderr=pipes[1][1],
                cwd=plan["cwd"],
                env=plan["environment"],
                start_new_session=True,
                restore_signals=True,
                umask=plan["umask"],  # ours is for our files
            )
        except OSError as error:
            return _why_not(error, plan)
        except ValueError as error:
            return f"it could not be started: {error}"
        finally:
            os.close(stdin)
            for _, writing in pipes:
                os.close(writing)
        process.returncode = 0  # its end is ours to collect
        self._leader = process.pid
        self._leader_fd = contain.open_pidfd(process.pid)
        if self._leader_fd is not None:
            self._poll.register(self._leader_fd, select.POLLIN)
        for (reading, _), (name, letter) in zip(pipes, _STREAMS, strict=True):
            os.set_blocking(reading, False)
            log = Log(self._folder, name, letter, self._arrivals)
            self._logs[reading] = log
            self._all_logs.append(log)
            self._poll.register(reading, select.POLLIN)
        return None

    def _at_work(self) -> bool:
        """Whether the leader lives, or what it wrote may still be in the pipes."""
        if self._status is None:
            return True
        if self._stopping is not None:
            return False  # whoever is left is ended first, and the pipes are drained then
        if self._drain_until is None:
            self._drain_until = time.monotonic() + _DRAIN_S
        return bool(self._logs) and time.monotonic() < self._drain_until

    def _turn(self, wake: int) -> None:
        for fd, _ in self._poll.poll(self._patience()):
            if fd in self._logs:
                self._read(fd)
            elif fd == 0:
                self._obey()
            elif fd == wake:
                _empty(wake)
            elif fd == self._runner_fd:
                self._poll.unregister(fd)
                self._stop("runner_gone", at_once=True)
        ended = contain.reap()
        if self._leader in ended:
            self._status = ended[self._leader]
            if self._leader_fd is not None:
                self._poll.unregister(self._leader_fd)
                self._leader_fd = None
        self._keep_time()

    def _patience(self) -> int:
        """Milliseconds until something is due."""
        due = [when for when, _ in self._steps[:1]]
        if self._drain_until is not None:
            due.append(self._drain_until)
        deadline = self._plan["deadline_s"]
        if deadline is not None and self._stopping is None:
            due.append(self._born + deadline)
        if not due:
            return 60_000
        return max(1, min(60_000, int((min(due) - time.monotonic()) * 1000) + 1))

    def _keep_time(self) -> None:
        now = time.monotonic()
        deadline = self._plan["deadline_s"]
        if deadline is not None and self._stopping is None and now >= self._born + deadline:
            self._stop("timed_out")
        while self._steps and now >= self._steps[0][0]:
            _, number = self._steps.pop(0)
            if number == signal.SIGTERM:
                contain.terminate(contain.descendants(os.getpid()))
            elif number == signal.SIGKILL:
                contain.send(contain.descendants(os.getpid()), signal.SIGKILL)
                self._steps.append((now + _STEP_S, signal.SIGKILL))  # for those just forked
            else:
                contain.send([self._leader], number)

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._poll.unregister(fd)
            os.close(fd)
            del self._logs[fd]
            return
        self._logs[fd].append(data)
        _ring()

    def _obey(self) -> None:
        """Read commands: `stop WHY`, `kill WHY`, `sync`; when they end, the runner has ended."""
        try:
            data = os.read(0, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._poll.unregister(0)
            self._stop("runner_gone", at_once=True)
            return
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            word, _, why = line.decode("ascii", "replace").partition(" ")
            if word == "sync":
                self._sync()
            elif word in ("stop", "kill"):
                self._stop(why or "stopped", at_once=word == "kill")

    def _stop(self, why: str, *, at_once: bool = False) -> None:
        """Begin to end the agent: ask, then insist, then kill; `at_once` leaves out the asking."""
        now = time.monotonic()
        first = self._stopping is None
        self._stopping = self._stopping or why
        grace = self._plan["grace_s"]
        if at_once:
            self._steps = [(now, signal.SIGTERM), (now + min(grace, _LAST_S), signal.SIGKILL)]
        elif first:
            ask = self._plan["ask_signal"]
            self._steps = [
                (now, ask),
                (now + grace, signal.SIGTERM),
                (now + 2 * grace, signal.SIGKILL),
            ]
        self._keep_time()

    def _end_tree(self) -> None:
        """End whoever is left below us, in a loop: a snapshot would miss those just forked."""
        me = os.getpid()
        patience = time.monotonic() + (0.0 if self._stopping else self._plan["grace_s"])
        if left := contain.descendants(me):
            contain.terminate(left)
        while contain.descendants(me) and time.monotonic() < patience:
            contain.reap()
            self._poll.poll(int(_STEP_S * 1000))
            self._drain()
        while left := contain.descendants(me):
            contain.send(left, signal.SIGKILL)
            contain.reap()
            time.sleep(0.001)
        contain.reap()

    def _drain(self) -> None:
        """Take what is in the pipes now."""
        for fd in list(self._logs):
            for _ in range(_MOST_DRAINED):  # one who never stops writing must not keep us
                if fd not in self._logs or not _readable(fd):
                    break
                self._read(fd)

    def _finish(self, *, started: bool, complaint: str | None = None) -> None:
        for log in self._all_logs:
            log.close()
        self._arrivals.close()
        code, number = _how(self._status)
        self._tell(
            {
                "format": 1,
                "started": started,
                "pid": self._leader or None,
                "exit_code": code,
                "signal": number,
                "stopped_for": self._stopping,
                "started_at": self._started_at,
                "ended_at": time.time(),
                "lost_stdout": self._all_logs[0].lost if self._all_logs else 0,
                "lost_stderr": self._all_logs[1].lost if self._all_logs else 0,
                "survivors": len(contain.descendants(os.getpid())),
                "complaint": complaint,
            }
        )
        _ring()

    def _reserve(self) -> None:
        """Take the room for exit.json now, while there is some."""
        self._exit_fd = os.open("exit.json.part", _FRESH, 0o600, dir_fd=self._folder)
        try:
            os.write(self._exit_fd, b" " * _RESERVED)
        except OSError:
            return

    def _tell(self, told: dict[str, Any]) -> None:
        data = json.dumps(told).encode() + b"\n"
        try:
            os.pwrite(self._exit_fd, data, 0)
            os.ftruncate(self._exit_fd, len(data))
            os.fsync(self._exit_fd)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
                raise
        os.rename("exit.json.part", "exit.json", src_dir_fd=self._folder, dst_dir_fd=self._folder)
        os.fsync(self._folder)

    def _keep_syncing(self) -> None:
        """Bring the logs to the disk every second, apart from the loop that must not wait."""
        while True:
            time.sleep(1.0)
            self._sync()

    def _sync(self) -> None:
        for log in self._all_logs:
            try:
                log.sync()
            except OSError:
                return  # a failed fsync is not tried again: what it lost, it lost

    def _on_signal(self, number: int, frame: object) -> None:
        if number == signal.SIGTERM:
            self._stop("stopped")


_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_FRESH = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC


def _stdin(plan: dict[str, Any], folder: int) -> int:
    """What the agent reads: nothing, the kept prompt, or a pipe that the runner holds."""
    if plan["stdin"] == "file":
        return os.open("stdin.raw", os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    if isinstance(plan["stdin"], int):
        return int(plan["stdin"])
    return os.open(os.devnull, os.O_RDONLY)


def _why_not(error: OSError, plan: dict[str, Any]) -> str:
    program, cwd = plan["command"][0], plan["cwd"]
    if not os.path.isdir(cwd):
        return f"there is no folder {cwd!r} to work in"
    if isinstance(error, FileNotFoundError):
        return f"no program called {program!r} was found"
    if isinstance(error, PermissionError):
        return f"{program!r} may not be executed"
    if error.errno == errno.E2BIG:
        return "its arguments are too long for this system"
    if error.errno == errno.ENOEXEC:
        return f"{program!r} is not a program"
    return f"{program!r} could not be started: {error.strerror}"


def _how(status: int | None) -> tuple[int | None, int | None]:
    """An exit code or a signal number."""
    if status is None:
        return None, None
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def _ring() -> None:
    """Wake the runner; if it has many bells to hear, one more tells nothing new."""
    try:
        os.write(1, _RING)
    except OSError:
        return


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(events & select.POLLIN for _, events in poll.poll(0))


def _empty(fd: int) -> None:
    try:
        os.read(fd, 4096)
    except OSError:
        return


def _read_plan() -> dict[str, Any]:
    """Read what to do: eight digits that tell its length, and so many bytes of JSON."""
    plan: dict[str, Any] = json.loads(_read_exactly(int(_read_exactly(8))))
    return plan


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size and (more := os.read(0, size - len(data))):
        data += more
    return data


def main() -> NoReturn:
    """Run as a process of its own."""
    umask = os.umask(0o077)
    os.set_blocking(1, False)
    Recorder({**_read_plan(), "umask": umask}).run()
    sys.exit(0)
