"""The watchdog: it looks at a run after a long silence only, and not too often."""

from pathlib import Path

from rookery.model.snapshot import Snapshot
from rookery.runs.watchdog import Life


def test_a_short_silence_is_not_worth_a_look(tmp_path: Path) -> None:
    life = Life(str(tmp_path), 10.0)
    assert not life.is_due(10.0)
    assert life.is_due(10.5)


def test_it_does_not_look_again_at_once(tmp_path: Path) -> None:
    life = Life(str(tmp_path), 10.0)
    life.look(Snapshot(), silent_s=20.0, news=1)
    assert not life.is_due(20.0)
