"""The repository of a job on a worker: fetched and unpacked before the run, collected after it."""

import shutil
from pathlib import Path

from nightrook.fleet.blobs import receive_blob
from nightrook.fleet.connection import Connection
from nightrook.fleet.messages import RepositoryPlan
from nightrook.fleet.repository.cache import RepositoryCache
from nightrook.fleet.repository.collect import collect
from nightrook.fleet.repository.unpack import described
from nightrook.model.errors import NightrookError
from nightrook.store.file_names import RESULT_BUNDLE, RESULT_FILES
from nightrook.store.run_folder import RunFolder

_CACHE = "repositories"


def known_commits(home: Path) -> tuple[str, ...]:
    """The commits of users' repositories that a worker has, newest first."""
    return tuple(RepositoryCache(home / _CACHE).known())


class JobRepository:
    """The folder that one job works in, and where it comes from."""

    def __init__(self, home: Path, work: Path, plan: RepositoryPlan | None) -> None:
        self.cwd = str(work)
        self._home = home
        self._work = work
        self._plan = plan
        self._bundle = work.with_name(f"{work.name}.bundle")
        self._results = work.with_name(f"{work.name}.results")

    async def fetch(self, connection: Connection) -> None:
        """Get the bundle of the job, if it has one, from the server."""
        self._bundle.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._plan is not None:
            await receive_blob(connection, self._plan.bundle, self._bundle)

    def unpack(self) -> None:
        """Make the folder to work in; a NightrookError says why that is not possible."""
        if self._plan is None:
            self._work.mkdir(mode=0o700)
            return
        cache = RepositoryCache(self._home / _CACHE)
        self.cwd = cache.unpack(self._bundle, self._work, self._plan.shipment).cwd

    def collect(self, folder: RunFolder) -> str | None:
        """Put what the run changed into its folder; return why that was not possible, if so."""
        if self._plan is None or not self._work.is_dir():
            return None
        try:
            found = collect(described(self._work, self._plan.shipment), self._results)
            for path, name in ((found.bundle, RESULT_BUNDLE), (found.files, RESULT_FILES)):
                if path is not None:
                    shutil.move(path, folder.path / name)
        except (NightrookError, OSError) as error:
            return str(error)
        return "; ".join(found.notes) or None

    def remove(self) -> None:
        """Remove all that was made for the job."""
        self._bundle.unlink(missing_ok=True)
        for folder in (self._work, self._results):
            shutil.rmtree(folder, ignore_errors=True)
