"""Runs that are left as they are: neither packed nor removed."""

import os
from pathlib import Path

from nightrook.store.file_names import PINNED
from nightrook.store.files import Folder, keeping_times


def pin(run: Path) -> None:
    """Have a run left as it is, until it is unpinned."""
    with Folder.kept(run) as folder, keeping_times(folder):
        folder.create(PINNED, b"")


def unpin(run: Path) -> None:
    """Let a run be packed and removed again."""
    with Folder.kept(run) as folder, keeping_times(folder):
        folder.discard(PINNED)


def is_pinned(run: Path) -> bool:
    """Whether a run is to be left as it is."""
    return os.path.lexists(run / PINNED)
