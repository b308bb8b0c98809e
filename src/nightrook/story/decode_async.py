"""Decodes a stored stream as `decode` does, without blocking the event loop."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import aclosing
from os import PathLike
from typing import Any, BinaryIO

from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model.records import Record
from nightrook.story.decode import (
    CHUNK,
    ByteSource,
    StrictDecoder,
    is_file,
    name_of,
    open_source,
    read_chunks,
)

AsyncSource = ByteSource | AsyncIterable[bytes]


async def decode_async(
    source: AsyncSource, agent: str | None = None, *, cap: int = DEFAULT_CAP
) -> AsyncIterator[Record]:
    """Decode a stream as `decode` does, without blocking the event loop.

    It takes the source over: whatever happens, cancellation too, the source is closed when the
    iteration ends. Leave it early inside `contextlib.aclosing`.
    """
    decoder = StrictDecoder(name_of(source), agent, cap)
    async with aclosing(_async_chunks(source)) as chunks:
        async for chunk in chunks:
            for record in decoder.feed(chunk):
                yield record
    for record in decoder.close():
        yield record


async def _async_chunks(source: AsyncSource) -> AsyncGenerator[bytes, None]:
    if isinstance(source, (str, PathLike)):
        source = await asyncio.to_thread(open_source, source)
    if is_file(source):
        async with aclosing(_read_file(source)) as pieces:
            async for piece in pieces:
                yield piece
        return
    try:
        if isinstance(source, AsyncIterable):
            async for piece in source:
                yield piece
        else:
            for piece in source:
                yield piece
    finally:
        await _close_iterable(source)


async def _read_file(file: BinaryIO) -> AsyncGenerator[bytes, None]:
    try:
        if _is_pipe(file):
            async for chunk in _read_pipe(file):
                yield chunk
        else:
            pieces = read_chunks(file, name_of(file))
            while chunk := await asyncio.to_thread(next, pieces, b""):
                yield chunk
    finally:
        file.close()


async def _read_pipe(file: BinaryIO) -> AsyncIterator[bytes]:
    """Read a pipe in the event loop: a thread waiting in read() could not be cancelled."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport, _ = await loop.connect_read_pipe(lambda: protocol, file)
    try:
        while chunk := await reader.read(CHUNK):
            yield chunk
    finally:
        transport.close()


async def _close_iterable(source: Any) -> None:
    for name in ("aclose", "close"):
        if close := getattr(source, name, None):
            done = close()
            if name == "aclose":
                await done
            return


def _is_pipe(file: BinaryIO) -> bool:
    try:
        mode = os.fstat(file.fileno()).st_mode
    except (OSError, ValueError, AttributeError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
