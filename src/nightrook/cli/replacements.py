"""What turns the edits of an agent into differences of text."""

from collections.abc import Callable

from nightrook import agents
from nightrook.adapter.agent import Replacement, no_replacements
from nightrook.model.events import ToolStarted


def replacements_of(agent: str | None) -> Callable[[ToolStarted], tuple[Replacement, ...]]:
    """The function that shows the differences of an agent's edits."""
    return agents.agent(agent).replacements if agent else no_replacements
