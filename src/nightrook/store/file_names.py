"""The names of all files in a run folder, and of the folders around it."""

from typing import Literal

RUNS = "runs"
"""The folder below home that has a folder for each run."""

NEW = "new"
"""The folder below home where runs are made before they have a name."""

INFO = "run.json"
EXIT = "exit.json"
VERDICT = "verdict.json"
STDOUT = "stdout.raw"
STDERR = "stderr.raw"
STDIN = "stdin.raw"
ARRIVALS = "arrivals"
OUTPUT = "output.md"
DECISIONS = "decisions.jsonl"
QUESTIONS = "questions.jsonl"
"""Questions of the agent of a run on another machine, and how each was closed."""

FLEET = "fleet.json"
"""Progress of copying a run on another machine, and the machine it runs on."""

RESULT_BUNDLE = "result.bundle"
"""The commits that a run on another machine made."""

RESULT_FILES = "files.tar"
"""The untracked files that came back from another machine."""

ORIGIN = "repository.json"
"""Place that the repository of a run on another machine was sent from; written at home only."""

RECORDER_LOG = "recorder.log"
"""Errors of the recorder itself."""

RUNNER_LOG = "runner.log"
"""Errors of a runner in the background."""

LOCK = "lock"
"""Locked by the process that runs a loop or a batch."""

ROOM = ".room"
"""Reserves space on the disk for the end of the run."""

Log = Literal["stdout", "stderr", "stdin", "arrivals"]
LOGS: dict[Log, str] = {
    "stdout": STDOUT,
    "stderr": STDERR,
    "stdin": STDIN,
    "arrivals": ARRIVALS,
}

PACKED_LOGS: tuple[Log, ...] = ("stdout", "stderr", "arrivals")
"""Logs that `rook gc` compresses."""

PACKED_SUFFIXES = (".zst", ".gz")
"""Suffixes of a compressed log."""

PINNED = "pinned"
"""A run with this file is left as it is by `rook gc`."""


def log_file(log: Log) -> str:
    """The name of a log's file."""
    return LOGS[log]


RECORDER_FILES = {
    "stdout": STDOUT,
    "stderr": STDERR,
    "stdin": STDIN,
    "arrivals": ARRIVALS,
    "exit": EXIT,
    "log": RECORDER_LOG,
}
"""Files that the recorder writes and reads, by its names for them."""
