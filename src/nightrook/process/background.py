"""A process in the background: in its own session, without the terminal that it started from."""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn, TypeVar

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.process.systems.this_system import system

Report = TypeVar("Report")


class _Message(msgspec.Struct, frozen=True, kw_only=True):
    """The one report of the process in the background: how its work started, or why it did not."""

    report: msgspec.Raw = msgspec.Raw(b"null")
    error: str | None = None


_DIED = _Message(error="the background runner died before it could report its start")


def in_background(work: Callable[[Callable[[Report], None]], object], kind: type[Report]) -> Report:
    """Call `work` in a new process; return its report, while it continues there.

    `work` is called with the function that reports. A NightrookError says why it did not start.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    runner = os.fork()
    if runner == 0:
        os.close(reading)
        _become_runner(work, _StartPipe(writing))
    os.close(writing)
    try:
        with open(reading, "rb") as pipe:
            data = pipe.read()
    except KeyboardInterrupt:  # its name was not printed yet, so stop it
        os.kill(runner, signal.SIGTERM)
        os.waitpid(runner, 0)
        raise
    message = msgspec.json.decode(data, type=_Message) if data else _DIED
    if message.error is not None:
        raise NightrookError(message.error)
    return msgspec.json.decode(message.report, type=kind)


def write_errors_to(log: int) -> None:
    """Write the errors of this process to an open file, and close its descriptor."""
    os.dup2(log, 2)
    os.close(log)


class _StartPipe:
    """Reports how the work started to the process that the user waits for, once."""

    def __init__(self, pipe: int) -> None:
        self._pipe: int | None = pipe

    def send(self, message: _Message) -> None:
        """Send the message and close the pipe; if its reader is gone, the work continues."""
        if self._pipe is None:
            return
        try:
            with open(self._pipe, "wb") as pipe:
                pipe.write(msgspec.json.encode(message))
        except BrokenPipeError:
            return
        finally:
            self._pipe = None


def _become_runner(
    work: Callable[[Callable[[Report], None]], object], pipe: _StartPipe
) -> NoReturn:
    """Do the work, without the terminal; this process does nothing else."""
    code = 1
    try:
        os.setsid()  # guards: background-session
        _leave_terminal()
        system.become_subreaper()  # what a killed recorder leaves behind becomes ours
        work(lambda report: pipe.send(_Message(report=msgspec.Raw(msgspec.json.encode(report)))))
        code = 0
    except NightrookError as error:
        pipe.send(_Message(error=str(error)))
        sys.stderr.write(f"{error}\n")
    except BaseException as error:
        pipe.send(_Message(error=f"the background runner failed: {error!r}"))
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _leave_terminal() -> None:
    """Close the terminal and all inherited files, so that no other process waits for this one."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for number in system.open_files():  # where they are not listed, inherited ones stay open
        if number > 2 and _is_inherited(number):  # guards: background-inherits-nothing
            os.close(number)


def _is_inherited(number: int) -> bool:
    """Return whether a descriptor was inherited; those that Python opens are not inheritable."""
    try:
        return os.get_inheritable(number)
    except OSError:
        return False  # it was used for the listing itself
