"""How large a repository and its results may be on their way."""

import msgspec

from nightrook.display.numbers import size as size_words
from nightrook.model.errors import NightrookError

_MIB = 1024 * 1024


class TooLargeError(NightrookError):
    """What should be sent is larger than the limit."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes in bytes from which a warning is due, and above which nothing is sent."""

    warn: int = 200 * _MIB
    refuse: int = 2048 * _MIB

    def check(self, what: str, size: int, way_out: str) -> str | None:
        """A warning if a thing is large; a TooLargeError if it is too large."""
        if size > self.refuse:
            raise TooLargeError(
                f"{what} is too large to send: {size_words(size)}, and the limit is "
                f"{size_words(self.refuse)}; {way_out}"
            )
        if size > self.warn:
            return f"{what} is large: {size_words(size)}; {way_out}"
        return None
