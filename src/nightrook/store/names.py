"""The names of runs, loops and batches: valid ones, their kinds, and new ones."""

import os
import re
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Literal

from nightrook.model.errors import AmbiguousRunError, BadRunNameError, UnknownRunError
from nightrook.store.files import Folder, last_changes

Kind = Literal["run", "loop", "batch"]

LETTERS = "abcdefghijkmnpqrstuvwxyz"
DIGITS = "23456789"
"""Letters and digits of a name, without 0, o, 1 and l, which look alike."""

_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SHORTEST = 4
_LONGEST = 64
_TRIES = 4  # at each length, before names grow


def is_name(text: str) -> bool:
    """True if a run can have this name; a valid name never leads out of its folder."""
    return _NAME.fullmatch(text) is not None  # guards: name-inside


def check_name(text: str) -> str:
    """Return the name if it is valid; a BadRunNameError says why it is not."""
    if not is_name(text):
        raise BadRunNameError(text)
    return text


def kind_of(name: str) -> Kind:
    """Return the kind of thing a name belongs to, by its prefix; only names of runs have none."""
    kinds: tuple[Kind, ...] = ("loop", "batch")
    return next((kind for kind in kinds if name.startswith(prefix_of(kind))), "run")


def prefix_of(kind: Kind) -> str:
    """The beginning of all names of a kind, so that no loop has the name of a run."""
    return "" if kind == "run" else f"{kind}-"


def named_folders(home: Path, parent: str) -> dict[str, float]:
    """The names of all runs, loops or batches, and when the folder of each last changed.

    `parent` is the folder below home that holds them. Links and other names are left out.
    """
    folder = Folder.at(home, parent)
    if folder is None:
        return {}
    with folder:
        return {name: at for name, at in last_changes(folder).items() if is_name(name)}


def new_names() -> Iterator[str]:
    """Names for a new run, to be tried in turn; they grow as more of them are taken."""
    for attempt in count():
        length = min(_SHORTEST + attempt // _TRIES, _LONGEST)
        rest = (_random_of(LETTERS + DIGITS) for _ in range(length - 1))
        yield _random_of(LETTERS) + "".join(rest)


def _random_of(characters: str) -> str:
    # Not with `secrets`, which takes long to import.
    return characters[int.from_bytes(os.urandom(8)) % len(characters)]


def branch_of(worktree: str) -> str:
    """The branch of a run's git worktree, which has the name of the run."""
    return f"rook/{os.path.basename(worktree)}"


def pick(text: str, known: Iterable[str], *, what: Kind = "run") -> str:
    """The name that a text stands for: the same name, or the only one that starts with it.

    The prefix of a loop or batch may be left out. A BadRunNameError, AmbiguousRunError or
    UnknownRunError says why it is none.
    """
    text = text if kind_of(text) == what else prefix_of(what) + text
    check_name(text)
    names = sorted(known)
    if text in names:
        return text
    candidates = [name for name in names if name.startswith(text)]
    if len(candidates) > 1:
        raise AmbiguousRunError(text, candidates, what=what)
    if not candidates:
        from difflib import get_close_matches  # only a typo needs it

        raise UnknownRunError(text, get_close_matches(text, names), what=what)
    return candidates[0]
