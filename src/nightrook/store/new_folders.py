"""Makes the folders of runs, loops and batches: whole first, then under their name."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from nightrook.model.errors import RunFolderError
from nightrook.store.file_names import NEW
from nightrook.store.files import Folder, remove_stale

_STALE_S = 3600.0


def make_folder(
    home: Path, parent: str, names: Iterable[str], write: Callable[[Folder, str], None]
) -> Path:
    """Make a folder under the first of the names that is free; make home too if it is missing.

    `write` writes its files, for each name that is tried. It gets the name only then, so that no
    reader ever finds it without them.
    """
    with Folder.made(home) as above, above.own(parent) as others, above.own(NEW) as makers:
        remove_stale(makers, _STALE_S)  # left by processes that were killed while they made one
        unnamed = os.urandom(8).hex()
        try:
            with makers.own(unnamed) as folder:
                for name in names:
                    write(folder, name)
                    if makers.move(unnamed, others, name):
                        return home / parent / name
        except RunFolderError:
            makers.remove(unnamed)
            raise
    raise AssertionError("there is always another name")
