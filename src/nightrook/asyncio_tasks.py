"""Groups of tasks that raise an error as it is, and tasks that are ended for certain."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

_AGAIN_S = 0.2


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks side by side; the first error ends them all and is raised itself.

    `asyncio.TaskGroup` raises it inside an ExceptionGroup, where nobody who waits for a full disk
    or a damaged folder would find it.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise _first(errors) from errors


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error = errors.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error


async def end_tasks(tasks: Iterable["asyncio.Task[Any]"]) -> None:
    """Cancel tasks until all of them have ended; their exceptions are not raised here.

    Once is not enough: on Python 3.11 `asyncio.wait_for`, which libraries use, loses a cancellation
    that comes together with the result.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN_S)
