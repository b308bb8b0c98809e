"""Takes away what root may do beside what modes of files allow, and gives it back."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522
_READ_AND_WRITE_EVERYTHING = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_Words = ctypes.c_uint32 * 6  # effective, permitted and inheritable, twice 32 bits each
_Header = ctypes.c_uint32 * 2


@contextmanager
def ordinary_rights() -> Iterator[None]:
    """Let the modes of files hold for root as well, in this thread."""
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, words = _Header(_VERSION, 0), _Words()
    assert libc.capget(header, words) == 0
    before = words[0]
    words[0] &= ~_READ_AND_WRITE_EVERYTHING
    assert libc.capset(header, words) == 0
    try:
        yield
    finally:
        words[0] = before
        assert libc.capset(header, words) == 0
