"""Fetches the changes of a run into the user's repository, as `refs/rook/<run>` only.

Where the repository was sent from is kept in the folder of the run.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec

from nightrook.fleet.repository.bundle import (
    BASE,
    RESULT,
    BadBundleError,
    Bundle,
    read_bundle,
    take_in,
)
from nightrook.fleet.repository.formats import FORMAT, Origin
from nightrook.model.errors import DamagedRunError, NewerRunError, NightrookError
from nightrook.runs.git.changes import Change
from nightrook.runs.git.git_command import GitError, ask, do
from nightrook.runs.git.repository import Repository, find_repository
from nightrook.store.file_names import ORIGIN, RESULT_BUNDLE, VERDICT
from nightrook.store.run_folder import RunFolder


class FetchError(NightrookError):
    """The changes of a run cannot be fetched."""


def ref_of(run: str) -> str:
    """Return the ref of the changes of a run."""
    return f"refs/rook/{run}"


def fetch(run: str, bundle: Path, origin: Origin) -> str:
    """Fetch the commits of a run into the repository that it was sent from; return the last one.

    The bundle may be hostile: it is checked in a quarantine first. Nothing is checked out, and no
    ref but that of the run changes.
    """
    repository = home_of(origin)
    header = read_bundle(bundle)
    _check(header, origin, repository)
    result = header.refs[RESULT]
    objects = Path(repository.objects)
    check = partial(_check_connected, header, repository)  # guards: result-connected
    try:
        take_in(header, repository.top, repository.env, objects, check)
    except OSError as error:
        raise FetchError(f"{objects}: {error.strerror or error}") from error
    _set_refs(repository, run, result, header.refs[BASE])
    return result


def home_of(origin: Origin) -> Repository:
    """The repository that a run was sent from, as it is now."""
    repository = find_repository(origin.top) if Path(origin.top).is_dir() else None
    if repository is None or repository.common_dir != origin.common_dir:
        raise FetchError(
            f"the repository of the run is not at {origin.top} any more: move it back to look at "
            "what the run changed"
        )
    return repository


def _check(header: Bundle, origin: Origin, repository: Repository) -> None:
    """Raise an error unless a bundle belongs to the run, and builds on local commits."""
    header.require(BASE, RESULT)
    if header.refs[BASE] != origin.base or header.shallow:  # guards: result-base
        raise BadBundleError(f"{header.path}: the bundle is not of this run")
    if not set(header.prerequisites) <= {origin.head}:
        raise BadBundleError(f"{header.path}: the bundle builds on commits that were not sent")
    for id in header.prerequisites:
        if ask(repository.top, "cat-file", "-e", f"{id}^{{commit}}", env=repository.env) is None:
            raise FetchError(
                f"the commit {id[:12]} that the run started with is no longer in {repository.top}: "
                "fetch it again from where you have it"
            )


def _check_connected(header: Bundle, repository: Repository, env: Mapping[str, str]) -> None:
    """Raise an error unless all that the commits need is in the bundle or here."""
    for name in (BASE, RESULT):
        if (ask(repository.top, "cat-file", "-t", header.refs[name], env=env) or "") != "commit\n":
            raise BadBundleError(f"{header.path}: the bundle lacks a commit that it names")
    tips = (header.refs[BASE], header.refs[RESULT])
    words = ("rev-list", "--objects", "--quiet", *tips, "--not", "--all")
    if ask(repository.top, *words, env=env) is None:
        raise BadBundleError(f"{header.path}: the bundle lacks objects that it needs")


def _set_refs(repository: Repository, run: str, result: str, base: str) -> None:
    try:
        do(repository.top, "update-ref", "--no-deref", ref_of(run), result, env=repository.env)
    except GitError as error:
        raise FetchError(f"{ref_of(run)} cannot be written: {error}") from error
    words = ("merge-base", "--is-ancestor", base, result)
    if ask(repository.top, *words, env=repository.env) is None:  # the agent rewrote the history
        with suppress(GitError):
            do(repository.top, "update-ref", f"{ref_of(run)}@base", base, env=repository.env)


def keep_origin(folder: RunFolder, origin: Origin) -> None:
    """Record in the folder of a run where its repository was sent from."""
    with folder.opened() as files:
        files.replace(ORIGIN, msgspec.json.encode(origin) + b"\n")


def origin_of(folder: RunFolder) -> Origin | None:
    """The place that the repository of a run was sent from; None if it was not sent."""
    with folder.opened() as files:
        data = files.read(ORIGIN)
    if data is None:
        return None
    path = str(folder.path / ORIGIN)
    try:
        origin = msgspec.json.decode(data, type=Origin)
    except (ValueError, RecursionError) as error:
        raise DamagedRunError(path, "has unexpected contents") from error
    if origin.format > FORMAT:
        raise NewerRunError(path, f"has format {origin.format}; this version reads {FORMAT}")
    return origin


def bring_home(folder: RunFolder) -> str | None:
    """Fetch the changes of a run as soon as it has ended; return why that failed, if it did."""
    try:
        origin = origin_of(folder)
        if origin is not None and (folder.path / RESULT_BUNDLE).is_file():
            fetched(folder, origin)
    except (NightrookError, OSError) as error:
        return str(error)
    return None


def fetched(folder: RunFolder, origin: Origin) -> tuple[Repository, Change]:
    """Fetch the changes of a run, if that was not done before."""
    repository = home_of(origin)
    bundle = folder.path / RESULT_BUNDLE
    if not bundle.is_file():
        is_over = (folder.path / VERDICT).exists()
        reason = "changed nothing" if is_over else "is not over: what it changes comes at its end"
        raise FetchError(f"{folder.name} {reason}")
    result = read_bundle(bundle).refs.get(RESULT)
    words = ("rev-parse", "--quiet", "--verify", ref_of(folder.name))
    present = (ask(repository.top, *words, env=repository.env) or "").strip()
    if not present or present != result:
        result = fetch(folder.name, bundle, origin)
    return repository, Change(base=origin.base, result=result)
