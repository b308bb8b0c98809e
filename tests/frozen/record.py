"""Writes the stored files of this folder from the `rook` that is installed.

python -m tests.frozen.record schema flags plain home views
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.frozen.desk import Desk, copy_home, do_all, views
from tests.frozen.rook import AGENTS, HERE, environment, flags, plain, rook

from nightrook.testing import AGENT


def record_schema(folder: Path) -> None:
    """Store what `rook schema` prints."""
    printed = rook("schema", env=environment(folder), cwd=folder).stdout
    (HERE / "record.schema.json").write_bytes(printed)


def record_flags(folder: Path) -> None:
    """Store the options of every command."""
    _write(HERE / "flags.json", flags())


def record_plain(folder: Path) -> None:
    """Store what `rook` prints for every recorded stream."""
    (HERE / "plain").mkdir(exist_ok=True)
    for agent in AGENTS:
        _write(HERE / "plain" / f"{agent}.json", plain(agent, folder))


def record_home(folder: Path) -> None:
    """Store a home with folders of every kind and state."""
    desk = Desk(folder)
    names = do_all(desk)
    shutil.rmtree(HERE / "home", ignore_errors=True)
    shutil.copytree(desk.home, HERE / "home", ignore=shutil.ignore_patterns("new"))
    for path in (path for path in (HERE / "home").rglob("*") if path.is_file()):
        path.write_bytes(_neutral(path, str(folder)))
    _write(HERE / "names.json", names)


def record_views(folder: Path) -> None:
    """Store what `rook` shows of the folders in the stored home."""
    names = json.loads((HERE / "names.json").read_bytes())
    copy_home(HERE / "home", folder / "home")
    _write(HERE / "views.json", views(folder / "home", names, folder))


def _neutral(path: Path, folder: str) -> bytes:
    """Return the bytes of a file with the paths of this machine replaced."""
    # Positions in a log are kept elsewhere, so what is replaced there must be as long.
    assert len(folder) == len(USER)
    data = path.read_bytes().replace(folder.encode(), USER)
    if path.suffix == ".json":
        data = data.replace(sys.executable.encode(), b"/usr/bin/python3")
        data = data.replace(bytes(AGENT.parent), b"/usr/lib/nightrook")
    assert str(HERE.parents[1]).encode() not in data, path
    return data


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


USER = b"/home/developer"  # stands for the temporary folder
PARTS: dict[str, Callable[[Path], None]] = {
    "schema": record_schema,
    "flags": record_flags,
    "plain": record_plain,
    "home": record_home,
    "views": record_views,
}


def main() -> None:
    """Record the parts that are named."""
    for part in sys.argv[1:]:
        with tempfile.TemporaryDirectory(prefix="rk", dir="/tmp") as folder:
            PARTS[part](Path(folder))


if __name__ == "__main__":
    main()
