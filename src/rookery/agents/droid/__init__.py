"""Factory Droid: `adapter` describes it, `command` starts it, `reader` decodes what it writes.

`history` reads its stored sessions; importing it doesn't import the rest.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rookery.agents.droid.adapter import AGENT as AGENT


def __getattr__(name: str) -> Any:
    if name != "AGENT":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rookery.agents.droid.adapter import AGENT

    return AGENT
