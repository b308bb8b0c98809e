"""The runs of rook that are alive, followed in their folders."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nightrook.archive.watch.watch_rows import Row
from nightrook.model.durations import elapsed_s
from nightrook.model.errors import NightrookError
from nightrook.model.ledger import Money
from nightrook.model.price import Prices
from nightrook.model.records import Record
from nightrook.runs.crash_recovery import is_cared_for, recovered
from nightrook.store.file_names import RUNS, VERDICT
from nightrook.store.list import NewestFirst
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import RunInfo
from nightrook.story.follow import RunFollower
from nightrook.story.story import growing_story

_LIFE_S = 2.0  # between two looks at whether the processes of a run are alive


class WatchedRun(RunFollower):
    """A run that has no verdict yet, read as its log grows."""

    def __init__(self, folder: RunFolder, info: RunInfo, prices: Prices) -> None:
        super().__init__(growing_story(folder, info, prices=prices, has_readers=False))
        self.info = info
        self.is_lost = False
        """True if it has ended but cannot be judged: its folder is damaged or gone."""
        self._looked_at = time.monotonic()

    @property
    def agent(self) -> str | None:
        """The agent, once it is known."""
        return self.story.agent

    @property
    def session(self) -> str | None:
        """The agent's own id of the session, once it is known."""
        return self.story.state.session

    @property
    def is_over(self) -> bool:
        """True if nothing more will come."""
        return self.is_complete or self.is_lost

    def new(self) -> list[Record]:
        """Read the records since the last call; also its end, if it has ended."""
        try:
            self._judge()
            return self.read()
        except (NightrookError, OSError):
            self.is_lost = True
            return []

    def row(self) -> Row:
        """Return its current row."""
        shot = self.story.snapshot()
        agent = self.info.label or self.agent
        ended_at = self.verdict.ended_at if self.verdict else None
        return Row(
            kind="run",
            agent=self.agent,
            name=self.folder.name,
            label=f"{agent} {self.folder.name}" if agent else self.folder.name,
            project=None if self.info.piped else self.info.cwd,
            snapshot=shot,
            tokens=shot.tokens,
            cost=_spent(shot.spent_usd, shot.cost),
            turn_began=self.info.started_at,
            changed_at=ended_at or self.arrived_at or self.info.started_at,
            status=self.verdict.status if self.verdict else None,
        )

    def _judge(self) -> None:
        """Judge a run whose processes died, which is looked for at times."""
        if os.path.lexists(self.folder.path / VERDICT):
            return
        self.is_lost = not self.folder.path.is_dir()
        if not self.is_lost and time.monotonic() - self._looked_at > _LIFE_S:
            self._looked_at = time.monotonic()
            self.is_lost = not is_cared_for(recovered(self.folder))


class RunChange(NamedTuple):
    """New records of a run; none if it was found alive at the start."""

    run: WatchedRun
    records: list[Record]


class WatchedRuns:
    """Finds the runs of a home that are alive, and reads what they write."""

    def __init__(self, home: Path, prices: Prices) -> None:
        self._home = home
        self._prices = prices
        self._runs: dict[str, WatchedRun] = {}
        self._listed_at: int | None = None  # the time of the folder of all runs
        self.sessions: set[tuple[str | None, str | None]] = set()
        """The agents and sessions of all runs that were seen."""

    @property
    def unnamed(self) -> set[str]:
        """The agents of the runs whose session is not known yet."""
        return {
            run.info.agent for run in self._runs.values() if _is_unnamed(run) and run.info.agent
        }

    def start(self) -> list[RunChange]:
        """Find the runs that are alive; their earlier records are not new."""
        self._find()
        return [change._replace(records=[]) for change in self._read()]

    def look(self) -> list[RunChange]:
        """Read the new records, also those of runs that have started since."""
        new = self._find()
        changes = self._read()
        return [
            change
            for change in changes
            if change.records or change.run.is_over or change.run in new
        ]

    def close(self) -> None:
        """Close the logs."""
        for run in self._runs.values():
            run.close()

    def _find(self) -> list[WatchedRun]:
        """Find the runs that have no verdict and are not followed yet."""
        try:
            listed_at = (self._home / RUNS).stat().st_mtime_ns
        except OSError:
            return []
        if listed_at == self._listed_at:
            return []
        self._listed_at = listed_at
        found: list[WatchedRun] = []
        with suppress(NightrookError):
            for read in NewestFirst(self._home, only_unfinished=True):
                name = read.folder.name
                if read.info is not None and name not in self._runs and is_cared_for(read.folder):
                    self._runs[name] = WatchedRun(read.folder, read.info, self._prices)
                    found.append(self._runs[name])
        return found

    def _read(self) -> list[RunChange]:
        changes = [RunChange(run, run.new()) for run in self._runs.values()]
        for run in list(self._runs.values()):
            self.sessions.add((run.agent, run.session))
            if run.is_over:
                run.close()
                del self._runs[run.folder.name]
        return changes


def _is_unnamed(run: WatchedRun) -> bool:
    """True if a run has just started, so that its session is not known yet."""
    return run.session is None and elapsed_s(run.info.started_at, time.time()) < _NAMED_S


def _spent(usd: float | None, cost: Money) -> Money:
    """Cost of the run itself, without that of a session it resumed."""
    return Money(usd, cost.source, cost.at_least)


_NAMED_S = 30.0  # after which a run that has not reported its session never will
