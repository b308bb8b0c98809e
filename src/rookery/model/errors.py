"""What callers can catch.

RookeryError                 anything rookery cannot do for you
├── UnknownAgentError        no agent has that name: pick one of `.known`
├── OptionError              an option has a value of the wrong type: pass what `.takes` says
├── UnsupportedError         the agent has no way to do that: leave it out, or take another
├── UndetectedAgentError     the bytes fit no agent: name the agent yourself
├── UnreadableSourceError    the file cannot be opened or is no text: fix the file
├── BadRunNameError          no run can have that name: give one as runs are listed
├── UnknownRunError          no run has that name: pick one of `.nearest`
├── AmbiguousRunError        several runs' names begin so: pick one of `.candidates`
├── ConfigError              a setting is wrong: mend it at `.place`
└── RunFolderError           what a run keeps cannot be read or written: mend `.path`
    ├── UnsafeRunError       a link or another user's file is in the way: move it away
    ├── DamagedRunError      a file of the run makes no sense: its raw logs are still there
    └── NewerRunError        a later rookery wrote it: upgrade
"""

from collections.abc import Iterable

from rookery.model.text import cut

_MOST_SHOWN = 8  # names in a message
_LONGEST_VALUE = 60


class RookeryError(Exception):
    """Anything rookery cannot do for you; its text names the thing and the way out."""


class UnknownAgentError(RookeryError):
    """No agent is called that."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"no agent is called {name!r}; there are: {', '.join(self.known)}")


class OptionError(RookeryError):
    """An option was passed a value that it does not take; nothing was started."""

    def __init__(self, name: str, takes: str, value: object) -> None:
        self.name = name
        self.takes = takes
        super().__init__(f"{name} takes {takes}, not {cut(repr(value), _LONGEST_VALUE)}")


class UnsupportedError(RookeryError):
    """An agent has no way to do what was asked; `way_out` says what to do instead."""

    def __init__(self, agent: str, what: str, way_out: str) -> None:
        self.agent = agent
        self.what = what
        super().__init__(f"{agent} {what}: {way_out}")


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


class BadRunNameError(RookeryError):
    """No run can be called that."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{cut(name, 70)!r} cannot be the name of a run: a name has 1 to 64 letters, digits, "
            "'.', '_' and '-', and begins with a letter or a digit"
        )


class UnknownRunError(RookeryError):
    """No run, or no loop, is called that."""

    def __init__(self, name: str, nearest: Iterable[str] = (), *, what: str = "run") -> None:
        self.name = name
        self.nearest = tuple(nearest)
        hint = f"; did you mean {_some(self.nearest, 'or')}?" if self.nearest else ""
        super().__init__(f"no {what} is called {name!r}{hint}")


class AmbiguousRunError(RookeryError):
    """The names of several runs, or loops, begin like that."""

    def __init__(self, name: str, candidates: Iterable[str], *, what: str = "run") -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(
            f"several {what}s' names begin with {name!r}: {_some(self.candidates, 'and')}; "
            "give more of the name"
        )


class ConfigError(RookeryError):
    """A setting that makes no sense, with the file and the line, or the variable."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


class RunFolderError(RookeryError):
    """What a run keeps cannot be read or written."""

    way_out = "mend that, or choose another home for runs"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}; {self.way_out}")


class UnsafeRunError(RunFolderError):
    """A link, or something of another user, stands where a run's files should be."""

    way_out = "move it away, or choose another home for runs"


class DamagedRunError(RunFolderError):
    """A file of a run cannot be understood."""

    way_out = "the raw logs beside it can still be decoded"


class NewerRunError(RunFolderError):
    """A run was written by a later version."""

    way_out = "upgrade rookery to read it"


def _some(names: tuple[str, ...], word: str) -> str:
    """Join names, the first few of many."""
    if len(names) > _MOST_SHOWN:
        return f"{', '.join(names[:_MOST_SHOWN])} and {len(names) - _MOST_SHOWN} more"
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last
