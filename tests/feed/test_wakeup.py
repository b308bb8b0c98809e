"""Waking those who read a run: never too late, and never in vain for ever."""

import asyncio

import pytest

from rookery.feed.wakeup import News


def run(coroutine: object) -> None:
    asyncio.run(asyncio.wait_for(coroutine, 30))  # type: ignore[arg-type]


def test_all_who_wait_are_woken() -> None:
    async def main() -> None:
        news = News()
        waiting = [asyncio.create_task(news.wait(0)) for _ in range(3)]
        await asyncio.sleep(0)
        news.tell()
        await asyncio.gather(*waiting)

    run(main())


def test_who_comes_late_does_not_wait_for_what_was_told() -> None:
    async def main() -> None:
        news = News()
        news.tell()
        await news.wait(0)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(news.wait(news.count), 0.01)

    run(main())


def test_nobody_waits_when_it_is_over() -> None:
    async def main() -> None:
        news = News()
        waiting = asyncio.create_task(news.wait(0))
        await asyncio.sleep(0)
        news.end()
        await waiting
        await news.wait(news.count)

    run(main())


def test_one_who_was_cancelled_does_not_keep_the_others() -> None:
    async def main() -> None:
        news = News()
        gone, other = (asyncio.create_task(news.wait(0)) for _ in range(2))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        news.tell()
        await other

    run(main())
