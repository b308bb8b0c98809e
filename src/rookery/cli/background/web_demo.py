"""`rook web --demo`: a home of its own in which scripted agents work, and one asks."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def demo_home() -> Iterator[Path]:
    """A home with runs of scripted agents, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="rook-web-") as folder:
        yield Path(folder)
