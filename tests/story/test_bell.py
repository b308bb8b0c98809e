"""Waking the readers of a feed: never too late, and none waits for ever."""

import asyncio

import pytest

from nightrook.story.bell import Bell


def run(coroutine: object) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 30))  # type: ignore[arg-type]


def test_all_who_wait_are_woken() -> None:
    async def main() -> None:
        bell = Bell()
        waiting = [asyncio.create_task(bell.wait(0)) for _ in range(3)]
        await asyncio.sleep(0)
        bell.ring()
        await asyncio.gather(*waiting)

    run(main())


def test_who_comes_late_does_not_wait_for_what_was_told() -> None:
    async def main() -> None:
        bell = Bell()
        bell.ring()
        await bell.wait(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(bell.wait(bell.count), 0.01)

    run(main())


def test_nobody_waits_when_it_is_over() -> None:
    async def main() -> None:
        bell = Bell()
        waiting = asyncio.create_task(bell.wait(0))
        await asyncio.sleep(0)
        bell.end()
        await waiting
        await bell.wait(bell.count)

    run(main())


def test_one_who_was_cancelled_does_not_keep_the_others() -> None:
    async def main() -> None:
        bell = Bell()
        gone, other = (asyncio.create_task(bell.wait(0)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        bell.ring()
        await other

    run(main())
