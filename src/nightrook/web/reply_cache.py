"""Caches replies: several viewers send the same request, and one sends it twice."""

from collections import OrderedDict
from collections.abc import Callable

_LARGEST = 64 << 20  # bytes of all answers together


class ReplyCache:
    """Encoded answers by request and state; the ones used last are kept."""

    def __init__(self, largest: int = _LARGEST) -> None:
        self._largest = largest
        self._size = 0
        self._answers: OrderedDict[object, bytes] = OrderedDict()

    def known(self, key: object) -> bytes | None:
        """The answer for a key; None if it is not there."""
        known = self._answers.get(key)
        if known is not None:
            self._answers.move_to_end(key)
        return known

    def get(self, key: object, make: Callable[[], bytes]) -> bytes:
        """The answer for a key; it is made if it is not there."""
        known = self.known(key)
        if known is not None:
            return known
        made = make()
        if len(made) <= self._largest // 4:
            self._answers[key] = made
            self._size += len(made)
            while self._size > self._largest:
                self._size -= len(self._answers.popitem(last=False)[1])
        return made
