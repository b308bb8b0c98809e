"""A run whose processes died gets its verdict, and whoever outlived them is ended."""

import time

from rookery.folder import runs
from rookery.folder.healing import heal
from rookery.folder.runs import RunFolder
from rookery.prices import PriceBook
from rookery.run import contain


def healed(folder: RunFolder) -> RunFolder:
    """Give the folder back, with the end that nobody could tell if its processes died."""
    if heal(folder, alive=runs.is_alive, now=time.time(), prices=PriceBook()):
        contain.kill_marked(str(folder.path))
    return folder
