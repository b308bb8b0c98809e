"""Ships a run of this machine to a fleet while it runs: another program schedules it."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from msgspec.structs import replace

from nightrook.asyncio_tasks import end_tasks
from nightrook.fleet.connection import Address, Connection, FleetError, connect, connected
from nightrook.fleet.messages import Claimed, Ended
from nightrook.fleet.shipper import Attempt, Shipper
from nightrook.model.text import suggested
from nightrook.runs.run import Run
from nightrook.store.run_folder import RunFolder
from nightrook.version import __version__

_FINISH_S = 30.0
_CLAIM_AGAIN_S = 1.0
_INSTANCE_BYTES = 8


@asynccontextmanager
async def shipped(run: Run, address: Address, say: Callable[[str], None]) -> AsyncIterator[None]:
    """Ship a run while the block lasts; at the end, wait a little until the server has it all.

    The agent never waits for the server, and the run is complete here whatever happens to it.
    """
    ending = asyncio.Event()
    shipping = asyncio.create_task(_ship(run, address, ending, say))
    try:
        yield
    finally:
        ending.set()
        await asyncio.gather(shipping, return_exceptions=True)


async def _ship(
    run: Run, address: Address, ending: asyncio.Event, say: Callable[[str], None]
) -> None:
    connecting = asyncio.create_task(connect(address, patience_s=None))
    over = asyncio.create_task(ending.wait())
    await asyncio.wait([connecting, over], return_when=asyncio.FIRST_COMPLETED)
    if not connecting.done():
        with suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_S):
                await asyncio.shield(connecting)
    if not connecting.done() or connecting.exception() is not None:
        connecting.cancel()
        say(f"run {run.name} was not sent: the server cannot be reached; {_later(run.folder)}")
        return
    connection = connecting.result()
    try:
        await _ship_over(connection, run, over, say)
    finally:
        await connection.close()


async def _ship_over(
    connection: Connection,
    run: Run,
    over: "asyncio.Task[bool]",
    say: Callable[[str], None],
) -> None:
    shipper = Shipper(connection, Attempt(connection.address.user, run.name), run.folder.path)
    claimed = _claimed(run.folder)
    following = asyncio.create_task(_follow(shipper, run, claimed))
    await over
    await end_tasks([following])
    if not await _finished(shipper, run.folder, claimed):
        problem = shipper.problem or "the server is slow"
        say(f"run {run.name} was not fully sent: {problem}; {_later(run.folder)}")
    shipper.close()


async def ship_again(folder: RunFolder, address: Address) -> None:
    """Send a run that has ended, from its beginning: chunks sent twice are harmless."""
    if folder.verdict() is None:
        raise FleetError(f"run {folder.name} has not ended")
    async with connected(address) as connection:
        shipper = Shipper(connection, Attempt(address.user, folder.name), folder.path)
        try:
            if not await _finished(shipper, folder, _claimed(folder)):
                raise FleetError(f"run {folder.name} was not fully sent: {shipper.problem}")
        finally:
            shipper.close()


async def _finished(shipper: Shipper, folder: RunFolder, claimed: Claimed) -> bool:
    """Send the rest of a run, and the claim, without which its chunks are not accepted."""
    ended = Ended(info=folder.info(), exit=folder.exit(), verdict=folder.verdict())
    try:
        async with asyncio.timeout(_FINISH_S):
            await _claim(shipper, claimed)
            return await shipper.finish(lambda sizes: replace(ended, sizes=sizes))
    except TimeoutError:
        return False


def _claimed(folder: RunFolder) -> Claimed:
    instance = secrets.token_hex(_INSTANCE_BYTES)
    return Claimed(instance=instance, version=__version__, info=folder.info())


def _later(folder: RunFolder) -> str:
    return f"send it later with  {suggested('fleet ship', folder.name)}"


async def _follow(shipper: Shipper, run: Run, claimed: Claimed) -> None:
    await _claim(shipper, claimed)
    await shipper.follow(run.feed.more, lambda: run.feed.count)


async def _claim(shipper: Shipper, claimed: Claimed) -> None:
    """Report that the run starts, until the server has stored it, which it does once."""
    while True:
        try:
            await shipper.claim(claimed)
            return
        except FleetError as error:
            shipper.problem = str(error)
        await asyncio.sleep(_CLAIM_AGAIN_S)
