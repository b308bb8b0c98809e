"""An agent's standard input, held by the runner: what is written is kept, and never waited for."""

import asyncio
import os
from contextlib import suppress

from rookery.store.run_folder import RunFolder


class HeldInput:
    """A pipe to the agent; it ends when we end it, or when we are gone."""

    def __init__(self) -> None:
        self.reading, self._writing = os.pipe()
        """The first is the agent's end; it is ours until `begin`."""
        os.set_blocking(self._writing, False)
        self._waiting = bytearray()
        self._log: int | None = None
        self._ending = False

    def begin(self, folder: RunFolder) -> None:
        """Let go of the agent's end, which it has now, and keep from now on what is written."""
        self._let_go()
        self._log = folder.open_log("stdin")

    def write(self, data: bytes) -> None:
        """Write as the agent reads; what it will not read any more is dropped."""
        if self._ending or self._log is None:
            return
        with suppress(OSError):  # a full disk must not keep an answer from the agent
            os.write(self._log, data)
        self._waiting += data
        self._push()

    def end(self) -> None:
        """Close it as soon as everything is written."""
        self._ending = True
        self._push()

    def close(self) -> None:
        """Close it now."""
        self._ending = True
        self._waiting.clear()
        self._let_go()
        self._push()

    def _let_go(self) -> None:
        if self.reading >= 0:
            os.close(self.reading)
            self.reading = -1

    def _push(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            try:
                del self._waiting[: os.write(self._writing, self._waiting)]
            except BlockingIOError:
                loop.add_writer(self._writing, self._push)
                return
            except BrokenPipeError:
                self._waiting.clear()
                self._ending = True
        if self._writing < 0:
            return
        loop.remove_writer(self._writing)
        if self._ending:
            os.close(self._writing)
            self._writing = -1
            if self._log is not None:
                os.close(self._log)
                self._log = None
