"""Desktop notifications: one sequence, whatever is in the report."""

import re

from msgspec.structs import replace

from nightrook.notify.desktop import notification
from tests.ci.payloads import PAYLOADS
from tests.ci.samples import everywhere
from tests.ci.test_github import DONE
from tests.rules import each


def test_it_says_what_ended_and_what_it_took() -> None:
    report = replace(DONE, duration_s=102.0, cost_source="native")
    text = "\x1b]9;rook run k7f3: success · 1m 42s · $0.0150\x07"
    assert notification(report, {}) == text


def test_tmux_is_asked_to_pass_it_on() -> None:
    text = notification(DONE, {"TMUX": "/tmp/tmux-0/default,1,0"})
    assert text == f"\x1bPtmux;\x1b{notification(DONE, {})}\x1b\\"


@each("payload", PAYLOADS)
def test_no_text_ends_the_sequence_early(payload: str) -> None:
    assert re.fullmatch("\x1b]9;[^\x00-\x1f\x7f-\x9f]+\x07", notification(everywhere(payload), {}))
