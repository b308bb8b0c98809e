"""What outsiders may know of an agent: its name, how to call it, how to read it."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from rookery.core.decoder import Decoder


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """One coding agent. Everything else about it stays in its own folder."""

    name: str
    programs: tuple[str, ...]
    """What its command is called, without folder and `.exe`."""

    output_flags: tuple[str, ...]
    """The flags that make it write messages for machines."""

    checked_versions: tuple[str, ...]
    """The versions whose every message was looked at."""

    decoder: Callable[..., Decoder]
    """Makes a decoder for one stream; takes `cap`, the longest line in bytes."""

    recognises: Callable[[Mapping[str, Any]], bool]
    """Tells whether a message looks like one of its own."""
