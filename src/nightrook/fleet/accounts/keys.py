"""Keys of members: a seed signs, the public key stands in the server's file."""

import os
from typing import NamedTuple

from nightrook.model.errors import NightrookError

_SEED_BYTES = 32


class Key(NamedTuple):
    """A new key."""

    seed: str
    public: str

    def __repr__(self) -> str:
        """Leave out the seed."""
        return f"Key(public={self.public!r})"


def new_key() -> Key:
    """Make a key from 32 random bytes."""
    check_installed()
    import nkeys

    seed = nkeys.encode_seed(os.urandom(_SEED_BYTES), nkeys.PREFIX_BYTE_USER)
    pair = nkeys.from_seed(bytearray(seed))
    return Key(seed.decode("ascii"), pair.public_key.decode("ascii"))


def check_installed() -> None:
    """Refuse to go on without the packages of the extra `fleet`."""
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in ("nats", "nkeys")):
        raise NightrookError("a fleet needs more packages: pip install 'nightrook[fleet]'")
