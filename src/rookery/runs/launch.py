"""Launches a run: makes its folder, starts its recorder, records the process ids."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

import msgspec

from rookery import __version__
from rookery.adapter.agent import Invocation
from rookery.process.liveness import start_ticks
from rookery.process.recorder_process import Plan, RecorderProcess
from rookery.runs.dialogue import Dialogue
from rookery.store import runs
from rookery.store.file_names import RECORDER_FILES, STDIN
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import RunInfo

_LONGEST_PROMPT = 100_000


def make_folder(home: Path, info: RunInfo, call: Invocation) -> RunFolder:
    """Make the folder of a run, with room reserved for its verdict and a long input stored."""
    folder = runs.create(home, info)
    folder.reserve()
    if call.stdin is not None and _is_stored(call):
        with folder.opened() as files:
            files.create(STDIN, call.stdin)
    return folder


async def start_recorder(
    folder: RunFolder,
    call: Invocation,
    *,
    cwd: str,
    timeout_s: float | None,
    max_log_size: int | None,
    dialogue: Dialogue | None,
) -> RecorderProcess:
    """Start the recorder, which starts the agent; if that fails, nothing is left running."""
    recorder = None
    try:
        with _stdin(folder, call, dialogue) as stdin:
            recorder = RecorderProcess(
                Plan(
                    folder=folder.path,
                    files=RECORDER_FILES,
                    command=call.command,
                    cwd=cwd,
                    environment={**call.environment, "ROOKERY_RUN_DIR": str(folder.path)},
                    stdin=stdin,
                    max_log_size=max_log_size,
                    deadline_s=timeout_s,
                    ask_signal=call.stop_signal,
                )
            )
        if dialogue is not None:
            dialogue.begin(folder, call.stdin or b"")
        _record_pids(folder, recorder.pid)
    except BaseException:
        if dialogue is not None:
            await dialogue.close()
        if recorder is not None:
            recorder.close()
        raise
    return recorder


def _is_stored(call: Invocation) -> bool:
    """Whether the input is kept as `stdin.raw`; a short one is the prompt in run.json."""
    return not call.keep_stdin_open and len(call.stdin or b"") > _LONGEST_PROMPT


@contextmanager
def _stdin(
    folder: RunFolder, call: Invocation, dialogue: Dialogue | None
) -> Iterator[Literal["null", "file"] | int]:
    """What the agent reads as its stdin: a dialogue, the input, or nothing."""
    if dialogue is not None:
        yield dialogue.reading
    elif call.stdin is None:
        yield "null"
    elif _is_stored(call):
        yield "file"
    else:
        with TemporaryFile(dir=folder.path) as file:  # has no name
            file.write(call.stdin)
            file.seek(0)
            yield file.fileno()


def _record_pids(folder: RunFolder, recorder: int) -> None:
    """Record the process ids in run.json, so that a run whose processes died can be healed."""
    info = folder.info()
    if info is None:
        return
    runner = os.getpid()
    folder.write_info(
        msgspec.structs.replace(
            info,
            runner_pid=runner,
            runner_ticks=start_ticks(runner),
            recorder_pid=recorder,
            recorder_ticks=start_ticks(recorder),
            rookery_version=__version__,
        )
    )
