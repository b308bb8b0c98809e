"""What callers can catch.

RookeryError                 anything rookery cannot do for you
├── UnknownAgentError        no agent has that name: pick one of `.known`
├── UndetectedAgentError     the bytes fit no agent: name the agent yourself
└── UnreadableSourceError    the file cannot be opened or is no text: fix the file
"""

from collections.abc import Iterable


class RookeryError(Exception):
    """Anything rookery cannot do for you; its text names the thing and the way out."""


class UnknownAgentError(RookeryError):
    """No agent is called that."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"no agent is called {name!r}; there are: {', '.join(self.known)}")


class UndetectedAgentError(RookeryError):
    """The first lines of a stream look like no agent we know."""

    def __init__(self, source: str, known: Iterable[str]) -> None:
        self.source = source
        self.known = tuple(known)
        super().__init__(
            f"{source}: no agent recognises these lines; name it with agent= or --agent "
            f"(there are: {', '.join(self.known)})"
        )


class UnreadableSourceError(RookeryError):
    """A file that cannot be read, or holds nothing to decode."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")
