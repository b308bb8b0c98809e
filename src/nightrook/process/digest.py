"""The SHA-256 of bytes as they come, without the start-up cost of `hashlib`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # from typing, which takes longer to import than all the rest
if TYPE_CHECKING:
    from typing import Any

# Python's own module is imported in a fifteenth of the time that OpenSSL's takes, but hashes at a
# sixth of its speed. A module that is not there is looked for each time, so it is not tried.
_OWN = ("_sha2" if sys.version_info >= (3, 12) else "_sha256", "sha256")
_SMALL_FIRST = (_OWN, ("_hashlib", "openssl_sha256"))
_SMALL = 512 << 10  # where both take as long


class Digest:
    """Hashes bytes; a few are held until more come, or the end."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._held_size = 0
        self._hash: Any = None

    def update(self, data: bytes) -> None:
        """Add bytes."""
        if self._hash is not None:
            self._hash.update(data)
            return
        self._held.append(data)
        self._held_size += len(data)
        if self._held_size > _SMALL:
            self._hash = _sha256(_SMALL_FIRST[::-1])
            self._empty()

    def hexdigest(self) -> str:
        """The digest of everything so far."""
        if self._hash is None:
            self._hash = _sha256(_SMALL_FIRST)
        self._empty()
        digest: str = self._hash.hexdigest()
        return digest

    def _empty(self) -> None:
        self._hash.update(b"".join(self._held))
        self._held.clear()


def _sha256(modules: tuple[tuple[str, str], ...]) -> Any:
    """A hash of the first module that this Python has."""
    for module, name in modules:
        try:
            return getattr(__import__(module), name)()
        except ImportError:
            continue
    raise ImportError("this Python has no SHA-256")
