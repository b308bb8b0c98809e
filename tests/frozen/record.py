"""Writes the stored files of this folder from the `rook` that is installed.

python -m tests.frozen.record schema flags plain
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.frozen.rook import AGENTS, HERE, environment, flags, played, rook


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
        _write(HERE / "plain" / f"{agent}.json", played(agent, folder))


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


PARTS: dict[str, Callable[[Path], None]] = {
    "schema": record_schema,
    "flags": record_flags,
    "plain": record_plain,
}


def main() -> None:
    """Record the parts that are named."""
    for part in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[part](Path(folder))


if __name__ == "__main__":
    main()
