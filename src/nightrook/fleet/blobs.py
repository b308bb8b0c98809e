"""Files for the worker that gets a job: sealed parts on the server, and a key in the job.

The server cannot be made to hide one worker's files from another: a request for the last message of
`blob.*.head` returns any job's. So what is stored there is encrypted and signed with a key that
only the job contains.
"""

import asyncio
import hashlib
import os
from pathlib import Path
from typing import BinaryIO

from nightrook.fleet import subjects
from nightrook.fleet.connection import Connection, FleetError
from nightrook.fleet.messages import Blob
from nightrook.model.errors import NightrookError

_PART = 512 * 1024
_GET = f"$JS.API.DIRECT.GET.{subjects.BLOBS}"
KEY_BYTES = 32
_NAME_BYTES = 64  # a digest of the name comes first, so that no part passes for another


class BlobError(FleetError):
    """A file of a job is not on the server, or not as it was sent."""


class SealError(NightrookError):
    """A sealed part was changed, is another part, or was sealed with another key."""


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
    """Write a file of the server to a new file here; a BlobError if it has changed."""
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
    """The name of the parts, which does not give away the key."""
    return hashlib.sha256(key).hexdigest()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def new_key() -> bytes:
    """Return a new random key for one file."""
    from nacl.utils import random  # an extra: only for this

    return random(KEY_BYTES)


def seal(key: bytes, part: bytes, name: str) -> bytes:
    """Encrypt a part of a file; only the same key and name open it."""
    from nacl.secret import SecretBox

    return bytes(SecretBox(key).encrypt(_digest(name) + part))


def open_sealed(key: bytes, sealed: bytes, name: str) -> bytes:
    """Return the data sealed under that name, or raise SealError."""
    from nacl.exceptions import CryptoError
    from nacl.secret import SecretBox

    try:
        plain = SecretBox(key).decrypt(sealed)
    except (CryptoError, ValueError, TypeError) as error:
        raise SealError(f"{name} cannot be opened: {error}") from error
    if plain[:_NAME_BYTES] != _digest(name):  # guards: part-not-another
        raise SealError(f"{name} cannot be opened: it is another part")
    return plain[_NAME_BYTES:]


def _digest(name: str) -> bytes:
    from hashlib import blake2b

    return blake2b(name.encode(), digest_size=_NAME_BYTES).digest()
