"""The recorder: its own process, which starts an agent, saves every byte and leaves no process.

Theory of operation
-------------------

Three processes take part in a run, each in a session of its own:

    runner (rook) ──plan, commands──▶ recorder ──starts──▶ agent (leader) ──▶ its tree
       ▲  ▲                            │  │  ▲                 │
       │  └────────── bells ───────────┘  │  └── stdout, stderr ┘
       └── reads ── stdout.raw, stderr.raw, arrivals, exit.json ◀┘ writes

Nothing between the agent and the disk decodes, waits for a screen or can be killed by Ctrl-C. That
is why the recorder is a process and not a thread: a runner that is busy, stopped, crashed or killed
loses no byte and leaves no agent behind.

*What it may rely on.* The standard library, started as `python -I -S`: importing more would cost
more CPU than most runs. On its standard input come the plan (eight digits with its length, then the
plan, marshalled) and then commands, one a line: `sync`, `stop WHY`, `kill WHY`. Its standard output
is the bell: a line of `arrivals` after each append, so that the runner need not read that file.

*The states*, in order:

    starting    logs are open; if one cannot be, or the program cannot start, `exit.json` says why
    recording   the leader lives: poll pipes, commands, signals, the runner's and the leader's end
    draining    the leader ended by itself; a grandchild may hold the pipe for `_DRAIN_S` more
    ending      what is left of the tree gets SIGTERM, then SIGKILL until nobody is left
    over        pipes are read to their end, logs are synced and closed, `exit.json` is written

`_stop` puts signals with their times into `_steps`: the one that asks (SIGINT for agents that write
a result for it), SIGTERM after the grace, SIGKILL after twice the grace; `kill` leaves out the
first. `_keep_time` sends what is due. A leader that ended by itself is never recorded as stopped.

*Who watches whom.* The end of standard input or of the runner's process means that the runner is
gone: the tree is killed (`runner_gone`). If the recorder itself is killed, the runner, or the next
command that looks at the run, finds what lives on by `trees.MARKER` in its environment; the
recorder is the subreaper of the tree, so orphans of the agent stay below it until then.

*What a reader of the logs may rely on.* Bytes are appended at the recorder's own position and never
changed. A line of `arrivals` comes after its bytes. Bytes for which the disk had no room are a gap
in `arrivals` and a count in `exit.json`, which has room reserved from the start and holds the size
and SHA-256 of each log: whoever appends to a log later is found out.
"""

from __future__ import annotations

import errno
import gc
import marshal
import os
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

from nightrook.process import trees
from nightrook.process.exit_file import ExitFile
from nightrook.process.plain_file import open_plain
from nightrook.process.raw_log import Arrivals, Log, Room
from nightrook.process.systems.this_system import system

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any, NoReturn

_DRAIN_S = 2.0  # how long to wait for a grandchild that holds the pipe after the leader's end
_LAST_S = 0.5  # the time that a tree gets if it is ended at once
_HOPELESS_S = 5.0  # after this long not even SIGKILL will end it
_MOST_DRAINED = 64  # reads of one pipe in a row; a pipe holds far less
_STEP_S = 0.02  # between two looks at a tree that is being ended
_SYNC_S = 1.0


class Recorder:
    """Records one run, from the start of the agent to the end of the last process of its tree."""

    def __init__(self, plan: dict[str, Any], umask: int) -> None:
        self._plan = plan
        self._umask = umask
        self._folder = os.open(plan["folder"], os.O_RDONLY | os.O_DIRECTORY)
        self._exit_file = ExitFile(self._folder, plan["files"]["exit"])
        self._logs: list[Log] = []
        self._room = Room(plan["max_log_size"])
        self._reading: dict[int, Log] = {}  # by the descriptor that is read
        self._poll = select.poll()
        self._started_at = time.time()
        self._born = time.monotonic()
        self._deadline: float | None = None
        self._stopping: str | None = None
        self._steps: list[tuple[float, int]] = []  # when to send which signal next
        self._leader = 0
        self._tree: system.Tree  # once it has been started
        self._leader_fd: int | None = None
        self._runner_fd = system.end_descriptor(plan["runner"])
        self._status: int | None = None
        self._drain_until = 0.0
        self._ending = False  # the leader has ended, and now its tree must
        self._killing_since: float | None = None
        self._commands = b""
        self._told_to_sync = threading.Event()
        self._over = False
        self._owes_answer = False
        self._left_behind: list[str] = []
        self._missing_program: str | None = None

    def run(self) -> None:
        """Start the agent, record it, end it and write how it ended."""
        system.become_subreaper()  # guards: orphans-adopted
        self._wake, wake = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)  # the pipe reports it
        complaint = self._open_logs() or self._start()
        if complaint is None:
            self._record()
        self._finish(complaint)

    def _record(self) -> None:
        syncing = threading.Thread(target=self._keep_syncing, daemon=True)
        syncing.start()
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(0, select.POLLIN)
        os.set_blocking(0, False)
        if self._runner_fd is not None:
            self._poll.register(self._runner_fd, select.POLLIN)
        _ring()
        while self._at_work():
            self._turn()
        self._drain()  # guards: pipes-drained
        self._over = True
        self._told_to_sync.set()
        syncing.join()

    def _open_logs(self) -> str | None:
        """Open the logs before the agent starts; return the reason if that fails."""
        try:
            files = self._plan["files"]
            arrivals = Arrivals(self._folder, files["arrivals"], _ring)
            for name, letter in (("stdout", b"o"), ("stderr", b"e")):
                self._logs.append(Log(self._folder, files[name], letter, arrivals, self._room))
        except OSError as error:
            return f"{error.filename} cannot be written: {error.strerror}"
        return None

    def _start(self) -> str | None:
        """Start the agent in its own session; return the reason if that fails."""
        plan = self._plan
        try:
            stdin = _stdin(plan, self._folder)
        except OSError as error:
            return f"{plan['files']['stdin']} cannot be read: {error.strerror}"
        pipes = [trees.roomy_pipe(), trees.roomy_pipe()]
        own = system.raise_oom_score()  # of what we start: the system ends it before us
        try:
            process = subprocess.Popen(
                plan["command"],
                stdin=stdin,
                stdout=pipes[0][1],
                stderr=pipes[1][1],
                cwd=plan["cwd"],
                env=plan["environment"],
                start_new_session=True,  # guards: agent-session
                restore_signals=True,
                # guards: agent-umask
                umask=self._umask,  # our own umask is for our files
            )
        except OSError as error:
            self._missing_program = _missing_program(error, plan)
            return _why_not(error, plan)
        except ValueError as error:
            return f"it could not be started: {error}"
        finally:
            system.lower_oom_score(own)
            os.close(stdin)
            for _, writing in pipes:
                os.close(writing)
        process.returncode = 0  # its exit status is collected by `_reap`
        self._leader = process.pid
        self._tree = trees.tree_of(process.pid, plan["environment"][trees.MARKER])
        self._leader_fd = system.end_descriptor(process.pid)
        if self._leader_fd is not None:
            self._poll.register(self._leader_fd, select.POLLIN)
        for (reading, _), log in zip(pipes, self._logs, strict=True):
            os.set_blocking(reading, False)
            self._reading[reading] = log
            self._poll.register(reading, select.POLLIN)
        if plan["deadline_s"] is not None:
            self._deadline = self._born + plan["deadline_s"]
        return None

    def _at_work(self) -> bool:
        """True while the leader lives, its pipes are read, or a process of its tree is left."""
        now = time.monotonic()
        # guards: unkillable-process
        if self._killing_since is not None and now > self._killing_since + _HOPELESS_S:
            return False
        if self._status is None:
            return True
        if not self._ending:
            if self._stopping is None and self._reading and now < self._drain_until:
                return True
            if trees.is_anybody_left(self._tree):  # looking at all processes takes long
                self._end_rest(now)
        return trees.is_anybody_left(self._tree)

    def _turn(self) -> None:
        """Wait for something to happen, and handle it."""
        for fd, _ in self._poll.poll(self._patience_ms()):
            if fd in self._reading:
                self._read(fd)
            elif fd == 0:
                self._obey()
            elif fd == self._wake:
                self._hear_signals()
            elif fd == self._leader_fd:
                self._reap()
            elif fd == self._runner_fd:
                self._poll.unregister(fd)
                self._stop("runner_gone", at_once=True)  # guards: ends-with-runner
        if self._steps or self._deadline is not None:
            self._keep_time()
        if self._owes_answer:
            self._owes_answer = not _ring(self._plan["answer"])

    def _hear_signals(self) -> None:
        """Handle the signals that arrived: SIGTERM stops the agent, SIGHUP and SIGINT do not."""
        numbers = os.read(self._wake, 4096)
        if signal.SIGTERM in numbers:
            self._stop("stopped")
        if signal.SIGCHLD in numbers:
            self._reap()

    def _reap(self) -> None:
        ended = trees.reap()
        if self._leader not in ended or self._status is not None:
            return
        self._status = ended[self._leader]
        self._drain_until = time.monotonic() + _DRAIN_S
        self._deadline = None
        if self._leader_fd is not None:
            self._poll.unregister(self._leader_fd)
            self._leader_fd = None

    def _patience_ms(self) -> int | None:
        """Milliseconds until something is due; None if nothing is."""
        due = [when for when, _ in self._steps[:1]]
        if self._deadline is not None:
            due.append(self._deadline)
        if self._status is not None:
            due.append(time.monotonic() + _STEP_S if self._ending else self._drain_until)
        return max(1, int((min(due) - time.monotonic()) * 1000) + 1) if due else None

    def _keep_time(self) -> None:
        now = time.monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._stop("timed_out")
        while self._steps and now >= self._steps[0][0]:
            _, number = self._steps.pop(0)
            if number == signal.SIGTERM:
                trees.terminate(self._tree.pids())
            elif number == signal.SIGKILL:
                self._killing_since = self._killing_since or now
                trees.send(self._tree.pids(), signal.SIGKILL)
                self._steps.append((now + _STEP_S, signal.SIGKILL))  # for those just forked
            else:
                self._tree.remember()
                trees.send([self._leader], number)

    def _read(self, fd: int) -> None:
        log = self._reading[fd]
        try:
            data = os.read(fd, log.most)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            log.append(data)
            return
        self._poll.unregister(fd)
        os.close(fd)
        del self._reading[fd]

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
            self._stop("runner_gone", at_once=True)  # guards: ends-with-runner
            return
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            word, _, why = line.decode("ascii", "replace").partition(" ")
            if word == "sync":
                self._told_to_sync.set()
            elif word in ("stop", "kill"):
                self._owes_answer = True
                self._stop(why or "stopped", at_once=word == "kill")

    def _stop(self, why: str, *, at_once: bool = False) -> None:
        """Start to end the agent: ask, then SIGTERM, then SIGKILL; `at_once` does not ask first."""
        now = time.monotonic()
        first = self._stopping is None
        grace = self._plan["grace_s"]
        ended = self._status is not None  # by itself: it was not stopped
        if not ended:
            self._stopping = self._stopping or why
            self._deadline = None
        if at_once:
            self._steps = [(now, signal.SIGTERM), (now + min(grace, _LAST_S), signal.SIGKILL)]
        elif first and not ended:
            self._steps = [
                (now, self._plan["ask_signal"]),
                (now + grace, signal.SIGTERM),
                (now + 2 * grace, signal.SIGKILL),
            ]
        self._keep_time()

    def _end_rest(self, now: float) -> None:
        """Start ending the rest of the leader's tree, at once if that was requested."""
        self._ending = True
        if self._stopping is None:
            self._left_behind = self._tree.names()
        kills = [when for when, number in self._steps if number == signal.SIGKILL]
        soonest = min([now + self._plan["grace_s"], *kills])
        self._steps = [(now, signal.SIGTERM), (soonest, signal.SIGKILL)]
        self._keep_time()

    def _drain(self) -> None:
        """Read the bytes that are in the pipes now."""
        for fd in list(self._reading):
            for _ in range(_MOST_DRAINED):  # a process that never stops writing must not keep us
                if fd not in self._reading or not _readable(fd):
                    break
                self._read(fd)

    def _finish(self, complaint: str | None) -> None:
        for log in self._logs:
            log.close()
        code, number = _how(self._status)
        lost = [log.lost for log in self._logs] or [0, 0]
        is_left = complaint is None and trees.is_anybody_left(self._tree)
        survivors = [pid for pid in self._tree.pids() if pid > 0] if is_left else []
        opened = zip(("stdout", "stderr"), self._logs, strict=False)
        self._exit_file.write(
            {
                "format": 1,
                "started": complaint is None,
                "pid": self._leader or None,
                "exit_code": code,
                "signal": number,
                "stopped_for": self._stopping,
                "started_at": self._started_at,
                "ended_at": time.time(),
                "lost_stdout": lost[0],
                "lost_stderr": lost[-1],
                "log_limit": self._plan["max_log_size"] if self._room.is_used_up else None,
                "logs": {name: {"size": log.size, "sha256": log.sha256} for name, log in opened},
                "left_behind": self._left_behind,
                "survivors": len(survivors),
                "complaint": complaint,
                "missing_program": self._missing_program,
            }
        )
        _ring()

    def _keep_syncing(self) -> None:
        """Sync the logs to the disk every second and on request, apart from the reading."""
        while not self._over:
            self._told_to_sync.wait(_SYNC_S)  # guards: silent-log-synced
            self._told_to_sync.clear()
            self._sync()

    def _sync(self) -> None:
        for log in self._logs:
            with suppress(OSError):
                log.sync()


def _stdin(plan: dict[str, Any], folder: int) -> int:
    """The agent's standard input: nothing, the saved prompt, or a pipe from the runner."""
    if plan["stdin"] == "file":
        return open_plain(plan["files"]["stdin"], os.O_RDONLY, folder)
    if isinstance(plan["stdin"], int):
        return int(plan["stdin"])
    return os.open(os.devnull, os.O_RDONLY)


def _why_not(error: OSError, plan: dict[str, Any]) -> str:
    program, cwd = plan["command"][0], plan["cwd"]
    if not os.path.isdir(cwd):
        return f"the working folder {cwd!r} does not exist"
    if isinstance(error, FileNotFoundError):
        return f"program {program!r} was not found"
    if isinstance(error, PermissionError):
        return f"no permission to execute {program!r}"
    if error.errno == errno.E2BIG:
        return "its arguments are too long for this system"
    if error.errno == errno.ENOEXEC:
        return f"{program!r} is not a program"
    return f"{program!r} could not be started: {error.strerror}"


def _missing_program(error: OSError, plan: dict[str, Any]) -> str | None:
    """The program that is not installed, if that is why the agent could not be started."""
    if isinstance(error, FileNotFoundError) and os.path.isdir(plan["cwd"]):
        return str(plan["command"][0])
    return None


def _how(status: int | None) -> tuple[int | None, int | None]:
    """An exit code or a signal number."""
    if status is None:
        return None, None
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    return os.WEXITSTATUS(status), None


def _ring(bell: bytes = b"\n") -> bool:
    """Wake the runner; if its pipe is full of bells, one more can be lost."""
    try:
        os.write(1, bell)
    except OSError:
        return False
    return True


def _readable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(events & select.POLLIN for _, events in poll.poll(0))


def _read_plan() -> dict[str, Any]:
    """Read the plan: its length in eight digits, then the plan itself."""
    plan: dict[str, Any] = marshal.loads(_read_exactly(int(_read_exactly(8))))
    return plan


def _read_exactly(size: int) -> bytes:
    data = b""
    while len(data) < size and (more := os.read(0, size - len(data))):
        data += more
    return data


def main() -> NoReturn:
    """Run as a separate process."""
    umask = os.umask(0o077)  # guards: recorder-umask
    os.set_blocking(1, False)
    Recorder(_read_plan(), umask).run()
    gc.freeze()  # searching all modules for garbage takes a tenth of a recorder's CPU time
    sys.exit(0)
