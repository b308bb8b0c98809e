"""What an iteration changed in a repository: compares snapshots of it, and only reads it."""

from pathlib import Path

from nightrook.loops.state import Change
from nightrook.runs.git.git_command import GitError, ask
from nightrook.runs.git.private_objects import private_env
from nightrook.runs.git.repository import Repository


class Snapshots:
    """Snapshots of all files that git does not ignore, and what changed between two of them.

    The index and the objects are kept in a folder of the loop: the repository is only read.
    """

    def __init__(self, repository: Repository, keep: Path) -> None:
        self._repository = repository
        self._keep = keep

    def take(self) -> Change | None:
        """Take a snapshot of the files; None if git fails."""
        tree = self._tree()
        return None if tree is None else Change(mark=tree)

    def change(self, before: Change | None) -> Change | None:
        """What changed since a snapshot; None if that cannot be known."""
        now = self._tree()
        if now is None or before is None or before.mark is None:
            return None
        words = ("diff", "--numstat", "--no-ext-diff", "--no-textconv", before.mark, now, "--")
        numstat = self._ask(*words)
        if numstat is None:
            return None
        rows = [line.split("\t") for line in numstat.split("\n") if line.count("\t") >= 2]
        numbers = [(int(a), int(b)) for a, b, *_ in rows if a.isdigit() and b.isdigit()]
        return Change(
            files=len(rows),
            added=sum(a for a, _ in numbers),
            removed=sum(b for _, b in numbers),
            mark=now,
        )

    def _tree(self) -> str | None:
        if self._ask("add", "--all") is None:
            return None
        return (self._ask("write-tree") or "").strip() or None

    def _ask(self, *words: str) -> str | None:
        try:
            env = private_env(self._repository, self._keep)
        except GitError:
            return None
        return ask(self._repository.top, *words, env=env)
