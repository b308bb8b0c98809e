"""Unpacks a repository on a worker, into a fresh folder."""

import os
import shutil
from pathlib import Path

from nightrook.fleet.repository.bundle import (
    BASE,
    BadBundleError,
    Bundle,
    read_bundle,
    unpack_objects,
)
from nightrook.fleet.repository.formats import FORMAT, Shipment, Unpacked
from nightrook.model.errors import NightrookError
from nightrook.runs.git.git_command import GitError, ask, do


class UnpackError(NightrookError):
    """A repository that was sent cannot be used."""


class MissingCommitsError(UnpackError):
    """A bundle builds on commits that are not on this worker."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path}: the bundle builds on commits that are not on this worker; send it without "
            "known commits"
        )


def unpack(bundle: Path, folder: Path, shipment: Shipment) -> Unpacked:
    """Make a repository of a bundle in a new folder, at the commit to start with.

    If it fails, the folder does not exist afterwards. No program that the repository names is run.
    """
    header = read_bundle(bundle)
    check_shipment(header, shipment)
    if header.prerequisites:
        raise MissingCommitsError(str(bundle))
    if os.path.lexists(folder):
        raise UnpackError(f"{folder} exists already: a run needs a folder of its own")
    try:
        _make(header, folder, shipment)
    except (GitError, OSError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UnpackError(f"the repository cannot be unpacked: {error}") from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return described(folder, shipment)


def check_shipment(header: Bundle, shipment: Shipment) -> None:
    """Raise an error unless a bundle and its description fit each other and this version."""
    if shipment.format > FORMAT:
        raise UnpackError(
            f"the repository was sent in format {shipment.format}, and this version reads format "
            f"{FORMAT}: upgrade nightrook on this worker"
        )
    header.require(BASE)
    if header.refs[BASE] != shipment.base:
        raise BadBundleError(f"{header.path}: the bundle has another commit than its job")
    place = Path(os.path.normpath(shipment.folder or "."))
    # guards: folder-inside
    if place.is_absolute() or os.pardir in place.parts or "\0" in shipment.folder:
        raise UnpackError("the folder to work in is not a folder of the repository")


def described(folder: Path, shipment: Shipment) -> Unpacked:
    """Describe a repository that was unpacked; the folder to work in is made if it is missing."""
    top = os.path.realpath(folder)
    cwd = os.path.normpath(os.path.join(top, shipment.folder))
    if os.path.realpath(cwd) != cwd:
        raise UnpackError("the folder to work in is a link")
    Path(cwd).mkdir(parents=True, exist_ok=True)
    return Unpacked(top=top, cwd=cwd, base=shipment.base, head=shipment.head, files=shipment.files)


def _start(folder: Path, object_format: str, shallow: tuple[str, ...]) -> dict[str, str]:
    """Make an empty repository in a new folder; return the variables that hold git to it."""
    folder.mkdir(mode=0o700, parents=True)
    words = ("init", "--quiet", "--template=", f"--object-format={object_format}")
    do(str(folder), *words, "--initial-branch=main", ".")
    if shallow:
        (folder / ".git" / "shallow").write_text("".join(f"{id}\n" for id in shallow))
    return {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}


def _check_out(folder: Path, env: dict[str, str], shipment: Shipment) -> None:
    """Check out the commit to start with, on the user's branch, with the user's name."""
    cwd = str(folder)
    if ask(cwd, "cat-file", "-e", f"{shipment.base}^{{commit}}", env=env) is None:
        raise BadBundleError("the bundle does not have the commit that its job starts with")
    branch = f"refs/heads/{shipment.branch}"
    if shipment.branch and ask(cwd, "check-ref-format", branch) is not None:
        do(cwd, "symbolic-ref", "HEAD", branch, env=env)
        do(cwd, "update-ref", "HEAD", shipment.base, env=env)
    else:
        do(cwd, "update-ref", "--no-deref", "HEAD", shipment.base, env=env)
    do(cwd, "reset", "--quiet", "--hard", env=env)
    for name, value in (("user.name", shipment.user_name), ("user.email", shipment.user_email)):
        if value:
            do(cwd, "config", name, value, env=env)


def _make(header: Bundle, folder: Path, shipment: Shipment) -> None:
    env = _start(folder, header.object_format, header.shallow)
    unpack_objects(header, str(folder), env)
    _check_out(folder, env, shipment)
