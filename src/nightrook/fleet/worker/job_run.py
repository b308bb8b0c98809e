"""One job on a worker: claimed, run in a fresh folder, shipped, and reported to its end."""

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from nightrook.asyncio_tasks import end_tasks
from nightrook.fleet.blobs import receive_blob
from nightrook.fleet.claims import Lease
from nightrook.fleet.connection import Connection, FleetError, ServerAwayError
from nightrook.fleet.messages import AnswerOrder, Claimed, Ended, Job, RepositoryPlan, StopOrder
from nightrook.fleet.repository.cache import RepositoryCache
from nightrook.fleet.repository.collect import collect
from nightrook.fleet.repository.unpack import MissingCommitsError, described
from nightrook.fleet.shipped_files import FILES
from nightrook.fleet.shipper import Attempt, Shipper
from nightrook.fleet.worker.journal import Entry, Journal
from nightrook.fleet.worker.rights import WorkerRights
from nightrook.model.errors import NightrookError
from nightrook.runs.asking.protocol import dump as dump_change
from nightrook.runs.asking.protocol import problem
from nightrook.runs.crash_recovery import recovered
from nightrook.runs.run import Run
from nightrook.runs.start import start
from nightrook.store.file_names import QUESTIONS, RESULT_BUNDLE, RESULT_FILES
from nightrook.store.run_folder import RunFolder
from nightrook.version import __version__

_WORK = "work"
_LOST_CONTACT = "lost contact"
_SAVE_S = 1.0
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
        """Store the changes of the run in its folder; return the error or the warnings, if any."""
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


class JobRun:
    """One attempt of a job on this worker."""

    def __init__(
        self,
        job: Job,
        *,
        connection: Connection,
        worker: str,
        instance: str,
        journal: Journal,
        rights: WorkerRights,
        lease: Lease,
    ) -> None:
        self.job = job
        self.run: Run | None = None
        self.shipper: Shipper | None = None
        self.entry = Entry(job=job)
        self._connection = connection
        self._attempt = Attempt(worker, job.run, job.attempt)
        self._instance = instance
        self._journal = journal
        self._rights = rights
        self._lease = lease
        self._stops: list[StopOrder] = []

    @property
    def behind(self) -> int:
        """The number of bytes that the server does not have yet."""
        return self.shipper.behind if self.shipper is not None else 0

    @property
    def problem(self) -> str | None:
        """The reason why its logs cannot be sent now; None if they can."""
        return self.shipper.problem if self.shipper else None

    async def claim(self, take: Callable[[], Awaitable[bool]]) -> bool:
        """Store the job, take it from the queue, and report that; False if it must not start."""
        self._journal.save(self.entry)
        shipper = Shipper(self._connection, self._attempt, self._journal.home)
        try:
            if not await take():
                return False
            await shipper.claim(
                Claimed(claim=self.job.claim, instance=self._instance, version=__version__)
            )
        except FleetError:
            return False
        finally:
            shipper.close()
        return True

    async def work(self) -> Ended:
        """Run the job to its end; return the report."""
        if (refusal := self._rights.refusal(self.job)) is not None:
            return self._without_run("refused", refusal)
        self._save(replace(self.entry, stage="started"))
        repository = self._repository
        try:
            await repository.fetch(self._connection)
            await asyncio.to_thread(repository.unpack)
            return await self._work(repository)
        except (NightrookError, OSError) as error:
            return await asyncio.to_thread(self._failed, repository, error)
        finally:
            await asyncio.to_thread(repository.remove)

    @property
    def _repository(self) -> JobRepository:
        home = self._journal.home
        work = home / _WORK / f"{self.job.run}.{self.job.attempt}"
        return JobRepository(home, work, self.job.repository)

    def _failed(self, repository: JobRepository, error: Exception) -> Ended:
        """Report an error; the agent's cost counts, if it was started."""
        folder = self._journal.run_folder(self.entry)
        if folder is not None:
            return self._ended(folder, repository, str(error))
        # guards: missing-commits-returned
        may_succeed = isinstance(error, (MissingCommitsError, ServerAwayError))
        return self._without_run("returned" if may_succeed else "refused", str(error))

    async def _work(self, repository: JobRepository) -> Ended:
        if self._lease.must_stop(self.job.lease_s):  # its files may have taken long to unpack
            return self._without_run("returned", "contact was lost before it started")
        home = str(self._journal.home)
        options = self._rights.options(self.job, cwd=repository.cwd, home=home)
        run = start(options)
        run.others.waited_for = run.asks
        async with run:
            self.run = run
            for stop in self._stops:
                self._stop(stop)
            self._save(replace(self.entry, folder=run.name))
            self.shipper = Shipper(self._connection, self._attempt, run.folder.path)
            helpers = [
                asyncio.create_task(self._follow(run, self.shipper)),
                asyncio.create_task(self._keep_questions(run)),
            ]
            try:
                await run.wait()
            finally:
                await end_tasks(helpers)
        reason = await asyncio.to_thread(repository.collect, run.folder)
        return ended_of(run.folder, self.job, reason)

    async def _follow(self, run: Run, shipper: Shipper) -> None:
        info = run.folder.info()
        claimed = Claimed(claim=self.job.claim, instance=self._instance, info=info)
        with suppress(FleetError):  # the end reports it again
            await shipper.start(claimed)
        await shipper.follow(run.feed.more, lambda: run.feed.count)

    async def _keep_questions(self, run: Run) -> None:
        """Write the agent's questions to a log, which is shipped like the others."""
        if not run.asks:
            return
        with run.folder.opened() as folder:
            log = folder.append(QUESTIONS)
        try:
            with run.others.questions.watched() as watcher:
                while (change := await watcher.get()) is not None:
                    os.write(log, dump_change(change))
                    run.feed.ring()
        finally:
            os.close(log)

    def stop(self, order: StopOrder) -> None:
        """Stop the agent, now or as soon as it has started; the same order counts once."""
        if order in self._stops:
            return
        self._stops.append(order)
        if self.run is not None:
            self._stop(order)

    def _stop(self, order: StopOrder) -> None:
        if self.run is None:
            return
        if order.kill:
            self.run.kill()
        else:
            self.run.stop(by=order.by)

    def answer(self, order: AnswerOrder) -> None:
        """Decide an open question of the agent, if the decision is one on it."""
        if self.run is None:
            return
        questions = self.run.others.questions
        asks = {question.id: question.ask for question in questions.open}
        ask = asks.get(order.question)
        if ask is not None and problem(ask, order.decision) is None:
            questions.decide(order.question, order.decision)

    def fence(self) -> None:
        """Stop the agent if the boss may soon think that it is lost."""
        run = self.run
        if run is None or run.is_over or not self._lease.must_stop(self.job.lease_s):
            return
        if run.verdict is None and not self._stops:
            self.stop(StopOrder(attempt=self.job.attempt, by=_LOST_CONTACT))
        if self._lease.must_kill(self.job.lease_s):
            run.kill()

    async def report(self, ended: Ended) -> None:
        """Ship the rest of the logs and the ending, however long that takes."""
        folder = self._journal.run_folder(self.entry) if self.shipper is None else None
        shipper = self.shipper or Shipper(
            self._connection,
            self._attempt,
            folder.path if folder else self._journal.home,
            {log: at for log in FILES if (at := self.entry.positions.get(log))},
        )
        self.shipper = shipper
        saving = asyncio.create_task(self._save_positions(shipper))
        try:
            has_run = ended.end == "ran"
            await shipper.finish(lambda sizes: replace(ended, sizes=sizes if has_run else {}), None)
        finally:
            await end_tasks([saving])
        shipper.close()
        self._save(replace(self.entry, stage="reported", positions={**shipper.positions}))

    async def _save_positions(self, shipper: Shipper) -> None:
        while True:
            await asyncio.sleep(_SAVE_S)
            self._save(replace(self.entry, positions={**shipper.positions}))

    def _save(self, entry: Entry) -> None:
        self.entry = entry
        self._journal.save(entry)

    def _without_run(self, end: str, reason: str) -> Ended:
        return Ended(claim=self.job.claim, end=end, reason=reason)  # type: ignore[arg-type]

    def left_behind(self, entry: Entry) -> Ended:
        """Report an attempt that an earlier process of this worker left."""
        self.entry = entry
        folder = self._journal.run_folder(entry)
        if folder is not None:
            repository = self._repository
            ended = self._ended(folder, repository)
            repository.remove()
            return ended
        if entry.stage == "taken":
            return self._without_run("returned", "its worker ended before it started it")
        return self._without_run("refused", "its worker died while it started it")

    def _ended(self, folder: RunFolder, repository: JobRepository, note: str = "") -> Ended:
        """Report a run that did not end in the usual way."""
        try:
            notes = (note, repository.collect(folder := recovered(folder)))
            return ended_of(folder, self.job, "; ".join(filter(None, notes)) or None)
        except (NightrookError, OSError) as error:  # an agent can write into the folder of its run
            return self._without_run("refused", str(error))


def ended_of(folder: RunFolder, job: Job, reason: str | None = None) -> Ended:
    """Report a run that is over; `reason` names parts of its repository that don't come back."""
    info = folder.info()
    return Ended(
        claim=job.claim,
        reason=reason,
        info=info and replace(info, prompt=None),  # the boss has it, and it may be long
        exit=folder.exit(),
        verdict=folder.verdict(),
    )
