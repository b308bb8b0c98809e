"""Formatting and cutting of text, without a terminal."""

import re
from datetime import UTC, datetime
from signal import Signals

_FIRST_LINE = re.compile(r"\S[^\n]*")


def one_line(text: str, most: int) -> str:
    """Put text on one line: white space becomes one space, and the end is cut if it is too long."""
    if len(text) <= most and text.isprintable() and "  " not in text:
        return text.strip()  # as most are
    head = text[: most * 50]  # enough, and a megabyte of white space costs nothing
    line = " ".join(head.split())
    return cut(line, most) if len(head) == len(text) else cut(f"{line} ...".strip(), most)


def count(number: int, what: str) -> str:
    """Format a number with its noun: `1 file`, `2 files`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def suggested(*words: str) -> str:
    """Return a command of rook to type or paste; words are quoted for a shell where needed."""
    import shlex  # so that --help stays quick

    return shlex.join(["rook", *words])  # guards: command-quoted


def were(number: int, what: str) -> str:
    """Format a number with its noun and verb: `1 call was`, `2 calls were`."""
    return f"{count(number, what)} {'was' if number == 1 else 'were'}"


def minute(moment: float | None) -> str | None:
    """Format a moment: `2026-01-31 08:17 UTC`; None if no calendar has it."""
    if moment is None:
        return None
    try:
        return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M UTC}"
    except (ValueError, OverflowError, OSError):
        return None


def signal_name(number: int) -> str:
    """Name a signal: `SIGKILL`, or `signal 99` if this system has no such signal."""
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def cut(text: str, most: int) -> str:
    """Cut text to at most `most` characters, the last three of them dots."""
    return text if len(text) <= most else (text[: max(most - 3, 0)] + "...")[:most]


def encodable(text: str) -> str:
    """Replace halves of characters, which UTF-8 cannot express, by `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def first_line(text: str, most: int) -> str:
    """The first line that is not blank, without white space around it, cut."""
    match = _FIRST_LINE.search(text)
    return cut(match[0].rstrip(), most) if match else ""


def relative(path: str, folder: str | None) -> str:
    """Return a path relative to a folder if it is in it, else unchanged."""
    start = (folder or "").rstrip("/") + "/"
    if not folder or not path.startswith(start):
        return path
    return path[len(start) :].lstrip("/") or path


def from_home(path: str, home: str | None) -> str:
    """Return a path with the user's home folder as `~`."""
    folder = (home or "").rstrip("/")
    if folder and (path == folder or path.startswith(f"{folder}/")):
        return f"~{path[len(folder) :]}"
    return path
