"""The guard of a command: its own process, which leaves none of the command's processes behind.

It is started as `python -I -S` and needs the standard library only. When its standard input ends,
or the process that started it does, it kills the whole tree of the command. It writes the wait
status of the command to its standard output; the command writes to its standard error.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

from nightrook.process import trees
from nightrook.process.systems.this_system import system

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run as a separate process; its last arguments are a process id and the command."""
    starter, *command = sys.argv[4:]
    system.become_subreaper()  # guards: check-descendants
    wake = _wake_at_signals()
    starter_fd = system.end_descriptor(int(starter))
    process = subprocess.Popen(  # guards: check-input-closed
        command, stdin=subprocess.DEVNULL, stdout=2, stderr=2, start_new_session=True
    )
    process.returncode = 0  # its exit status is collected by `trees.reap`
    leader = process.pid
    ended: dict[int, int] = {}
    poll = select.poll()
    for fd in (wake, 0, *([] if starter_fd is None else [starter_fd])):
        poll.register(fd, select.POLLIN)
    while leader not in ended:
        fds = {fd for fd, _ in poll.poll()}
        if fds != {wake} or signal.SIGTERM in os.read(wake, 4096):  # guards: check-ends-with-loop
            break
        ended |= trees.reap()
    _kill_tree(leader)
    ended |= trees.reap()
    os.write(1, b"%d\n" % ended.get(leader, signal.SIGKILL))
    sys.exit(0)


def _wake_at_signals() -> int:
    """A descriptor from which the numbers of the signals that arrive can be read."""
    reading, writing = os.pipe()
    for fd in (reading, writing):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    return reading


def _kill_tree(leader: int) -> None:
    if system.is_available():
        trees.kill(trees.tree_of(leader, os.environ[trees.MARKER]).pids)
    else:
        trees.send([-leader], signal.SIGKILL)
