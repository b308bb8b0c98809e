"""Runs an agent again and again until the work is done, and never runs away.

`rookery.loop` is both: this package, and the call that makes a loop: `rookery.loop("claude", …)`.
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package that can be called; both names are promised to users."""

    def __call__(self, *words: Any, **options: Any) -> Any:
        """Make a loop; see `rookery.loop.start.loop`."""
        from rookery.loop.start import loop

        return loop(*words, **options)


sys.modules[__name__].__class__ = _CallablePackage
