"""A run folder as tests make one: what its files contain, and how to append to its logs."""

import os
import subprocess
import sys

from nightrook.model.events import Usage
from nightrook.store.file_names import Log
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo, RunInfo, VerdictInfo

INFO = RunInfo(
    agent="claude",
    command=["claude", "-p", "Fix the tests"],
    cwd="/work",
    prompt="Fix the tests",
    model="big",
    permission="edit",
    started_at=1000.5,
    resumed_from="khx7",
    continues=True,
    earlier=Usage(input=2),
    loop="nine",
    runner_pid=4,
    runner_ticks=5,
    recorder_pid=6,
    recorder_ticks=7,
    nightrook_version="0.1.0",
)
EXIT = ExitInfo(
    started=True,
    pid=8,
    exit_code=1,
    signal=None,
    stopped_for="timed_out",
    started_at=1000.5,
    ended_at=1002.5,
    lost_stdout=9,
    lost_stderr=10,
    survivors=0,
    complaint="none",
)
VERDICT = VerdictInfo(
    status="denied",
    sentence="it finished, but 1 tool call was not permitted",
    exit_code=4,
    ended_at=1002.5,
    cost_usd=0.25,
    spent_usd=0.125,
    cost_source="native",
    turns=2,
    session="s",
    model="big",
    total=Usage(input=3, output=1),
    saved_facts={"denials": 1},
)


def append(folder: RunFolder, log: Log, data: bytes) -> None:
    fd = folder.open_log(log)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def run_python(code: str, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
