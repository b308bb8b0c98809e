"""How many tool calls were denied, and by what."""

from typing import TYPE_CHECKING

from nightrook.model.text import were

if TYPE_CHECKING:
    from nightrook.model.verdict import Facts


def denied_calls(facts: "Facts", reason: str | None) -> str:
    """How many calls were denied by a person, or not permitted for a reason."""
    number = facts.denials + len(facts.refusals)
    if 0 < number == len(facts.denied_by_person):
        return f"{were(number, 'tool call')} denied at the prompt"
    return f"{were(number, 'tool call')} not permitted{f': {reason}' if reason else ''}"
