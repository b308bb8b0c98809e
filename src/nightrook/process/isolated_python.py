"""Start a module of this package in an isolated Python, which imports nothing else and is quick."""

import sys
from pathlib import Path

# The packages are made bare: what they import for others takes longer than the module itself.
_BOOT = """
import sys
for name, path in zip(("nightrook", "nightrook.process"), sys.argv[2:]):
    sys.modules[name] = package = type(sys)(name)
    package.__path__ = [path]
main = __import__("nightrook.process." + sys.argv[1], fromlist=["main"]).main
main()
"""
_PACKAGE = Path(__file__).parent.parent


def isolated_python(module: str) -> list[str]:
    """The command that calls `main` of a module of this folder; more arguments may follow."""
    start = [sys.executable, "-I", "-S", "-c", _BOOT]  # guards: recorder-imports
    return [*start, module, str(_PACKAGE), str(_PACKAGE / "process")]
