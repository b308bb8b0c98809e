"""What the seeded streams of most agents have in common: one turn, as long as one likes."""

import random
from collections.abc import Iterator

import msgspec
from corpus import CODE, WORDS
from samples import Json

FOLDER = "/home/dev/project"
SMALLEST_OUTPUT, LARGEST_OUTPUT = 50, 1 << 20

_dump = msgspec.json.Encoder().encode


class LongTurn:
    """Writes one long turn: words, commands whose outputs have all sizes, and edits.

    No tool gives more than `largest` bytes.
    """

    def __init__(self, seed: int = 1, *, largest: int = LARGEST_OUTPUT) -> None:
        self._random = random.Random(seed)
        self._largest = largest
        self._things = 0  # that have a number

    def lines(self, size: int) -> Iterator[bytes]:
        """Give lines until about so many bytes were given."""
        for message in self._messages():
            line = _dump(message) + b"\n"
            yield line
            size -= len(line)
            if size <= 0:
                return

    def _messages(self) -> Iterator[Json]:
        raise NotImplementedError

    def _path(self) -> str:
        return f"{FOLDER}/src/module_{self._random.randint(1, 99)}.py"

    def _shell(self) -> str:
        return f"rg -n 'def load' src/module_{self._random.randint(1, 99)}.py | head -50"

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=words))

    def _output(self) -> str:
        """What a command wrote: every size is as likely as one ten times as large."""
        ratio = self._largest / SMALLEST_OUTPUT
        return self._code(int(SMALLEST_OUTPUT * ratio ** self._random.random()))

    def _code(self, size: int) -> str:
        block = "".join(self._random.choices(CODE, k=40))
        return (block * (size // len(block) + 1))[:size]
