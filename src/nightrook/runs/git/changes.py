"""The changes of a run in a repository, as two commits: shown as a diff, applied to a checkout.

A checkout is changed only if nothing of the user's can be lost: every file in question is as it was
committed or as it was when the run started, and the three-way merge has no conflict.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.model.safe import safe_line
from nightrook.model.text import cut
from nightrook.runs.git.git_command import answered, do, failure, transfer
from nightrook.runs.git.private_objects import as_alternate, private_env
from nightrook.runs.git.repository import Repository, null_ended
from nightrook.runs.git.snapshot import commit_tree, head_of, output

_SUBMODULE = "160000"
_GONE = "000000"
_MOST_NAMES = 5
_LONGEST_NAME = 80
_CONFLICTS = 1  # the exit code of git merge-tree
_AS_IS = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--submodule=short"),
    *("--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/"),
)
"""Settings of the user that would change a diff, or run a program for it, are off."""


class ApplyError(NightrookError):
    """The changes of a run cannot be applied to a checkout, which was left as it is."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of a run."""

    base: str
    """The commit that the run started with."""

    result: str
    """The commit that it ended with."""

    env: dict[str, str] = {}
    """Variables by which git finds both commits, if they are not in the repository."""


class Applied(msgspec.Struct, frozen=True, kw_only=True):
    """The changes that were applied to a checkout."""

    files: tuple[str, ...]
    submodules: tuple[str, ...] = ()
    """Submodules that the run moved to another commit, which are left as they are."""


class _Entry(NamedTuple):
    """One file that differs between two trees."""

    name: str
    mode: str
    id: str


def write_diff(
    repository: Repository,
    change: Change,
    into: BinaryIO,
    *,
    cwd: str,
    paths: Sequence[str] = (),
    options: Sequence[str] = (),
) -> None:
    """Write the changes of a run as a patch to an open file; paths are relative to `cwd`."""
    env = {**repository.env, **change.env}
    words = ("diff", *_AS_IS, "--find-renames", "--binary", *options)
    transfer(cwd, *words, change.base, change.result, "--", *paths, env=env, into=into)


def apply_change(
    repository: Repository,
    change: Change,
    keep: Path,
    *,
    cwd: str,
    paths: Sequence[str] = (),
    committed_only: bool = False,
) -> Applied:
    """Apply the changes of a run to the files of a checkout; an ApplyError if that is not safe.

    Index, branches and commits stay as they are. `keep` is a folder for our index and objects.
    `committed_only` also refuses files that were sent to the run with uncommitted changes.
    """
    env = _env(repository, change, keep)
    changed = _differences(cwd, env, change.base, change.result, *paths)
    submodules = tuple(e.name for e in changed if e.mode == _SUBMODULE)
    entries = [e for e in changed if e.mode != _SUBMODULE]
    ours = _checkout_tree(repository, env, [e.name for e in entries])
    theirs = _tree_with(repository, env, change.base, entries)
    known = [_head_tree(repository, env), *([] if committed_only else [change.base])]
    merged, conflicts = _merged(repository, env, change.base, ours=ours, theirs=theirs)
    files = [e.name for e in _differences(repository.top, env, ours, merged)]
    _require_clean(repository, env, ours, [*files, *conflicts], known)  # guards: uncommitted-kept
    if conflicts:
        raise ApplyError(
            f"what the run changed conflicts with your commits in {_some(conflicts)}: nothing was "
            "changed; use --branch NAME, and merge that branch"
        )
    if files:
        _patch(repository, env, keep / "patch", ours, merged)
    return Applied(files=tuple(files), submodules=submodules)


def _patch(
    repository: Repository, env: Mapping[str, str], file: Path, before: str, after: str
) -> None:
    """Change the files of a checkout from one tree to another; git changes all or none of them."""
    to_file = f"--output={file}"
    words = ("diff", *_AS_IS, "--no-renames", "--binary", "--full-index", to_file)
    do(repository.top, *words, before, after, env=env)
    exactly = ("--whitespace=nowarn", "--no-ignore-whitespace")
    do(repository.top, "apply", *exactly, str(file), env=repository.env)


def _env(repository: Repository, change: Change, keep: Path) -> dict[str, str]:
    """Variables for our own index and objects, from which both commits can be read."""
    env = private_env(repository, keep)
    alternates = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
    if more := change.env.get("GIT_OBJECT_DIRECTORY"):
        env[alternates] = f"{env[alternates]}:{as_alternate(more)}"
    return env


def _differences(
    cwd: str, env: Mapping[str, str], before: str, after: str, *paths: str
) -> list[_Entry]:
    """The files that differ between two trees, as they are in the second."""
    words = ("diff", "--raw", "-z", "--no-renames", "--no-abbrev", *_AS_IS, before, after, "--")
    answer = answered(cwd, *words, *paths, env=env)
    if answer.code:
        raise failure("diff", answer)
    parts = answer.output.split("\0")
    pairs = zip(parts[::2], parts[1::2], strict=False)
    entries = [(about.removeprefix(":").split(" "), name) for about, name in pairs]
    return [_entry(about, name) for about, name in entries]


def _entry(about: Sequence[str], name: str) -> _Entry:
    old_mode, mode, _, id, *_ = about
    is_submodule = _SUBMODULE in (old_mode, mode)
    return _Entry(name, _SUBMODULE if is_submodule else mode, id)


def _head_tree(repository: Repository, env: Mapping[str, str]) -> str:
    """The tree of the last commit; without one, the empty tree."""
    head = head_of(repository, env)
    return output(repository, env, "mktree") if head is None else f"{head}^{{tree}}"


def _checkout_tree(repository: Repository, env: Mapping[str, str], names: Sequence[str]) -> str:
    """The last commit with these files as they are in the checkout, ignored ones too."""
    head = head_of(repository, env)
    do(repository.top, "read-tree", head or "--empty", env=env)
    repository.stage(names, env=env, ignored=True)
    return output(repository, env, "write-tree")


def _tree_with(
    repository: Repository, env: Mapping[str, str], base: str, entries: Sequence[_Entry]
) -> str:
    """The tree that a run started with and these of its changes."""
    do(repository.top, "read-tree", base, env=env)
    lines = [
        f"0 {'0' * len(e.id)}\t{e.name}" if e.mode == _GONE else f"{e.mode} {e.id}\t{e.name}"
        for e in entries
    ]
    words = ("update-index", "-z", "--index-info")
    do(repository.top, *words, env=env, names=null_ended(lines))
    return output(repository, env, "write-tree")


def _merged(
    repository: Repository, env: Mapping[str, str], base: str, *, ours: str, theirs: str
) -> tuple[str, list[str]]:
    """The tree with the changes of both sides, and the files in which they conflict."""
    root = commit_tree(repository, env, f"{base}^{{tree}}", message="base")
    sides = [commit_tree(repository, env, tree, root, message="side") for tree in (ours, theirs)]
    own = {**env, "GIT_MERGE_AUTOEDIT": "no"}
    words = ("merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", *sides)
    answer = answered(repository.top, *words, env=own)
    tree, *names = answer.output.split("\0")
    if answer.code not in (0, _CONFLICTS):
        raise failure("merge-tree", answer)  # such as a version before 2.38
    return tree, [name for name in names if name]


def _require_clean(
    repository: Repository,
    env: Mapping[str, str],
    ours: str,
    names: Sequence[str],
    known: Sequence[str],
) -> None:
    """Raise an ApplyError if a file is not as any of the known trees has it."""
    unknown = set(names)
    for tree in known:
        unknown &= {entry.name for entry in _differences(repository.top, env, tree, ours)}
    if unknown:
        raise ApplyError(
            f"you have changed files that the run changed too: {_some(sorted(unknown))}; nothing "
            "was changed: commit or stash them first, or use --branch NAME"
        )


def _some(names: Sequence[str]) -> str:
    kept = [cut(safe_line(name), _LONGEST_NAME) for name in names if name]
    more = len(kept) - _MOST_NAMES
    return ", ".join(kept[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
