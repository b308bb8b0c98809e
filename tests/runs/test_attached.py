"""A run of another process: followed to its end from its folder, and judged if it was lost."""

import asyncio
from pathlib import Path

import pytest

import nightrook
from nightrook.model.errors import NightrookError
from nightrook.runs.attached import AttachedRun
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo
from nightrook.story.feed import Position
from tests.process.recording import PATIENCE_S
from tests.rights import ordinary_rights
from tests.runs.scripted import make, play


def lost_run(home: Path, session: Path) -> RunFolder:
    """A run whose processes died before they could judge it."""
    info = RunInfo(agent="claude", command=["claude"], cwd="/", started_at=1.0, runner_pid=2**22)
    folder = create_run(home, info)
    (folder.path / "stdout.raw").write_bytes(session.read_bytes())
    return folder


def test_a_run_at_work_is_followed_to_its_end(tmp_path: Path) -> None:
    async def main() -> None:
        async with make(tmp_path, "say=hi") as run:
            attached = AttachedRun(run.folder)
            following = asyncio.create_task(attached.follow())
            records = [record async for record in attached.feed.since()]
            assert (await following).verdict.status == "success"
            assert records == [record async for record in run]
        assert attached.feed.label == "claude"

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


def test_what_was_before_can_be_read_first(tmp_path: Path) -> None:
    folder = play(tmp_path, "say=hi").folder

    async def main() -> None:
        attached = AttachedRun(folder)
        assert attached.position == Position()
        await attached.read_now()
        assert attached.position.stdout == (folder.path / "stdout.raw").stat().st_size
        assert attached.position.seq == attached.feed.state.records > 0
        await attached.follow()

    asyncio.run(main())


def test_a_run_whose_processes_died_is_judged(tmp_path: Path, session: Path) -> None:
    folder = lost_run(tmp_path, session)
    attached = AttachedRun(folder)
    saved = asyncio.run(asyncio.wait_for(attached.follow(), PATIENCE_S))
    assert saved == folder.verdict()
    assert attached.feed.state.records == len(list(nightrook.decode(session)))


def test_a_run_that_cannot_be_judged_is_an_error(tmp_path: Path, session: Path) -> None:
    folder = lost_run(tmp_path, session)
    folder.path.chmod(0o500)
    with ordinary_rights(), pytest.raises(NightrookError, match="its verdict is lost"):
        asyncio.run(AttachedRun(folder).follow())
