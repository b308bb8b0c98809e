"""Base class and number types for the shapes of messages."""

from typing import Annotated

import msgspec

# JSON implementations disagree about integers beyond 2**53; a token count is always smaller.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**32)]

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


class Shape(msgspec.Struct, gc=False):
    """A part of a message."""
