"""Files for the worker that gets a job: sealed parts on the server, and a key in the job."""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import BinaryIO

from nightrook.fleet import subjects
from nightrook.fleet.connection import Connection, FleetError
from nightrook.fleet.messages import Blob
from nightrook.fleet.seal import SealError, new_key, open_sealed, seal

_PART = 512 * 1024
_GET = f"$JS.API.DIRECT.GET.{subjects.BLOBS}"


class BlobError(FleetError):
    """A file of a job is not on the server, or not as it was sent."""


async def send_blob(connection: Connection, path: Path) -> Blob:
    """Store a file on the server, part by part; the result opens it."""
    key, digest, size, parts = new_key(), hashlib.sha256(), 0, 0
    name = _name(key)
    with await asyncio.to_thread(open, path, "rb") as file:
        while part := await asyncio.to_thread(file.read, _PART):
            sealed = seal(key, part, f"{name}/{parts}")
            await connection.publish(subjects.blob(name, parts), sealed)
            digest.update(part)
            size, parts = size + len(part), parts + 1
    return Blob(secret=key.hex(), size=size, sha256=digest.hexdigest(), parts=parts)


async def receive_blob(connection: Connection, blob: Blob, path: Path) -> None:
    """Write a file of the server to a new file here; a BlobError if it is not what was sent."""
    with await asyncio.to_thread(open, path, "xb", opener=_private) as file:
        try:
            await _receive(connection, blob, file)
        except (SealError, ValueError) as error:
            raise BlobError(
                "the repository of the job is no longer on the server, or was changed there"
            ) from error


async def _receive(connection: Connection, blob: Blob, file: BinaryIO) -> None:
    key, digest, size = bytes.fromhex(blob.secret), hashlib.sha256(), 0
    name = _name(key)
    for number in range(blob.parts):
        sealed = await connection.ask(f"{_GET}.{subjects.blob(name, number)}")
        part = open_sealed(key, sealed, f"{name}/{number}")
        size += len(part)
        if size > blob.size:
            raise ValueError("more bytes than were sent")
        digest.update(part)
        await asyncio.to_thread(file.write, part)
    if (size, digest.hexdigest()) != (blob.size, blob.sha256):
        raise ValueError("other bytes than were sent")


def _name(key: bytes) -> str:
    """Where the parts are: the name does not give away the key."""
    return hashlib.sha256(key).hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
