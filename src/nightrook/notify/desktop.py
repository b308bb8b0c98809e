"""Desktop notifications by the terminal itself: OSC 9."""

from collections.abc import Mapping

from nightrook.display.reports.report import Report
from nightrook.model.safe import safe_line
from nightrook.notify.message import body, title

_BELL = "\x07"


def notification(report: Report, environ: Mapping[str, str]) -> str:
    """The sequence that makes a terminal notify; in tmux, wrapped so that tmux passes it on.

    tmux does that with `set -g allow-passthrough on`, and ignores it otherwise. Terminals that do
    not know the sequence ignore it.
    """
    text = safe_line(f"{title(report)} · {body(report)}")  # guards: desktop-text-safe
    sequence = f"\x1b]9;{text}{_BELL}"
    return f"\x1bPtmux;\x1b{sequence}\x1b\\" if environ.get("TMUX") else sequence
