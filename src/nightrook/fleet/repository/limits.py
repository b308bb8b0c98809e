"""Limits on sending a repository: its size, and the parts that are not sent, or not whole."""

from collections.abc import Mapping, Sequence

import msgspec

from nightrook.display.numbers import size as size_words
from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import count, cut
from nightrook.runs.git.git_command import ask
from nightrook.runs.git.repository import Repository

_MIB = 1024 * 1024
_MOST_NAMES = 3
_LONGEST_NAME = 80
_SUBMODULE = "160000"


class TooLargeError(NightrookError):
    """A repository or a result is larger than the limit."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes in bytes from which a warning is due, and above which nothing is sent."""

    warn: int = 200 * _MIB
    refuse: int = 2048 * _MIB

    def check(self, what: str, size: int, way_out: str) -> str | None:
        """A warning if a thing is large; a TooLargeError if it is too large."""
        if size > self.refuse:
            raise TooLargeError(
                f"{what} is too large to send: {size_words(size)}, and the limit is "
                f"{size_words(self.refuse)}; {way_out}"
            )
        if size > self.warn:
            return f"{what} is large: {size_words(size)}; {way_out}"
        return None


def repository_notes(
    repository: Repository, env: Mapping[str, str], commit: str, shallow: Sequence[str]
) -> list[str]:
    """Name the parts of a commit that a worker does not get: history, submodules, Git LFS."""
    notes = []
    if shallow:
        notes.append(
            "this is a shallow clone: the worker gets the same short history; "
            "git fetch --unshallow gets all of it"
        )
    if submodules := _submodules(repository, env, commit):
        notes.append(
            f"{count(len(submodules), 'submodule')} not sent ({some(submodules)}): a task that "
            "needs them can run git submodule update --init"
        )
    if pointers := _lfs_files(repository, env, commit):
        notes.append(
            f"{count(len(pointers), 'file')} of Git LFS sent as pointers ({some(pointers)}): a "
            "task that needs the contents can run git lfs pull with the address of the remote"
        )
    return notes


def left_out_note(names: Sequence[str]) -> list[str]:
    """Name the changed files that are not sent."""
    if not names:
        return []
    return [
        f"the changes of {count(len(names), 'file')} are not sent ({some(names)}): .env files, "
        "files that a filter such as Git LFS stores, and repositories inside of this one are left "
        "out; commit what the task needs"
    ]


def some(names: Sequence[str]) -> str:
    """The first few names, safe to print."""
    shown = [cut(safe_line(name), _LONGEST_NAME) for name in names[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _submodules(repository: Repository, env: Mapping[str, str], commit: str) -> list[str]:
    listed = ask(repository.top, "ls-tree", "-r", "-z", "--full-tree", commit, env=env) or ""
    entries = (entry.partition("\t") for entry in listed.split("\0"))
    return [name for about, _, name in entries if about.startswith(_SUBMODULE)]


def _lfs_files(repository: Repository, env: Mapping[str, str], commit: str) -> list[str]:
    """The files that are pointers of Git LFS, found by their first line."""
    first_line = "^version https://git-lfs\\.github\\.com/spec/v1$"
    words = ("grep", "--full-name", "-z", "-l", "-I", "--no-textconv", "-e", first_line)
    listed = ask(repository.top, *words, commit, "--", ":(top,attr:filter=lfs)", env=env) or ""
    return [name.partition(":")[2] for name in listed.split("\0") if name]
