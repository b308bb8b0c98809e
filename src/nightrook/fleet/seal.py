"""Files for a worker, sealed with a key that only the job contains.

The server cannot be made to hide one worker's files from another: a request for the last message of
`blob.*.head` returns any job's. So what is stored there is encrypted and signed by its key.
"""

from nightrook.model.errors import NightrookError

KEY_BYTES = 32
_NAME_BYTES = 64  # a digest of the name comes first, so that no part passes for another


class SealError(NightrookError):
    """A sealed part was changed, is another part, or was sealed with another key."""


def new_key() -> bytes:
    """Return a new random key for one file."""
    from nacl.utils import random  # an extra: only for this

    return random(KEY_BYTES)


def seal(key: bytes, part: bytes, name: str) -> bytes:
    """Encrypt a part of a file; only the same key and name open it."""
    from nacl.secret import SecretBox

    return bytes(SecretBox(key).encrypt(_digest(name) + part))


def open_sealed(key: bytes, sealed: bytes, name: str) -> bytes:
    """Return what was sealed under that name, or raise SealError."""
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
