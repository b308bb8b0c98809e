"""Which limit of a provider is used up, and until when."""

from rookery.model.text import minute

_WINDOWS = {None: "provider's limit", "five_hour": "5-hour limit", "seven_day": "7-day limit"}


def provider_limit(window: str | None, resets_at: float | None) -> str:
    """The limit that is used up, by the name of its window."""
    reset = minute(resets_at)
    name = _WINDOWS.get(window, f"{window} limit")
    return f"the {name} is used up{'' if reset is None else f'; resets {reset}'}"
