"""Fills the index of words in the background while a page searches."""

import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

from nightrook.archive.search.index import FILE, SearchIndex
from nightrook.archive.search.indexing import Progress, fill
from nightrook.archive.session_files import user_homes
from nightrook.config.user_settings import archive_keep
from nightrook.model.errors import NightrookError

_PAUSE_S = 30.0  # between two looks at what is new


class Indexing:
    """One thread that indexes new documents on request, at most every half minute."""

    def __init__(self, home: Path) -> None:
        self.path = home / FILE
        self.progress: Progress | None = None
        """Progress of indexing; None while it rests."""
        self._thread: threading.Thread | None = None
        self._rested_at = float("-inf")
        self._is_over = False

    def begin(self) -> None:
        """Index new documents, unless that is running or has just run."""
        if self._thread is not None or time.monotonic() - self._rested_at < _PAUSE_S:
            return
        self.progress = Progress(0, 0, 0)
        # What a commit does not reach is indexed the next time: the thread may end at any moment.
        self._thread = threading.Thread(target=self._fill, name="indexing", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop indexing."""
        self._is_over = True

    def _fill(self) -> None:
        try:
            with (
                suppress(NightrookError, OSError, sqlite3.Error),
                SearchIndex.open(self.path) as words,
            ):
                # guards: archive-kept
                for progress in fill(words, user_homes(), keep=archive_keep()):
                    self.progress = progress
                    if self._is_over:
                        break
        finally:
            self.progress, self._rested_at, self._thread = None, time.monotonic(), None
