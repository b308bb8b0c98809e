"""The file of each shipped log in a run folder: no name comes from outside."""

from nightrook.fleet.subjects import ShippedLog
from nightrook.store import file_names

FILES: dict[ShippedLog, str] = {
    "stdin": file_names.STDIN,
    "stdout": file_names.STDOUT,
    "stderr": file_names.STDERR,
    "decisions": file_names.DECISIONS,
    "questions": file_names.QUESTIONS,
    "recorder": file_names.RECORDER_LOG,
    "output": file_names.OUTPUT,
    "bundle": file_names.RESULT_BUNDLE,
    "files": file_names.RESULT_FILES,
    "arrivals": file_names.ARRIVALS,
}
"""Logs in the order in which they are sent: times after the bytes that they are about."""

GROWING: tuple[ShippedLog, ...] = ("stdin", "stdout", "stderr", "questions", "arrivals")
"""Logs that grow during a run, and are only appended to."""
