"""Starts real recorders for tests, and waits for what they write."""

import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from nightrook.process.recorder_process import Plan, RecorderProcess
from nightrook.store.file_names import RECORDER_FILES

PATIENCE_S = 120.0  # a busy machine is slow, and what never comes is rare


def python(code: str) -> list[str]:
    """A command that runs a piece of Python, quickly."""
    return [sys.executable, "-I", "-S", "-c", code]


def start(folder: Path, command: list[str], **options: Any) -> RecorderProcess:
    """Start a recorder that keeps a command's output in a folder."""
    plan = Plan(
        files=RECORDER_FILES,
        folder=folder,
        command=command,
        cwd=options.pop("cwd", str(folder)),
        environment=options.pop("environment", dict(os.environ)),
        **{"grace_s": 0.3, "ask_signal": signal.SIGTERM, **options},
    )
    return RecorderProcess(plan)


def finish(recorder: RecorderProcess, folder: Path) -> dict[str, Any]:
    """Wait for the end of a recorder and give its exit.json."""
    wait_for(lambda: recorder.hear() is None, recorder.bell)
    recorder.close()
    told: dict[str, Any] = json.loads((folder / "exit.json").read_text())
    return told


def record(folder: Path, command: list[str], **options: Any) -> dict[str, Any]:
    """Record a command to its end."""
    return finish(start(folder, command, **options), folder)


def wait_for(condition: Any, fd: int | None = None) -> None:
    """Wait until something is true, looking again whenever a descriptor can be read."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until, "it never came true"
        select.select([fd] if fd is not None else [], [], [], 0.02)


def is_gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return stat[stat.rfind(b")") + 2 :].split()[0] in (b"Z", b"X")
