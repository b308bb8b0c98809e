"""Finds out which agents are installed, and in which version."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence

import msgspec

_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?(?:[-+.][0-9A-Za-z.-]+)?")
_MOST_READ = 4096


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A program on this machine."""

    path: str | None
    """Path of the program; None if it is missing."""

    version: str | None = None
    problem: str | None = None
    """The reason why its version is not known."""


def installed(
    command: Sequence[str],
    *,
    keeps_variable: Callable[[str], bool],
    patience_s: float,
) -> Installed:
    """Find a program and read its version; one that hangs is ended after `patience_s`."""
    path = shutil.which(command[0])
    if path is None:
        return Installed(path=None)
    environment = {name: value for name, value in os.environ.items() if keeps_variable(name)}
    try:
        process = subprocess.Popen(
            [path, *command[1:], "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # what it starts is ended with it
        )
    except OSError as error:
        return Installed(path=path, problem=f"cannot be started: {error.strerror}")
    with process:
        try:
            out, _ = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            return Installed(
                path=path, problem=f"did not print its version within {patience_s:g} s"
            )
        finally:
            _end(process)  # guards: version-program-ended
    found = _VERSION.search(out[:_MOST_READ].decode("utf-8", "replace"))
    if found is None:
        return Installed(path=path, problem=f"prints no version (exit {process.returncode})")
    return Installed(path=path, version=found[0])


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the rest of a program's process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
