"""Colours and links, written by hand: the only escape sequences that come from lines."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, assert_never
from urllib.parse import quote

if TYPE_CHECKING:  # reports and lists without colours do without it
    from nightrook.model.verdict import Outcome

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
