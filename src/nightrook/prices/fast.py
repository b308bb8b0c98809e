"""The price of a call at a provider's fast speed: a multiple of the list price."""

from nightrook.prices.names import spellings

_FACTORS = {
    "claude-opus-4-6": 6,
    "claude-opus-4-7": 6,
    "claude-opus-4-8": 2,
    "claude-opus-5": 2,
}
"""The multiples by the beginning of the model's name; a date may follow."""


def fast_factor(model: str) -> int | None:
    """Return the multiple of the price for the tokens of a fast call; None if it is unknown."""
    for name in spellings(model):
        for known, factor in _FACTORS.items():
            if name == known or name.startswith((f"{known}-", f"{known}@")):
                return factor
    return None
