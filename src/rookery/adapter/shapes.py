"""What the shapes of all agents' messages are made of."""

from typing import Annotated

import msgspec

# Beyond 2**53 no JSON writer agrees with another; a token count never is.
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e15)]
ExitCode = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**32)]

NOTHING = msgspec.Raw()
"""A raw part that the message does not have."""


class Shape(msgspec.Struct, gc=False):
    """A part of a message."""
