"""How the process of an agent ended."""

from nightrook.model.text import signal_name


def ended_process(exit_code: int | None, signal: int | None) -> str | None:
    """How a process ended, in words; None if that is unknown."""
    if signal is not None:
        return f"was killed by {signal_name(signal)}"
    return None if exit_code is None else f"exited with code {exit_code}"
