"""Stops a loop or a batch when `rook stop` requests it through its folder."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from nightrook.model.errors import NightrookError
from nightrook.store.folders import ProcessFolder

_READ_S = 0.5


async def obey_stop_requests(folder: ProcessFolder, stop: Callable[[], None]) -> None:
    """Call `stop` whenever another process asks for it through the folder, from now on.

    Not by a signal: this process may be a program with other work.
    """
    with suppress(NightrookError):  # the folder is gone: saving the state will report that
        known = folder.stop_request()
        while True:
            await asyncio.sleep(_READ_S)
            if (request := folder.stop_request()) != known:
                known = request
                stop()
