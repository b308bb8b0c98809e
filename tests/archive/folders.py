"""Compares folders: reading what an agent keeps must not change anything there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    """Check that nothing in a folder changes while the block lasts."""
    before = _contents(folder)
    yield
    assert _contents(folder) == before


def _contents(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """The bytes, the mode and the time of every file in a folder, and of the folder itself."""
    files = {
        path.name: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }
    return files | {".": (b"", folder.stat().st_mode, folder.stat().st_mtime_ns)}
