"""The watchdog: it looks at a run after a long silence only, and not too often."""

from pathlib import Path

from nightrook.model.snapshot import Snapshot
from nightrook.runs.watchdog import Silence, Watchdog


def test_a_short_silence_is_not_worth_a_look(tmp_path: Path) -> None:
    watchdog = Watchdog(str(tmp_path), 10.0)
    assert not watchdog.is_due(10.0)
    assert watchdog.is_due(10.5)


def test_it_does_not_look_again_at_once(tmp_path: Path) -> None:
    watchdog = Watchdog(str(tmp_path), 10.0)
    watchdog.look(Snapshot(), silent_s=20.0, count=1)
    assert not watchdog.is_due(20.0)


class Machine:
    """Two clocks, of which one stands still while the machine sleeps."""

    def __init__(self) -> None:
        self.awake = 100.0
        self.asleep = 1_700_000_000.0

    def steady(self) -> float:
        return self.awake

    def wall(self) -> float:
        return self.awake + self.asleep


def test_a_silence_lasts_until_the_agent_writes() -> None:
    machine = Machine()
    silence = Silence(machine.steady, machine.wall)
    machine.awake += 7
    silence.look()
    assert silence.seconds == 7
    silence.end()
    assert silence.seconds == 0


def test_a_sleep_of_the_machine_starts_the_silence_again_and_a_corrected_clock_does_not() -> None:
    machine = Machine()
    silence = Silence(machine.steady, machine.wall)
    machine.awake += 7
    machine.asleep += 9
    silence.look()
    assert silence.seconds == 7
    machine.asleep += 3600
    silence.look()
    assert silence.seconds == 0
    machine.awake += 5
    silence.look()
    assert silence.seconds == 5
