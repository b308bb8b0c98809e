"""What a run folder has now: the feed of an ended run, its bytes with times, its state."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TypeVar

from rookery.feed.feed import Feed
from rookery.feed.source import Source
from rookery.feed.tail import Piece, Tail
from rookery.model.errors import UnknownAgentError
from rookery.model.price import Prices
from rookery.model.state import RunState
from rookery.store.arrivals import Stream
from rookery.store.run_folder import RunFolder
from rookery.store.run_formats import RunInfo, beginning_of

Item = TypeVar("Item")


def stored_feed(folder: RunFolder) -> Feed:
    """The feed of a run that has ended; a command that no adapter knows has text only."""
    info = folder.info()
    return Feed(
        Source(info.agent if info else None, beginning=beginning_of(info)),
        lambda stream: Tail(folder.path, stream),
        label=info.label if info else None,
        complete=True,
    )


def pieces(folder: Path, stream: Stream = "stdout") -> Iterator[Piece]:
    """The bytes that a log has now, in the pieces in which they arrived."""
    with Tail(folder, stream) as tail:
        while read := tail.read():
            yield from read


def iterate(items: AsyncIterator[Item]) -> Iterator[Item]:
    """Iterate without an event loop over what a stored feed yields: it never waits."""
    while True:
        try:
            items.__anext__().send(None)  # type: ignore[attr-defined]
        except StopIteration as result:
            yield result.value
        except StopAsyncIteration:
            return


def state_of(folder: RunFolder, info: RunInfo, prices: Prices) -> RunState | None:
    """The state of a run as far as its log goes; None if it is not a stream of a known agent."""
    try:
        source = Source(info.agent, detect=info.piped, beginning=beginning_of(info), prices=prices)
    except UnknownAgentError:
        return None
    for data, at in pieces(folder.path):
        source.feed(data, at)
    source.close()
    return None if source.agent is None else source.state
