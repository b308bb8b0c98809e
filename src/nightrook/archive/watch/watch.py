"""The activity of all agents on this machine, as it happens."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from nightrook import agents
from nightrook.archive.session_files import searched_folders
from nightrook.archive.watch.file_changes import FileChanges
from nightrook.archive.watch.runs import RunChange, WatchedRuns
from nightrook.archive.watch.sessions import SessionChange, WatchedSessions
from nightrook.archive.watch.watch_rows import Row, Update
from nightrook.model.records import Record
from nightrook.prices import PriceBook
from nightrook.process.folder_watch import FolderWatch


class Watch:
    """Follows the sessions in some homes and the runs in the home of nightrook.

    `wants` says which of them are shown. `active_s` is how long a session counts as active after it
    was written to. All methods are called by one thread at a time.
    """

    def __init__(
        self,
        home: Path,
        user_homes: Sequence[Path],
        *,
        agent: str | None = None,
        wants: Callable[[Row], bool] = lambda _: True,
        active_s: float,
        open_watch: Callable[[], FolderWatch | None] = FolderWatch.opened,
    ) -> None:
        prices = PriceBook()
        names = [name for name in agents.HISTORIES if agent in (None, name)]
        histories = [agents.history(name) for name in names]
        self.changes = FileChanges(open_watch())
        self._runs = WatchedRuns(home, prices)
        folders = searched_folders(histories, user_homes, os.environ)
        self._sessions = WatchedSessions(self.changes, folders, prices)
        self._agent = agent
        self._wants = wants
        self._active_s = active_s
        self._shown: set[tuple[str, str]] = set()  # the kinds and names of what was shown

    def start(self) -> list[Update]:
        """Return what is active now; earlier records are not new."""
        since = time.time() - self._active_s
        runs = self._runs.start()
        return self._updates(runs, self._sessions.start(since))

    def look(self) -> list[Update]:
        """Return the updates since the last call."""
        runs = self._runs.look()
        return self._updates(runs, self._sessions.look(self._runs.unnamed))

    def forget(self) -> list[Update]:
        """The sessions that are no longer active; when they continue, they are first again."""
        old = self._sessions.forget(time.time() - self._active_s)
        rows = [session.row() for session in old if ("session", session.id) in self._shown]
        self._shown -= {("session", row.name) for row in rows}
        return [Update(row=row, is_over=True) for row in rows]

    def close(self) -> None:
        """Follow nothing any more."""
        self._runs.close()
        self.changes.close()

    def _updates(
        self, runs: Sequence[RunChange], sessions: Sequence[SessionChange]
    ) -> list[Update]:
        made = [self._update(run.row(), run.is_over, records) for run, records in runs]
        for session, records in sessions:
            if (session.agent, session.id) not in self._runs.sessions:
                made.append(self._update(session.row(), False, records))
        return [update for update in made if update is not None]

    def _update(self, row: Row, is_over: bool, records: list[Record]) -> Update | None:
        if self._agent not in (None, row.agent) or not self._wants(row):
            return None
        key = (row.kind, row.name)
        is_first = key not in self._shown
        self._shown.add(key)
        return Update(row=row, records=records, is_first=is_first, is_over=is_over)
