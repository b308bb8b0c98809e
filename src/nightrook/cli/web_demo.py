"""`rook web --demo`: a separate home in which scripted agents work, and one asks."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nightrook.model.errors import NightrookError
from nightrook.runs.attached import ask_to_stop
from nightrook.runs.crash_recovery import settle
from nightrook.store.list import NewestFirst, find_run
from nightrook.testing import install_agent
from nightrook.testing.histories import month_of_work, write

_KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "XDG_RUNTIME_DIR")
_LOOK_S = 2.0
_MOST_RUNS = 60  # then nothing new is started
_ENDED = (
    ("Fix the failing tests in config", "speed=60"),
    ("Port the parser to the new API", "limit"),
    ("Update the dependencies", "error-result"),
    ("Write the release notes", "say='The release notes are in NOTES.md.'"),
)
_WORKING = ("Fix the rounding error in the cart", "speed=1")
_ASKING = ("Release version 2.4", "ask-permission='git push --tags'")


class Demo:
    """Plays runs in a temporary home, as long as it is not closed."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self._user = folder / "user"
        self._project = folder / "project"
        self._programs = folder / "bin"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        for path in (self._user, self._project, self._programs):
            path.mkdir()
        install_agent(self._programs)
        for session in month_of_work(until=time.time()):
            write(self._user, session)

    def begin(self) -> None:
        """Start to play; from now on, this process sees nothing of the user's own sessions."""
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = f"{self._programs}{os.pathsep}{kept.get('PATH', os.defpath)}"
        mine = {"HOME": str(self._user), "ROOK_HOME": str(self.home), "PATH": path}
        os.environ.clear()
        os.environ.update(kept | mine)
        self._thread.start()

    def close(self) -> None:
        """End the runs that are still running."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        folders = [run.folder for run in NewestFirst(self.home, only_unfinished=True)]
        for folder in folders:
            with suppress(NightrookError, ProcessLookupError):
                ask_to_stop(folder)
        for folder in folders:
            settle(folder)

    def _play(self) -> None:
        names: dict[str, str | None] = {}
        for prompt, script in (_ASKING, _WORKING, *_ENDED):
            if not self._over.is_set():
                names[script] = self._start(prompt, script)
        while not self._over.is_set() and len(names) + len(NewestFirst(self.home)) < _MOST_RUNS:
            for prompt, script in (_WORKING, _ASKING):
                if not self._is_running(names.get(script)):
                    names[script] = self._start(prompt, script)
            self._over.wait(_LOOK_S)

    def _start(self, prompt: str, script: str) -> str | None:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "nightrook", "run", "--detach", "--quiet"),
                *("--agent", "claude", "--permission", "ask", "--no-desktop", prompt),
            ],
            cwd=self._project,
            env={**os.environ, "ROOK_SCRIPT": script},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() or None

    def _is_running(self, name: str | None) -> bool:
        try:
            return name is not None and find_run(self.home, name).verdict() is None
        except NightrookError:
            return False


@contextmanager
def demo() -> Iterator[Demo]:
    """A home with runs of scripted agents, as long as the block lasts."""
    with tempfile.TemporaryDirectory(prefix="rook-web-", ignore_cleanup_errors=True) as folder:
        playing = Demo(Path(os.path.realpath(folder)))
        try:
            yield playing
        finally:
            playing.close()
