"""Lengths of time as people write them."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST_S = 1e9


def seconds(text: str) -> float | None:
    """Read `90`, `90s`, `1.5m`, `2h` or `30d`; None if it is not a time."""
    unit = _UNITS.get(text[-1:])
    try:
        length = float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        return None
    return length if 0 < length < _LONGEST_S else None


def written(length: float) -> str:
    """Write a length of time as people do: `90s`, `5m` or `2h`."""
    unit = next(unit for unit in ("h", "m", "s") if length % _UNITS[unit] == 0 or unit == "s")
    return f"{length / _UNITS[unit]:g}{unit}"
