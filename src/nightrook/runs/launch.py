"""Launches a run: makes its folder, starts its recorder, records the process ids."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Literal

import msgspec

from nightrook.adapter.agent import Invocation
from nightrook.process.liveness import start_ticks
from nightrook.process.recorder_process import Plan, RecorderProcess
from nightrook.runs.dialogue import Dialogue
from nightrook.runs.standard_input import PipedInput
from nightrook.store.file_names import RECORDER_FILES, STDIN
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo
from nightrook.version import __version__

_LONGEST_PROMPT = 100_000


def make_folder(home: Path, info: RunInfo, call: Invocation) -> RunFolder:
    """Make the folder of a run: reserve room for its verdict, and store an input that needs it."""
    folder = create_run(home, info)
    folder.reserve()
    if _is_stored(call, info.prompt or ""):
        with folder.opened() as files:
            files.create(STDIN, call.stdin or b"")
    return folder


async def start_recorder(
    folder: RunFolder,
    call: Invocation,
    *,
    cwd: str,
    timeout_s: float | None,
    max_log_size: int | None,
    source: Dialogue | PipedInput | None,
) -> RecorderProcess:
    """Start the recorder, which starts the agent; if that fails, nothing is left running.

    The agent reads from `source`, or the input of the call.
    """
    recorder = None
    runner_ticks = start_ticks(os.getpid())
    try:
        with _stdin(folder, call, source) as stdin:
            recorder = RecorderProcess(
                Plan(
                    folder=folder.path,
                    files=RECORDER_FILES,
                    command=call.command,
                    cwd=cwd,
                    environment={**call.environment, "ROOK_RUN_DIR": str(folder.path)},
                    stdin=stdin,
                    max_log_size=max_log_size,
                    deadline_s=timeout_s,
                    ask_signal=call.stop_signal,
                )
            )
        if source is not None:
            source.begin(folder, call.stdin or b"")
        _record_pids(folder, recorder, runner_ticks)
    except BaseException:
        if source is not None:
            await source.close()
        if recorder is not None:
            recorder.close()
        raise
    return recorder


def _is_stored(call: Invocation, prompt: str) -> bool:
    """True if the input is kept as `stdin.raw`: a short prompt is in run.json already.

    What goes through a pipe is kept as it is passed on.
    """
    if call.keep_stdin_open or call.stdin_is_pipe or call.stdin is None:
        return False
    return len(call.stdin) > _LONGEST_PROMPT or call.stdin != prompt.encode()


@contextmanager
def _stdin(
    folder: RunFolder, call: Invocation, source: Dialogue | PipedInput | None
) -> Iterator[Literal["null", "file"] | int]:
    """Yield the agent's stdin: a pipe fed by a source, the file of the input, or nothing."""
    if source is not None:
        yield source.reading
    elif call.stdin is None:
        yield "null"
    elif (folder.path / STDIN).exists():
        yield "file"
    else:
        with TemporaryFile(dir=folder.path) as file:  # has no name
            file.write(call.stdin)
            file.seek(0)
            yield file.fileno()


def _record_pids(folder: RunFolder, recorder: RecorderProcess, runner_ticks: int | None) -> None:
    """Record the process ids in run.json, so that a run whose processes died can be judged."""
    info = folder.info()
    if info is None:
        return
    folder.write_info(
        msgspec.structs.replace(
            info,
            runner_pid=os.getpid(),
            runner_ticks=runner_ticks,
            recorder_pid=recorder.pid,
            recorder_ticks=recorder.ticks,
            nightrook_version=__version__,
        )
    )
