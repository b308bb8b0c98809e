"""A run of another process: followed by its folder alone, and asked to stop."""

import asyncio
import os
import signal
import time

from nightrook.model.errors import NightrookError
from nightrook.process.liveness import continue_stopped, is_same_process
from nightrook.runs.crash_recovery import is_cared_for, recovered
from nightrook.store.run_folder import RunFolder
from nightrook.story.follow import RunFollower
from nightrook.story.story import growing_story

_LOOK_S = 2.0  # between two looks at whether the processes of the run are alive


class AttachedRun(RunFollower):
    """Follows a run that another process started; any number can do so at once.

    A run whose processes died is judged; a NightrookError of `follow` says that this was not
    possible.
    """

    def __init__(self, folder: RunFolder) -> None:
        info = folder.info()
        if info is None:
            raise NightrookError(f"run {folder.name!r} is being created: try again")
        super().__init__(growing_story(folder, info))
        if self.story.problem is not None:
            raise self.story.problem
        self.info = info
        self.feed = self.story.feed
        self._looked_at = float("-inf")

    async def read_now(self) -> None:
        """Read everything that its recorder has reported so far."""
        self.wake(ended=False, decided=False)
        await self.caught_up()

    async def before_look(self) -> None:
        """Judge the run if its processes died, which is looked for at times."""
        if time.monotonic() - self._looked_at > _LOOK_S:
            self._looked_at = time.monotonic()
            if not await asyncio.to_thread(lambda: is_cared_for(recovered(self.folder))):
                raise NightrookError(f"run {self.folder.name!r} has ended, but its verdict is lost")


def ask_to_stop(folder: RunFolder) -> str | None:
    """Ask a running run to end; raise a NightrookError if it is not running.

    Return what stood in the way: a recorder that was stopped is continued, so that it can obey.
    """
    info = folder.info()
    # Its recorder, not its runner: that may be a user's program with other work to do.
    if info is not None and info.fleet is not None:
        raise NightrookError(f"run {folder.name!r} runs on a fleet, not here")
    pid = info.recorder_pid if info else None
    # guards: own-recorder-stopped
    if info is None or pid is None or not is_same_process(pid, info.recorder_ticks):
        raise NightrookError(f"run {folder.name!r} is not running")
    os.kill(pid, signal.SIGTERM)
    # guards: stop-continues-recorder
    was_stopped = continue_stopped(pid, info.recorder_ticks)
    return "its recorder was stopped (SIGSTOP): continued it" if was_stopped else None
