"""The capabilities of an output: terminal or plain lines, size, colours and links.

The colours and links are written by hand: they are the only escape sequences that come from lines.
"""

import os
import platform
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TextIO, assert_never
from urllib.parse import quote

import msgspec

if TYPE_CHECKING:
    from nightrook.model.status import Outcome


_CODES: Mapping[str, str] = {
    "prefix": "36",
    "tool": "33",
    # White on a dark screen, black on a light one: ANSI white is unreadable on the latter.
    "text": "39",
    "error": "1;31",
    "cost": "32",
    "note": "35",
    "output": "2",
    "aside": "2",
    "added": "32",
    "removed": "31",
    "hunk": "36",
    "good": "1;32",
    "bad": "1;31",
    "strong": "1",
}
_STYLES: Mapping[str, tuple[str, str]] = {
    name: (f"\x1b[{code}m", "\x1b[0m") for name, code in _CODES.items()
}
_NONE: Mapping[str, tuple[str, str]] = dict.fromkeys(_CODES, ("", ""))


class Paint:
    """Puts text that is already safe into colours and behind links, if they are wanted."""

    def __init__(self, *, colour: bool = False, links: bool = False, host: str = "") -> None:
        self.colour = colour
        self._styles = _STYLES if colour else _NONE
        self._links = links
        self._host = host

    def __call__(self, style: str, text: str) -> str:
        """Return text in a style; empty text stays empty."""
        begin, end = self._styles[style]
        return f"{begin}{text}{end}" if text else ""

    def link(self, text: str, path: str | None) -> str:
        """Link text to a file, if its absolute path is known."""
        if not self._links or not path or not path.startswith("/"):
            return text
        address = f"file://{self._host}{quote(path.encode('utf-8', 'replace'))}"
        return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\"


def style_of(status: "Outcome") -> Literal["good", "note", "bad"]:
    """The style in which a status is shown."""
    match status:
        case "success":
            return "good"
        case "limited":
            return "note"
        case (
            "failed"
            | "incomplete"
            | "lost"
            | "denied"
            | "over_budget"
            | "stuck"
            | "not_started"
            | "timed_out"
            | "interrupted"
        ):
            return "bad"
        case _:
            assert_never(status)


_DEFAULT_SIZE = os.terminal_size((80, 24))
_PROGRESS_PROGRAMS = frozenset({"ghostty", "WezTerm"})
_VTE_WITH_PROGRESS = 7900


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """The capabilities of one output."""

    terminal: bool = False
    """True if a person watches: lines fit its width, and there is a status line."""

    colour: bool = False
    links: bool = False
    progress: bool = False
    """True for a terminal with a progress indicator (OSC 9;4)."""

    def paint(self) -> Paint:
        """The colours and links of this output."""
        return Paint(colour=self.colour, links=self.links, host=platform.node())


def look_of(out: TextIO, environ: Mapping[str, str]) -> Look:
    """Find out what an output can show.

    A pipe, a dumb terminal and CI get plain lines. NO_COLOR takes colours away and wins over
    FORCE_COLOR, which gives them to any output, or takes them away if it is 0.
    """
    tty = _is_terminal(out)
    able = tty and environ.get("TERM", "") not in ("", "dumb")
    terminal = able and not environ.get("CI")
    return Look(
        terminal=terminal,
        colour=_colour(environ, able=able),
        links=terminal and environ.get("TERM") != "linux",
        progress=terminal and _shows_progress(environ),
    )


def columns(out: TextIO) -> int:
    """The current width of a terminal; 80 if it is not known."""
    return _size(out).columns or _DEFAULT_SIZE.columns


def height(out: TextIO) -> int:
    """The current height of a terminal; 24 if it is not known."""
    return _size(out).lines or _DEFAULT_SIZE.lines


def _size(out: TextIO) -> os.terminal_size:
    try:
        return os.get_terminal_size(out.fileno())
    except (OSError, ValueError):  # no terminal, or one that is gone
        return _DEFAULT_SIZE


def _is_terminal(out: TextIO) -> bool:
    try:
        return out.isatty()
    except ValueError:  # it is closed
        return False


def _colour(environ: Mapping[str, str], *, able: bool) -> bool:
    if environ.get("NO_COLOR"):
        return False
    forced = environ.get("FORCE_COLOR")
    if forced:
        return forced.lower() not in ("0", "false")
    return able


def _shows_progress(environ: Mapping[str, str]) -> bool:
    """True for terminals known to show OSC 9;4; on others it would be a notification."""
    if "WT_SESSION" in environ or environ.get("ConEmuANSI") == "ON":
        return True
    if environ.get("TERM_PROGRAM") in _PROGRESS_PROGRAMS:
        return True
    version = environ.get("VTE_VERSION", "")
    return version.isdecimal() and int(version) >= _VTE_WITH_PROGRESS
