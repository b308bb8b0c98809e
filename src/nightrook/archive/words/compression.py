"""Compresses the texts of documents: with zstandard if it is installed, otherwise with zlib."""

import zlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

_ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""How data begins that zstandard compressed."""

_LEVEL = 3
_LARGEST = 1 << 30  # of one text: more is damage


def compress(text: str) -> bytes:
    """Compress a text."""
    return _compressor()(text.encode("utf-8", "replace"))


@cache
def _compressor() -> Callable[[bytes], bytes]:
    if find_spec("zstandard") is None:  # it is in the extra `archive`
        return zlib.compress
    import zstandard

    return zstandard.ZstdCompressor(level=_LEVEL).compress


def decompress(data: bytes) -> str:
    """Return a text that was compressed; empty if it is damaged, or zstandard is missing."""
    try:
        return _decompressed(data).decode("utf-8", "replace")
    except Exception:  # an excerpt is not worth an error, whatever the library raises
        return ""


def _decompressed(data: bytes) -> bytes:
    if not data.startswith(_ZSTANDARD):
        return zlib.decompress(data)
    import zstandard

    return zstandard.ZstdDecompressor().decompress(data, max_output_size=_LARGEST)
