"""Reads the parameters of a request; a wrong one is reported in a sentence."""

from starlette.requests import Request

from nightrook.web.replies import ApiError


def number(request: Request, name: str, default: int, *, most: int | None = None) -> int:
    """A whole number from 0, at most `most`."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ApiError(400, f"{name} must be a whole number from 0, not {text[:40]!r}")
    return int(text) if most is None else min(int(text), most)


def path_number(request: Request, name: str) -> int:
    """A whole number in the path."""
    text = str(request.path_params[name])
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ApiError(404, f"there is no {name} {text[:40]!r}: use a whole number from 0")
    return int(text)


def choice(request: Request, name: str, allowed: tuple[str, ...], default: str) -> str:
    """One of some words."""
    text = request.query_params.get(name, default)
    if text not in allowed:
        raise ApiError(400, f"{name} must be {' or '.join(allowed)}, not {text[:40]!r}")
    return text


def flag(request: Request, name: str, *, default: bool) -> bool:
    """Yes or no, as 1 or 0."""
    return choice(request, name, ("0", "1"), "1" if default else "0") == "1"
