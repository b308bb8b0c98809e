"""Runs tests with Linux's own calls taken away, as far as Linux can stand in for macOS.

`python scripts/portable.py [ARGUMENT ...]` passes its arguments to pytest. What is taken away, and
what stands in for the calls of macOS, is in `tests/portable/no_linux_calls.py`.
"""

import os
import sys
from pathlib import Path

from shared_python import make_python

ROOT = Path(__file__).parent.parent


def portable_python() -> Path:
    """Make a Python in which rook finds nothing that only Linux has."""
    home = Path(sys.prefix) / "portable"
    hook = ROOT / "tests" / "portable"
    return make_python(home, ROOT / "src", str(hook), "import no_linux_calls")


if __name__ == "__main__":
    python = str(portable_python())
    os.chdir(ROOT)
    os.execv(python, [python, "-m", "pytest", *sys.argv[1:]])
