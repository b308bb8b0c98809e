"""What is special about the recordings of Claude Code; the rest is tested for every agent."""

import re
from collections import Counter
from pathlib import Path

import nightrook
from nightrook.model.events import StreamClosed
from tests.recorded import CASES, RECORDINGS, facts, folded, name_of
from tests.rules import each

NO_RESULT = {"s23b_sigterm_text", "s23d_sigterm_tool", "s23e_sigkill_tool"}
"""Killed before they could write a result."""

NEW = b'"claude_code_version":"2.1.999"'


def test_there_are_recordings_of_both_newer_versions() -> None:
    counts = Counter(path.parent.name for path in RECORDINGS)
    assert counts["2.1.197"] >= 20
    assert counts["2.1.325"] >= 20


@each("path", RECORDINGS, ids=name_of)
def test_every_recording_but_the_killed_ones_has_a_result(path: Path) -> None:
    plain = facts("claude")["plain_text"]
    assert bool(folded(path).results) == (path.stem not in (*NO_RESULT, *plain))


def test_the_table_of_fields_knows_all_that_the_checked_versions_wrote() -> None:
    real = [path for path in CASES if re.search(r"-[12]\.", name_of(path))]
    for path in [*RECORDINGS, *real]:
        # Fields are looked at only if the version is new.
        wire = re.sub(rb'"claude_code_version":"[^"]+"', NEW, path.read_bytes())
        decoder = nightrook.decoder("claude")
        closed = (decoder.feed(wire) + decoder.close())[-1].event
        assert isinstance(closed, StreamClosed)
        assert (path, closed.unknown_fields) == (path, ())
