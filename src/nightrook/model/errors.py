"""The errors that callers can catch.

NightrookError                 anything that nightrook cannot do
├── UnknownAgentError        no agent has that name: use one of `.known`
├── OptionError              an option has a value of the wrong type: pass what `.takes` says
├── UnsupportedError         the agent cannot do that: leave it out, or use another agent
├── UndetectedAgentError     the stream matches no agent: name the agent
├── UnreadableSourceError    the file cannot be opened or isn't text: fix the file
├── BadRunNameError          a run cannot have that name: use one that `rook runs` lists
├── UnknownRunError          no run has that name: use one of `.nearest`
├── AmbiguousRunError        several runs' names start with that: use one of `.candidates`
├── ConfigError              a setting is wrong: fix it at `.place`
└── RunFolderError           a run's files cannot be read or written: fix `.path`
    ├── UnsafeRunError       a link or another user's file is in the way: move it away
    ├── DamagedRunError      a file of the run is invalid: its raw logs are still there
    └── NewerRunError        a later version of nightrook wrote it: upgrade
"""

from collections.abc import Iterable

from nightrook.model.text import cut

_MOST_SHOWN = 8  # names in a message
_LONGEST_VALUE = 60


class NightrookError(Exception):
    """Anything that nightrook cannot do; the message names the cause and a solution."""


class UnknownAgentError(NightrookError):
    """No agent has that name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        from difflib import get_close_matches  # only a typo needs it

        self.name = name
        self.known = tuple(known)
        message = f"no agent named {name!r}; known agents: {', '.join(self.known)}"
        if nearest := get_close_matches(name, self.known, n=1):
            message += f"; did you mean {nearest[0]}?"
        super().__init__(message)


class OptionError(NightrookError):
    """An option was passed a value that it does not take; nothing was started."""

    def __init__(self, name: str, takes: str, value: object) -> None:
        self.name = name
        self.takes = takes
        super().__init__(f"{name} takes {takes}, not {cut(repr(value), _LONGEST_VALUE)}")


class UnsupportedError(NightrookError):
    """An agent cannot do what was asked; `way_out` says what to do instead."""

    def __init__(self, agent: str, what: str, way_out: str) -> None:
        self.agent = agent
        self.what = what
        super().__init__(f"{agent} {what}: {way_out}")


class UndetectedAgentError(NightrookError):
    """The first lines of a stream match no known agent."""

    def __init__(self, source: str, known: Iterable[str]) -> None:
        self.source = source
        self.known = tuple(known)
        super().__init__(
            f"{source}: no agent recognises these lines; name the agent with agent= or "
            f"--agent (known agents: {', '.join(self.known)})"
        )


class UnreadableSourceError(NightrookError):
    """A file that cannot be read, or contains nothing to decode."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")


class BadRunNameError(NightrookError):
    """A run cannot have that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"{cut(name, 70)!r} is not a valid run name: use 1 to 64 letters, digits, '.', '_' and "
            "'-', starting with a letter or a digit"
        )


class UnknownRunError(NightrookError):
    """No run, loop or batch has that name."""

    def __init__(self, name: str, nearest: Iterable[str] = (), *, what: str = "run") -> None:
        self.name = name
        self.nearest = tuple(nearest)
        names = "rook batches" if what == "batch" else f"rook {what}s"
        hint = f"did you mean {_some(self.nearest, 'or')}?" if self.nearest else f"see {names}"
        super().__init__(f"no {what} named {name!r}; {hint}")


class AmbiguousRunError(NightrookError):
    """The names of several runs, or loops, start with that."""

    def __init__(self, name: str, candidates: Iterable[str], *, what: str = "run") -> None:
        self.name = name
        self.candidates = tuple(candidates)
        super().__init__(
            f"several {what}s' names start with {name!r}: {_some(self.candidates, 'and')}; "
            "type more of the name"
        )


class ConfigError(NightrookError):
    """An invalid setting, with the file and the line, or the variable."""

    def __init__(self, place: str, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


class RunFolderError(NightrookError):
    """A run's files cannot be read or written."""

    way_out = "fix that, or choose another home for runs"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}; {self.way_out}")


class UnsafeRunError(RunFolderError):
    """A link, or another user's file, is where a run's files should be."""

    way_out = "move it away, or choose another home for runs"


class DamagedRunError(RunFolderError):
    """A file of a run is invalid."""

    way_out = "the raw logs in the same folder can still be decoded"


class NewerRunError(RunFolderError):
    """A run was written by a later version."""

    way_out = "upgrade nightrook to read it"


def _some(names: tuple[str, ...], word: str) -> str:
    """Join names, the first few of many."""
    if len(names) > _MOST_SHOWN:
        return f"{', '.join(names[:_MOST_SHOWN])} and {len(names) - _MOST_SHOWN} more"
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last
