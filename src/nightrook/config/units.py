"""Lengths of time and numbers of bytes, as people write them."""

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 1e9
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)\s?([kmgt]?)b?", re.IGNORECASE)


def seconds(text: str) -> float | None:
    """Read `90`, `90s`, `1.5m`, `2h` or `30d`; None if it is not a time."""
    unit = _SECONDS.get(text[-1:])
    try:
        length = float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        return None
    return length if 0 < length < _LONGEST_S else None


def written(length: float) -> str:
    """Write a length of time as people do: `90s`, `5m` or `2h`."""
    unit = next(unit for unit in ("h", "m", "s") if length % _SECONDS[unit] == 0 or unit == "s")
    return f"{length / _SECONDS[unit]:g}{unit}"


def size(text: str) -> int | None:
    """Read `5000`, `500kB`, `1.5MB` or `10G`; None if it is not a size."""
    match = _SIZE.fullmatch(text.strip())
    return None if match is None else int(float(match[1]) * _BYTES[match[2].lower()])


def written_size(number: int) -> str:
    """Write a number of bytes as people do: `500MB`."""
    unit = max((u for u, size in _BYTES.items() if number % size == 0), key=_BYTES.__getitem__)
    return f"{number // _BYTES[unit]}{unit.upper()}B"
