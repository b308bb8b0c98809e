"""A run of another process, read from its folder alone: the agent does not notice."""

import asyncio
import time

from nightrook.model.errors import NightrookError
from nightrook.runs.heal import healed, is_cared_for
from nightrook.store.run_folder import RunFolder
from nightrook.story.follow import RunFollower
from nightrook.story.story import growing_story

_HEAL_S = 2.0  # between two looks at whether the processes of the run are alive


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
        self._healed_at = float("-inf")

    async def read_now(self) -> None:
        """Read everything that its recorder has reported so far."""
        self.wake(ended=False, decided=False)
        await self.caught_up()

    async def before_look(self) -> None:
        """Judge the run if its processes died, which is looked for at times."""
        if time.monotonic() - self._healed_at > _HEAL_S:
            self._healed_at = time.monotonic()
            if not await asyncio.to_thread(lambda: is_cared_for(healed(self.folder))):
                raise NightrookError(f"run {self.folder.name!r} has ended, but its verdict is lost")
