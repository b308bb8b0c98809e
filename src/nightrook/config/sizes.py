"""Numbers of bytes as people write them."""

import re

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s?([kmgt]?)b?", re.IGNORECASE)


def size(text: str) -> int | None:
    """Read `5000`, `500kB`, `1.5MB` or `10G`; None if it is not a size."""
    match = _SIZE.fullmatch(text.strip())
    return None if match is None else int(float(match[1]) * _UNITS[match[2].lower()])


def written_size(number: int) -> str:
    """Write a number of bytes as people do: `500MB`."""
    unit = max((u for u, size in _UNITS.items() if number % size == 0), key=_UNITS.__getitem__)
    return f"{number // _UNITS[unit]}{unit.upper()}B"
