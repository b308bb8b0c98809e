"""The programs that tests need beside Python's and npm's: `make programs` installs them."""

import shutil

import pytest


def program(name: str, package: str | None = None) -> str:
    """The path of a program. It fails without it: what is not tried is not known to work."""
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"there is no {name}: run  make programs  or install {package or name}")
    return found


def browser() -> str:
    """The path of Chromium or of its twin."""
    others = (shutil.which(name) for name in ("google-chrome", "chrome"))
    return next(filter(None, others), None) or program("chromium")
