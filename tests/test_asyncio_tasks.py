"""A group of tasks raises an error as it is, and tasks are ended for certain."""

import asyncio

import pytest

from nightrook.asyncio_tasks import end_tasks, task_group


async def _fail(error: Exception) -> None:
    raise error


def test_the_first_error_is_raised_itself_and_ends_the_others() -> None:
    ended = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waiting")

    async def work() -> None:
        async with task_group() as outer:
            outer.create_task(wait())
            await asyncio.sleep(0)
            async with task_group() as inner:
                inner.create_task(_fail(OSError("full")))

    with pytest.raises(OSError, match="full"):
        asyncio.run(work())
    assert ended == ["waiting"]


def test_a_task_that_loses_a_cancellation_is_cancelled_again() -> None:
    lost = []

    async def deaf() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            lost.append("once")
        await asyncio.Event().wait()

    async def work() -> bool:
        task = asyncio.create_task(deaf())
        await asyncio.sleep(0)
        await end_tasks([task])
        return task.cancelled()

    assert (asyncio.run(work()), lost) == (True, ["once"])
