"""Chooses the module for the system that rook runs on; the recorder uses it, too."""

import sys

if sys.platform == "linux":
    from nightrook.process.systems import linux as system
else:
    from nightrook.process.systems import portable as system

__all__ = ["system"]
