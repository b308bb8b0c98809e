"""What `rook watch` costs while nothing happens, and how soon it shows a new line."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from starting import ROOK, rook_environment
from timing import Row

MOST_IDLE = 0.01  # of a core
MOST_LAG_S = 1.0
PER_FOLDER = 10
_WITHOUT_INOTIFY = """
from nightrook.process.folder_watch import FolderWatch
FolderWatch.opened = classmethod(lambda _: None)
from nightrook.cli.main import main
main()
"""


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool


def watching(setting: Setting) -> Iterator[Row]:
    """Watch many files that do not change, then one that does."""
    files, idle_s, lines = (500, 1.0, 2) if setting.quick else (20_000, 20.0, 50)
    home = setting.folder / "watched"
    path = write_files(home, files)
    without = [sys.executable, "-c", _WITHOUT_INOTIFY]
    for how, command in (("inotify", [str(ROOK)]), ("polling", without)):
        with watch(command, home, setting.folder) as process:
            share = idle_share(process.pid, idle_s)
            against = f"{files} files, {how}"
            required = f"≤ {MOST_IDLE:.1%} of a core"
            yield Row("rook watch, idle", against, f"{share:.2%}", required, share <= MOST_IDLE)
            lag = max(lag_of(process, path, number) for number in range(lines))
            required = f"≤ {MOST_LAG_S:.1f} s"
            yield Row("rook watch, new line", against, f"{lag:.2f} s", required, lag <= MOST_LAG_S)


def line(number: int, session: str) -> str:
    """A line of a session."""
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": "claude-opus-4-5",
        "content": [{"type": "text", "text": f"Step {number}."}],
        "usage": {"input_tokens": 3, "output_tokens": 9},
    }
    fields = {"type": "assistant", "sessionId": session, "isSidechain": False, "cwd": "/work"}
    return json.dumps({**fields, "timestamp": _now(), "message": message}) + "\n"


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def write_files(home: Path, files: int) -> Path:
    """Write sessions that were last changed long ago, and one now; return its path."""
    for number in range(files):
        folder = home / ".claude" / "projects" / f"-work-{number // PER_FOLDER}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"session-{number}.jsonl"
        path.write_text(line(number, f"session-{number}"))
        os.utime(path, (1, 1))
    path.write_text(line(0, path.stem))
    return path


@contextmanager
def watch(command: Sequence[str], home: Path, folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """The command, once it shows the session that is active."""
    inherited: Mapping[str, str] = rook_environment(folder)
    kept = {name: inherited[name] for name in ("PATH", "PYTHONPYCACHEPREFIX")}
    environment = {**kept, "HOME": str(home), "ROOK_HOME": str(folder / "watching-home")}
    with subprocess.Popen(
        [*command, "watch", "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def idle_share(pid: int, seconds: float) -> float:
    """Which share of a core a process takes while nothing happens."""
    time.sleep(1.0)
    before, began = _cpu(pid), time.monotonic()
    time.sleep(seconds)
    return (_cpu(pid) - before) / (time.monotonic() - began)


def lag_of(process: "subprocess.Popen[str]", path: Path, number: int) -> float:
    """How long it takes until a new line is shown."""
    assert process.stdout is not None
    began = time.monotonic()
    with path.open("a") as file:
        file.write(line(number + 1, path.stem))
    wanted = f"Step {number + 1}."
    while wanted not in process.stdout.readline():
        pass
    return time.monotonic() - began


def _cpu(pid: int) -> float:
    """The CPU time of a process; it is too little for the clock ticks of its status."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
