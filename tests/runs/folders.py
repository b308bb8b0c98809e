"""Folders of runs that no agent wrote: some have ended, some are run by the test itself."""

import os
import time
from pathlib import Path
from typing import Any

import msgspec

from nightrook.process.liveness import start_ticks
from nightrook.store.run_folder import RunFolder, create_run
from tests.conftest import SESSION
from tests.store.samples import INFO, VERDICT, append

replace = msgspec.structs.replace


def ended(home: Path, verdict: dict[str, Any] | None = None, **info: Any) -> RunFolder:
    """Make a run that has ended."""
    folder = create_run(home, replace(INFO, runner_pid=None, recorder_pid=None, **info))
    folder.write_verdict(replace(VERDICT, **verdict or {}))
    return folder


def live(home: Path, lines: int, **more: Any) -> RunFolder:
    """Make a run that this process runs, of which so many lines have come."""
    me, now = os.getpid(), time.time()
    info = replace(INFO, started_at=now, continues=False, runner_pid=me, recorder_pid=None)
    folder = create_run(home, replace(info, runner_ticks=start_ticks(me), **more))
    append(folder, "stdout", b"".join(SESSION.read_bytes().splitlines(keepends=True)[:lines]))
    return folder
