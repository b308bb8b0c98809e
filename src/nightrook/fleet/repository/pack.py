"""Packs the present repository for a worker; the repository itself is only read."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from nightrook.fleet.repository.bundle import BASE, SHALLOW, write_bundle
from nightrook.fleet.repository.formats import Origin, Packed, Shipment
from nightrook.fleet.repository.limits import Limits, left_out_note, repository_notes
from nightrook.model.errors import NightrookError
from nightrook.runs.git.git_command import GitError, ask
from nightrook.runs.git.private_objects import private_env
from nightrook.runs.git.repository import Repository, find_repository
from nightrook.runs.git.snapshot import Snapshot, output, pending, snapshot

_HEADS = "refs/heads/"
_MESSAGE = "Uncommitted changes\n\nMade by rook to send them to a worker."


class PackError(NightrookError):
    """A repository cannot be sent."""


def pack(
    cwd: str,
    into: Path,
    *,
    known: Iterable[str] = (),
    untracked: bool = True,
    files: tuple[str, ...] = (),
    limits: Limits | None = None,
) -> Packed:
    """Write a bundle with the present commit and the uncommitted changes to a new folder.

    Args:
        cwd: The folder to work in; the repository around it is sent.
        into: A folder of ours, which is made. It holds `repository.bundle` afterwards.
        known: Commits that the worker has, with all that they need. Unknown ones are ignored.
        untracked: Whether to send new files that git does not ignore.
        files: Patterns of files outside of git that the worker should bring back.
        limits: The sizes from which to warn and to refuse.
    """
    repository = find_repository(cwd)
    if repository is None:
        raise PackError(f"{cwd} isn't in a git repository: run git init, or leave out --repo")
    _check_patterns(files)  # guards: patterns-inside
    limits = limits or Limits()
    env = private_env(repository, into)
    taken, notes = _taken(repository, env, limits, untracked=untracked)
    shallow = _shallow(repository, env)
    without = [] if shallow else _present(repository, env, known)
    # guards: size-before-reading
    large = _check_history(repository, env, taken.commit, without, limits)
    notes += large + left_out_note(taken.left_out)
    notes += repository_notes(repository, env, taken.commit, shallow)
    refs = {BASE: taken.commit, **{f"{SHALLOW}{n}": id for n, id in enumerate(shallow)}}
    path = into / "repository.bundle"
    try:
        write_bundle(repository.top, path, refs, without=without, env=env)
    except GitError as error:
        raise PackError(_why(repository, error)) from error
    size = path.stat().st_size
    limits.check("the repository", size, _SMALLER)
    folder = os.path.relpath(os.path.realpath(cwd), repository.top)
    return _packed(
        repository, path, taken, folder="" if folder == "." else folder, files=files, notes=notes
    )


_SMALLER = "commit less to it, or clone it on the workers and run the task there"


def _taken(
    repository: Repository, env: Mapping[str, str], limits: Limits, *, untracked: bool
) -> tuple[Snapshot, list[str]]:
    """Commit the uncommitted changes, unless they are too large to be read at all."""
    changed = pending(repository, env, untracked=untracked)
    way_out = "let git ignore what is not needed, or send no untracked files"
    warning = limits.check("what is not committed", changed.size, way_out)
    taken = snapshot(repository, env, changed, message=_MESSAGE)
    return taken, [] if warning is None else [warning]


def _check_history(
    repository: Repository,
    env: Mapping[str, str],
    commit: str,
    without: Iterable[str],
    limits: Limits,
) -> list[str]:
    """Warn of a large history, or refuse it, before it is read: git knows the sizes on disk."""
    words = ("rev-list", "--disk-usage", "--objects", "--use-bitmap-index", commit)
    usage = ask(repository.top, *words, *(f"^{id}" for id in without), env=env)
    size = int(usage) if usage and usage.strip().isdecimal() else 0
    warning = limits.check("the repository", size, _SMALLER)
    return [] if warning is None else [warning]


def _packed(
    repository: Repository,
    path: Path,
    taken: Snapshot,
    *,
    folder: str,
    files: tuple[str, ...],
    notes: list[str],
) -> Packed:
    branch = (repository.branch or "").removeprefix(_HEADS) or None
    shipment = Shipment(
        base=taken.commit,
        head=taken.head,
        branch=branch if _is_text(branch) else None,
        folder=folder,
        user_name=_setting(repository, "user.name"),
        user_email=_setting(repository, "user.email"),
        files=files,
    )
    origin = Origin(
        top=repository.top,
        common_dir=repository.common_dir,
        base=taken.commit,
        head=taken.head,
        folder=folder,
    )
    if not _is_text(folder) or not _is_text(repository.top):
        raise PackError("the path of the folder is not UTF-8: rename it")
    return Packed(
        bundle=str(path),
        size=path.stat().st_size,
        shipment=shipment,
        origin=origin,
        notes=tuple(notes),
    )


def _check_patterns(patterns: Iterable[str]) -> None:
    """Refuse patterns that no file of the repository can match."""
    for pattern in patterns:
        parts = pattern.split("/")
        if not pattern or not parts[0] or ".." in parts or "\0" in pattern or not _is_text(pattern):
            raise PackError(
                f"--files {pattern!r}: a pattern is relative to the top of the repository, as in "
                "'build/**' or '*.log'"
            )


def _present(repository: Repository, env: Mapping[str, str], known: Iterable[str]) -> list[str]:
    """The commits among these that this repository has."""
    ids = [id for id in dict.fromkeys(known) if id.isalnum()]
    given = "".join(f"{id}\n" for id in ids)
    checked = ask(repository.top, "cat-file", "--batch-check", env=env, names=given) or ""
    lines = (line.split(" ") for line in checked.split("\n"))
    return [words[0] for words in lines if len(words) == 3 and words[1] == "commit"]


def _shallow(repository: Repository, env: Mapping[str, str]) -> list[str]:
    """The commits whose parents this clone lacks."""
    if output(repository, env, "rev-parse", "--is-shallow-repository") != "true":
        return []
    return Path(repository.common_dir, "shallow").read_text(encoding="ascii").split()


def _why(repository: Repository, error: GitError) -> str:
    partial = ask(repository.top, "config", "--get-regexp", r"^remote\..*\.promisor$")
    if partial:
        return (
            "this is a partial clone, and some of its objects were never fetched: run "
            f"git fetch --refetch --no-filter ({error})"
        )
    return f"the repository cannot be read whole; git fsck says more ({error})"


def _setting(repository: Repository, name: str) -> str | None:
    value = (ask(repository.top, "config", name, env=repository.env) or "").strip()
    return value if value and _is_text(value) else None


def _is_text(text: str | None) -> bool:
    try:
        (text or "").encode()
    except UnicodeEncodeError:
        return False
    return True
