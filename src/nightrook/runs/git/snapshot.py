"""The files of a checkout as a commit, made with an index and objects of our own."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from nightrook.runs.git.git_command import Answer, GitError, answered, ask, do, failure
from nightrook.runs.git.repository import FROM_INPUT, LITERAL, Repository, null_ended

_IDENTITY = {
    "GIT_AUTHOR_NAME": "rook",
    "GIT_AUTHOR_EMAIL": "rook@localhost",
    "GIT_COMMITTER_NAME": "rook",
    "GIT_COMMITTER_EMAIL": "rook@localhost",
}
_FIRST_DATE = "@0 +0000"  # for a commit without parent


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A commit with the files of a checkout as they are now."""

    commit: str
    head: str | None
    """The commit that is checked out; None in a repository without commits."""

    left_out: tuple[str, ...] = ()
    """Changed files that are not in it: filtered ones, `.env` files and repositories inside."""

    @property
    def has_changes(self) -> bool:
        """True if anything differs from the commit that is checked out."""
        return self.commit != self.head


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """The changed files of a checkout, before they are read."""

    names: tuple[str, ...]
    left_out: tuple[str, ...]
    size: int
    """The bytes of all files that would be read."""


def pending(repository: Repository, env: Mapping[str, str], *, untracked: bool) -> Pending:
    """List the changed files; `env` is that of `private_env`, whose index becomes a copy."""
    _copy_index(repository, env)
    changes = repository.changes(env=env, untracked=untracked)
    if changes is None:
        raise GitError(f"git status failed in {repository.top}")
    names, left_out = changes
    nested = [name for name in names if name.endswith("/")]  # repositories in this one
    kept = tuple(name for name in names if not name.endswith("/"))
    size = sum(_size(os.path.join(repository.top, name)) for name in kept)
    return Pending(names=kept, left_out=(*left_out, *nested), size=size)


def snapshot(
    repository: Repository, env: Mapping[str, str], files: Pending, *, message: str, date: str = ""
) -> Snapshot:
    """Commit the files of a checkout, as far as they changed; no ref leads to the commit.

    Without a date, the commit gets that of its parent: the same files give the same commit.
    """
    head = head_of(repository, env)
    if files.left_out:  # they may be staged
        names, literal = null_ended(files.left_out), {**env, **LITERAL}
        do(repository.top, "reset", "--quiet", *FROM_INPUT, env=literal, names=names)
    if files.names:
        repository.stage(files.names, env=env)
    tree = output(repository, env, "write-tree")
    if head is not None and tree == output(repository, env, "rev-parse", f"{head}^{{tree}}"):
        return Snapshot(commit=head, head=head, left_out=files.left_out)
    date = date or _date_of(repository, env, head)
    parents = () if head is None else (head,)
    commit = commit_tree(repository, env, tree, *parents, message=message, date=date)
    return Snapshot(commit=commit, head=head, left_out=files.left_out)


def head_of(repository: Repository, env: Mapping[str, str]) -> str | None:
    """The commit that is checked out; None in a repository without commits."""
    words = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    return (ask(repository.top, *words, env=env) or "").strip() or None


def commit_tree(
    repository: Repository,
    env: Mapping[str, str],
    tree: str,
    *parents: str,
    message: str,
    date: str = _FIRST_DATE,
) -> str:
    """Make a commit of a tree in rook's own name."""
    named = [word for parent in parents for word in ("-p", parent)]
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    own = {**env, **_IDENTITY, **dates}
    return output(repository, own, "commit-tree", tree, *named, "-m", message)


def output(repository: Repository, env: Mapping[str, str], *words: str) -> str:
    """One line that a git command writes; a GitError if it fails."""
    answer: Answer = answered(repository.top, *words, env=env)
    if answer.code:
        raise failure(words[0], answer)
    return answer.output.strip()


def _date_of(repository: Repository, env: Mapping[str, str], head: str | None) -> str:
    if head is None:
        return _FIRST_DATE
    words = ("show", "--no-patch", "--no-show-signature", "--format=%cd", "--date=raw", head)
    return f"@{output(repository, env, *words)}"


def _copy_index(repository: Repository, env: Mapping[str, str]) -> None:
    """Start with the user's index, whose times spare git from reading unchanged files.

    The copy keeps its own time too: git reads files that changed about when the index was written.
    """
    own = Path(env["GIT_INDEX_FILE"])
    own.unlink(missing_ok=True)
    index = Path(repository.git_dir, "index")
    if index.is_file():
        shutil.copy2(index, own)  # guards: index-time-kept


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0  # it was removed, which is the change
