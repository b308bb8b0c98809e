"""How long an agent has been silent."""

from rookery.runs.silence import Silence


class Machine:
    """Two clocks, of which one stands still while the machine sleeps."""

    def __init__(self) -> None:
        self.awake = 100.0
        self.asleep = 1_700_000_000.0

    def steady(self) -> float:
        return self.awake

    def wall(self) -> float:
        return self.awake + self.asleep


def test_a_silence_lasts_until_something_is_heard() -> None:
    machine = Machine()
    silence = Silence(machine.steady, machine.wall)
    machine.awake += 7
    silence.look()
    assert silence.seconds == 7
    silence.end()
    assert silence.seconds == 0


def test_a_sleep_of_the_machine_begins_the_silence_anew_and_a_clock_set_right_does_not() -> None:
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
