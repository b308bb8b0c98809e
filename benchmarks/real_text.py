"""Real text of this machine, each piece of it once: sources and pages of installed programs."""

import os
import random
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

_FOLDERS = (
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    "/usr/share",
    "/usr/lib",
    "/usr/include",
    str(Path(__file__).parent.parent / ".cache"),
)
_KINDS = frozenset(
    (
        *(".c", ".cjs", ".css", ".go", ".h", ".hpp", ".html", ".js", ".json", ".md", ".mjs"),
        *(".pl", ".pm", ".py", ".pyi", ".rs", ".rst", ".sh", ".tcl", ".toml", ".ts", ".txt"),
        *(".vim", ".xml", ".yaml", ".yml"),
    )
)
_SMALLEST, _LARGEST = 500, 400_000


class RealText:
    """Gives pieces of text in a random but repeatable order; no file is read twice."""

    def __init__(self, seed: int = 3) -> None:
        self._files = _texts(random.Random(seed))
        self._text = ""
        self._at = 0

    def take(self, size: int) -> str:
        """Return about so many characters that were not returned before."""
        while self._at >= len(self._text):
            self._text, self._at = next(self._files), 0
        begin, self._at = self._at, self._at + size
        return self._text[begin : self._at]

    def whole(self, size: int) -> str:
        """Return so many characters, of several files if one is too short."""
        parts: list[str] = []
        while size > 0:
            parts.append(self.take(size))
            size -= len(parts[-1])
        return "".join(parts)


def _texts(made: random.Random) -> Iterator[str]:
    paths = [path for folder in _FOLDERS for path in _files(folder)]
    paths = sorted(dict.fromkeys(paths))
    made.shuffle(paths)
    seen: set[bytes] = set()
    for path in paths:
        try:
            data = Path(path).read_bytes()
        except OSError:
            continue
        digest = blake2b(data, digest_size=8).digest()
        if digest not in seen:
            seen.add(digest)
            yield data.decode("utf-8", "replace")
    sys.exit("not enough text on this machine for so large a corpus")


def _files(folder: str) -> Iterator[str]:
    for place, _, names in os.walk(folder):
        for path in (Path(place, name) for name in names):
            if path.suffix not in _KINDS or path.is_symlink():
                continue
            with suppress(OSError):
                if _SMALLEST < path.stat().st_size < _LARGEST:
                    yield str(path)
