"""Starts agents, records them and ends them: the recorder process and the runner.

`rookery.run` is both: this package, and the call that starts a run (`rookery.run("claude", ...)`).
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package that can be called; both names are promised to users."""

    def __call__(self, *words: Any, **options: Any) -> Any:
        """Start a run; see `rookery.run.start.run`."""
        from rookery.run.start import run  # the recorder must not import all of this

        return run(*words, **options)


sys.modules[__name__].__class__ = _CallablePackage
