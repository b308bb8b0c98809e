"""Makes a Python that shares the installed packages, but imports rook from a folder of its own."""

import site
import venv
from pathlib import Path

_STARTER = """#!{python}
from nightrook.cli.main import main
main()
"""


def make_python(home: Path, source: Path, *more: str) -> Path:
    """Make a virtual environment with a `rook`; `more` are further lines of its .pth file."""
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    installed = [path for path in site.getsitepackages() if Path(path).is_dir()]
    (packages / "shared.pth").write_text("\n".join([str(source), *installed, *more, ""]))
    python = home / "bin" / "python"
    starter = home / "bin" / "rook"
    starter.write_text(_STARTER.format(python=python))
    starter.chmod(0o755)
    return python
