"""Keeps the folds of runs: those that are alive, and the ones that were shown last."""

import asyncio
from collections import OrderedDict
from pathlib import Path

from nightrook.model.price import Prices
from nightrook.prices import PriceBook
from nightrook.runs.heal import healed
from nightrook.store import runs
from nightrook.store.run_folder import RunFolder
from nightrook.web.folds.fold import OnChange, RunFold
from nightrook.web.replies import ApiError

_MOST_RUNS = 64
_MOST_ITEMS = 500_000
"""Of all runs that are kept although they have ended; an item needs some 200 bytes."""


class Folds:
    """The folds of a home, each made once; of those that have ended, the last ones are kept."""

    def __init__(self, home: Path, on_change: OnChange) -> None:
        self.home = home
        self._on_change = on_change
        self._prices: Prices = PriceBook()
        self._folds: OrderedDict[str, RunFold] = OrderedDict()
        self._healing: set[asyncio.Task[None]] = set()

    def warm(self) -> None:
        """Load the list of prices, which takes a while, before a run needs it."""
        self._prices("", None)

    async def get(self, name: str) -> RunFold:
        """The fold of a run; it starts to read if it is new. Raises what says why there is none."""
        fold = self._folds.get(name)
        if fold is not None and fold.is_followed:
            return fold
        if fold is not None and not fold.exists:
            self.drop(name)
            raise ApiError(410, f"run {name} was removed while it was shown: go back to the list")
        if fold is None:
            folder = await asyncio.to_thread(runs.find, self.home, name)
            fold = self._folds.get(folder.name) or await self._made(folder)
        self._folds.move_to_end(fold.name)
        self.check(fold)
        return fold

    def drop(self, name: str) -> None:
        """Forget a run."""
        fold = self._folds.pop(name, None)
        if fold is not None:
            fold.close()

    def close(self) -> None:
        """Forget all of them."""
        for name in list(self._folds):
            self.drop(name)

    async def _made(self, folder: RunFolder) -> RunFold:
        info, verdict = await asyncio.to_thread(lambda: (folder.info(), folder.verdict()))
        if info is None:
            way_out = f"read its raw log with  rook decode {folder.name}"
            raise ApiError(422, f"run {folder.name} has no run.json: {way_out}")
        known = self._folds.get(folder.name)  # made while we waited
        if known is not None:
            return known
        fold = RunFold(folder, info, self._prices, self._on_change)
        fold.verdict = verdict
        self._folds[fold.name] = fold
        self._make_room()
        fold.poke()
        return fold

    def _make_room(self) -> None:
        ended = [fold for fold in self._folds.values() if fold.is_complete]
        items = sum(len(fold.timeline.items) for fold in ended)
        while len(ended) > 1 and (len(ended) > _MOST_RUNS or items > _MOST_ITEMS):
            oldest = ended.pop(0)
            items -= len(oldest.timeline.items)
            self.drop(oldest.name)

    def check(self, fold: RunFold) -> None:
        """Look whether a run is alive; one whose processes died is judged, in the background."""
        if fold.verdict is not None or fold.is_healing:
            return
        has_changed = fold.look()
        if not fold.is_alive:
            fold.is_healing = True
            task = asyncio.get_running_loop().create_task(self._heal(fold))
            self._healing.add(task)
            task.add_done_callback(self._healing.discard)
        if has_changed:
            self._on_change(fold)

    async def _heal(self, fold: RunFold) -> None:
        try:
            await asyncio.to_thread(healed, fold.folder)
        finally:
            fold.is_healing = False
            fold.poke(ended=True)
