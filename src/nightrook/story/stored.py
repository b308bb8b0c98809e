"""The feed of a run, read from its folder without waiting."""

from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import beginning_of
from nightrook.story.feed import Feed
from nightrook.story.source import Source
from nightrook.story.tail import Tail

Item = TypeVar("Item")


def stored_feed(folder: RunFolder, *, is_running: bool = False) -> Feed:
    """What a run has written; a command that no adapter knows has text only.

    The calls that are open at the end of the log never ended, unless the run is running.
    """
    info = folder.info()
    return Feed(
        Source(info.agent if info else None, beginning=beginning_of(info)),
        lambda stream: Tail(folder.path, stream),
        label=info.label if info else None,
        complete=True,
        is_running=is_running,
    )


def iterate(items: AsyncIterator[Item]) -> Iterator[Item]:
    """Iterate without an event loop over what a stored feed yields: it never waits."""
    while True:
        try:
            items.__anext__().send(None)  # type: ignore[attr-defined]
        except StopIteration as result:
            yield result.value
        except StopAsyncIteration:
            return
