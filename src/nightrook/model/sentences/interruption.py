"""Who interrupted a run or a loop, and at which point."""

from nightrook.model.text import count

_SOURCES: dict[str | None, str] = {
    "SIGINT": "interrupted by Ctrl-C",
    "SIGTERM": "interrupted by SIGTERM",
    "SIGHUP": "interrupted: the terminal was closed",
    "rook stop": "interrupted by rook stop",
    "lost contact": "interrupted: its worker lost contact with the fleet",
    "budget of its batch": "interrupted: the budget of its batch is used up",
}


def interrupted_by(what: str | None) -> str:
    """What interrupted it: the name of a signal that rook got, or `rook stop`."""
    return _SOURCES.get(what, "interrupted by the program that started it")


def point(
    agent: str, *, asked: str | None, heard: bool, background_tasks: int, at_work: bool
) -> str:
    """At which point an agent was interrupted that was not in the middle of a tool call."""
    if asked is not None:
        return f", while it asked whether it may use {asked}"
    if not heard:
        return f", before {agent}'s first message"
    if background_tasks:
        return f", with {count(background_tasks, 'background task')} running"
    return ", while it waited for the model" if at_work else ""
