"""The repository that a loop works in, fixed at its start: its changes and commits."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from nightrook.model.text import one_line
from nightrook.runs.git.git_command import GitError, ask, do, filter_names

FROM_INPUT = ("--pathspec-from-file=-", "--pathspec-file-nul")
"""Arguments for names that are the input of git."""

LITERAL = {"GIT_LITERAL_PATHSPECS": "1"}  # guards: names-not-patterns
"""Variables by which git takes names as they are, not as patterns."""

_LONGEST_PATH = 200
_ENV_FILE = ".env"
_ENV_SAMPLES = (".example", ".sample", ".template", ".dist", ".defaults")
_CALLED = {
    "top": "top folder",
    "git_dir": "git folder",
    "common_dir": "main git folder",
    "objects": "folder of objects",
    "refs": "folder of branches",
    "branch": "branch",
}


class ChangedRepositoryError(GitError):
    """A folder belongs to another repository or branch than when its loop started."""

    def __init__(self, top: str, what: str, now: str | None, then: str | None) -> None:
        place, found, pinned = (
            one_line(name or "missing", _LONGEST_PATH) for name in (top, now, then)
        )
        super().__init__(
            f"{place} is not in the repository or on the branch that the loop started with, so "
            f"nothing was committed: its {what} is now {found}, not {pinned}"
        )


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """A commit that was made, and the files that it leaves out."""

    commit: str | None = None
    """The short hash; None if there was nothing to commit."""

    left_out: tuple[str, ...] = ()
    """Changed files that are never committed."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """A repository with its real paths; git gets them, so that no file can lead it elsewhere."""

    top: str
    git_dir: str
    common_dir: str
    """The same as `git_dir`, but for a worktree."""

    objects: str
    refs: str
    branch: str | None
    """The full name of the branch; None if none is checked out."""

    @property
    def env(self) -> dict[str, str]:
        """Variables that hold git to this repository."""
        pinned = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.top}
        if self.common_dir != self.git_dir:
            pinned["GIT_COMMON_DIR"] = self.common_dir
        return pinned

    def uncommitted(self) -> list[str] | None:
        """The changed files that a commit would include, relative to the top; None if git fails."""
        changes = self.changes()
        return None if changes is None else changes[0]

    def changed_after(self, moment: float) -> list[str]:
        """The files with uncommitted changes that were made later than this."""
        names = self.uncommitted() or ()
        return [name for name in names if _touched(os.path.join(self.top, name)) > moment]

    def require_unchanged(self, cwd: str) -> None:
        """Raise a ChangedRepositoryError if a folder is no longer in this repository and branch."""
        now = find_repository(cwd)
        for field in self.__struct_fields__:
            found, pinned = getattr(now, field, None), getattr(self, field)
            if found != pinned:  # guards: pinned-repository
                raise ChangedRepositoryError(cwd, _CALLED[field], found, pinned)

    def commit(self, message: Callable[[Sequence[str]], str]) -> Committed:
        """Commit every change but those of files that are never committed.

        `message` returns the message for the names of the changed files.
        """
        changes = self.changes()
        if changes is None:
            raise GitError(f"git status failed in {self.top}")
        names, left_out = changes
        if not names:
            return Committed(left_out=tuple(left_out))
        self.commit_files(names, message(names))
        short = (ask(self.top, "rev-parse", "--short", "HEAD", env=self.env) or "").strip()
        return Committed(commit=short or None, left_out=tuple(left_out))

    def commit_files(self, names: Sequence[str], message: str) -> None:
        """Commit these files as they are now, and nothing else that is staged."""
        self.stage(names, env=self.env)
        # Only these: the agent may have staged others.
        do(  # guards: chosen-files-only
            self.top,
            *("commit", "--quiet", "--only", "--cleanup=whitespace"),
            *("--message", message, *FROM_INPUT),
            env={**self.env, **LITERAL},
            names=null_ended(names),
        )

    def stage(self, names: Iterable[str], *, env: Mapping[str, str], ignored: bool = False) -> None:
        """Put these files into the index as they are now; those that are gone are removed there."""
        here, gone = list[str](), list[str]()
        for name in names:
            (here if os.path.lexists(os.path.join(self.top, name)) else gone).append(name)
        if gone:  # git add would refuse one that the index lacks as well
            remove = ("update-index", "--remove", "-z", "--stdin")
            do(self.top, *remove, env=env, names=null_ended(gone))
        if here:
            add = ("add", "--all", *(["--force"] if ignored else []), *FROM_INPUT)
            do(self.top, *add, env={**env, **LITERAL}, names=null_ended(here))

    def changes(
        self, *, env: Mapping[str, str] | None = None, untracked: bool = True
    ) -> tuple[list[str], list[str]] | None:
        """The changed files to commit, and those that are never committed; None if git fails.

        `env` is for an index of our own; `untracked` includes new files that git does not ignore.
        """
        own = env or self.env
        kinds = f"--untracked-files={'all' if untracked else 'no'}"
        status = ask(self.top, "status", "--porcelain", "-z", "--no-renames", kinds, env=own)
        if status is None:
            return None
        entries = [(entry[:2], entry[3:]) for entry in status.split("\0") if entry]
        staged = [name for code, name in entries if code.startswith("A")]
        names = [name for _, name in entries]
        never = self._ignored(staged, own) | self._filtered(names, own)  # guards: no-ignored-files
        never |= set(filter(_is_env_file, names))  # guards: no-secret-files
        return [n for n in names if n not in never], [n for n in names if n in never]

    def _ignored(self, staged: Sequence[str], env: Mapping[str, str]) -> set[str]:
        """The new files that were staged although git ignores them; all of them if git fails."""
        if not staged:
            return set()
        words = ("ls-files", "--cached", "--ignored", "--exclude-standard", "-z")
        ignored = ask(self.top, *words, env=env)
        return set(staged) if ignored is None else set(staged) & set(ignored.split("\0"))

    def _filtered(self, names: Sequence[str], env: Mapping[str, str]) -> set[str]:
        """The files that a filter would have to convert, as of Git LFS; all if git fails."""
        filters = filter_names(self.top, env)
        if not filters or not names:
            return set()
        words = ("check-attr", "-z", "--stdin", "filter")
        found = ask(self.top, *words, env=env, names=null_ended(names))
        if found is None:
            return set(names)
        parts = found.split("\0")
        values = zip(parts[::3], parts[2::3], strict=False)
        return {name for name, value in values if value in filters}


def find_repository(cwd: str) -> Repository | None:
    """The repository that a folder is in now; None outside of one, or without git."""
    words = ("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    paths = (ask(cwd, *words, "--git-path", "objects", "--git-path", "refs") or "").split("\n")
    if len(paths) != 6:
        return None
    top, git_dir, common_dir, objects, refs = (
        os.path.realpath(os.path.join(cwd, path)) for path in paths[:5]
    )
    branch = (ask(cwd, "symbolic-ref", "--quiet", "HEAD") or "").strip()
    return Repository(
        top=top,
        git_dir=git_dir,
        common_dir=common_dir,
        objects=objects,
        refs=refs,
        branch=branch or None,
    )


def is_ignored(cwd: str) -> bool:
    """True if the repository that a folder is in ignores it."""
    return ask(cwd, "check-ignore", "--quiet", ".") is not None


def add_worktree(cwd: str, path: Path, branch: str) -> None:
    """Add a worktree on a new branch; an existing one is left as it is."""
    if path.exists():
        return
    do(cwd, "worktree", "add", "--quiet", "-b", branch, str(path))


def null_ended(names: Iterable[str]) -> str:
    """Names as the input of git, each with a NUL after it."""
    return "".join(f"{name}\0" for name in names)


def _is_env_file(name: str) -> bool:
    """True if a file is a `.env`, which usually holds secrets; a sample of one does not."""
    base = name.rpartition("/")[2]
    is_env = base == _ENV_FILE or base.startswith(f"{_ENV_FILE}.")
    return is_env and not base.endswith(_ENV_SAMPLES)


def _touched(path: str) -> float:
    """Return the last change of a file; of a removed one, that of the folder above it."""
    while True:
        try:
            return os.lstat(path).st_ctime  # unlike st_mtime, no program can set it back
        except OSError:
            path = os.path.dirname(path)
