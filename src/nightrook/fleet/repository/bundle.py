"""Git bundles as rook writes and reads them: a header in plain text, then a pack.

A bundle may come from a hostile machine. Its refs are names of ours or it is refused, and git
checks every object before one of them gets into a repository.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from nightrook.model.errors import NightrookError
from nightrook.runs.git.git_command import GitError, transfer
from nightrook.runs.git.private_objects import as_alternate

BASE = "refs/rook/base"
"""The commit that a run starts with."""

RESULT = "refs/rook/result"
"""The commit that a run ended with."""

SHALLOW = "refs/rook/shallow/"
"""Followed by a number: a commit whose parents are not sent, because the sender lacks them."""

_SIGNATURES = {b"# v2 git bundle\n": 2, b"# v3 git bundle\n": 3}
_FORMATS = {"sha1": 40, "sha256": 64}
_LONGEST_HEADER = 4 * 1024 * 1024
_ID = re.compile("[0-9a-f]+")
_REF = re.compile(rf"{BASE}|{RESULT}|{SHALLOW}[0-9]{{1,9}}")

_HARMLESS = (
    *("badDate", "badDateOverflow", "badEmail", "badTimezone", "missingEmail"),
    *("missingNameBeforeEmail", "missingSpaceBeforeDate", "missingSpaceBeforeEmail"),
    *("multipleAuthors", "zeroPaddedDate", "zeroPaddedFilemode"),
)
"""Faults of old commits that do no harm; histories with them are common."""
_FOLDER = "tmp_objdir-rook-"
"""The folder for objects that are not checked yet; `git gc` removes one that a crash left."""

_PACK_FILES = (".pack", ".rev", ".idx")  # git looks for the last one, so it comes last


class BadBundleError(NightrookError):
    """A file is not a bundle that rook wrote, or is damaged, or does not fit a repository."""


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a bundle."""

    path: str
    refs: dict[str, str]
    prerequisites: tuple[str, ...]
    """Commits that the reader must have."""

    pack_at: int
    object_format: str = "sha1"

    @property
    def shallow(self) -> tuple[str, ...]:
        """Commits whose parents are not sent."""
        return tuple(id for name, id in self.refs.items() if name.startswith(SHALLOW))

    def require(self, *names: str) -> None:
        """Raise a BadBundleError unless the bundle has these refs, besides shallow commits."""
        present = {name for name in self.refs if not name.startswith(SHALLOW)}
        if present != set(names):
            raise BadBundleError(f"{self.path}: the bundle has other refs than a run needs")


def write_bundle(
    cwd: str,
    path: Path,
    refs: Mapping[str, str],
    *,
    without: Iterable[str],
    env: Mapping[str, str],
) -> Bundle:
    """Write the commits that refs name to a new file, without the commits that a reader has."""
    known = tuple(without)
    object_format = "sha256" if any(len(id) == 64 for id in refs.values()) else "sha1"
    version, capability = (
        ("3", "@object-format=sha256\n") if object_format == "sha256" else ("2", "")
    )
    lines = [f"# v{version} git bundle\n{capability}"]
    lines += [f"-{id} \n" for id in known]
    lines += [f"{id} {name}\n" for name, id in refs.items()]
    header = f"{''.join(lines)}\n".encode()
    wanted = [*sorted(set(refs.values())), *(f"^{id}" for id in known)]
    words = ("pack-objects", "--quiet", "--revs", "--thin", "--delta-base-offset", "--stdout")
    with open(path, "xb", opener=_private) as file:
        file.write(header)
        file.flush()
        transfer(cwd, *words, env=env, names="".join(f"{id}\n" for id in wanted), into=file)
    return Bundle(
        path=str(path),
        refs=dict(refs),
        prerequisites=known,
        pack_at=len(header),
        object_format=object_format,
    )


def read_bundle(path: Path) -> Bundle:
    """Read the header of a bundle; raise a BadBundleError if the file is invalid."""
    try:
        with open(path, "rb") as file:
            head = file.read(_LONGEST_HEADER)
    except OSError as error:
        raise BadBundleError(f"{path}: {error.strerror or error}") from error
    return parse_header(head, str(path))


def parse_header(head: bytes, path: str) -> Bundle:
    """Read the beginning of a bundle; `path` is for messages."""
    if head[:16] not in _SIGNATURES:
        raise BadBundleError(f"{path}: this is not a git bundle")
    header, end, _ = head.partition(b"\n\n")
    if not end:
        raise BadBundleError(f"{path}: the header of the bundle is cut off, or too long")
    refs, prerequisites, object_format = dict[str, str](), list[str](), "sha1"
    for line in header.decode("ascii", "replace").split("\n")[1:]:
        if line.startswith("@"):
            object_format = _object_format(line, path)
        elif line.startswith("-"):
            prerequisites.append(_checked(line[1:].partition(" ")[0], object_format, path))
        else:
            id, _, name = line.partition(" ")
            if _REF.fullmatch(name) is None or name in refs:  # guards: bundle-refs
                raise BadBundleError(f"{path}: the bundle has a ref that rook does not write")
            refs[name] = _checked(id, object_format, path)
    return Bundle(
        path=path,
        refs=refs,
        prerequisites=tuple(prerequisites),
        pack_at=len(header) + 2,
        object_format=object_format,
    )


def unpack_objects(bundle: Bundle, cwd: str, env: Mapping[str, str]) -> None:
    """Put the objects of a bundle where `env` says, after git has checked every one of them.

    Paths that lead out of a checkout, or into its `.git`, are among what it refuses.
    """
    harmless = ",".join(f"{name}=ignore" for name in _HARMLESS)
    # guards: bundle-checked
    words = ("index-pack", "--stdin", "--fix-thin", f"--strict={harmless}")
    try:
        with open(bundle.path, "rb") as file:
            os.lseek(file.fileno(), bundle.pack_at, os.SEEK_SET)
            transfer(cwd, *words, env=env, source=file)
    except OSError as error:
        raise BadBundleError(f"{bundle.path}: {error.strerror or error}") from error
    except GitError as error:
        reason = str(error).removeprefix("git index-pack failed: ").removeprefix("fatal: ")
        message = f"{bundle.path}: the bundle is damaged or not allowed: {reason}"
        raise BadBundleError(message) from error


def take_in(
    bundle: Bundle,
    cwd: str,
    env: Mapping[str, str],
    objects: Path,
    check: Callable[[Mapping[str, str]], None],
) -> None:
    """Take in a bundle if git allows its objects, and `check`, which gets variables to see them.

    If anything fails, the repository is as it was.
    """
    folder = tempfile.mkdtemp(prefix=_FOLDER, dir=objects)
    try:
        own = {
            **env,
            "GIT_OBJECT_DIRECTORY": folder,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": as_alternate(str(objects)),
            "GIT_NO_REPLACE_OBJECTS": "1",
        }
        unpack_objects(bundle, cwd, own)
        check(own)
        _move_packs(Path(folder, "pack"), objects / "pack")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move_packs(source: Path, target: Path) -> None:
    """Move checked packs into the repository, readable by those who can read it."""
    target.mkdir(exist_ok=True)
    mode = target.stat().st_mode & 0o444
    for ending in _PACK_FILES:
        for file in source.glob(f"*{ending}"):
            file.chmod(mode)
            file.replace(target / file.name)


def _object_format(line: str, path: str) -> str:
    key, _, value = line[1:].partition("=")
    if key != "object-format" or value not in _FORMATS:
        raise BadBundleError(f"{path}: the bundle needs something that this version lacks")
    return value


def _checked(id: str, object_format: str, path: str) -> str:
    if len(id) != _FORMATS[object_format] or _ID.fullmatch(id) is None:
        raise BadBundleError(f"{path}: the header of the bundle is damaged")
    return id


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
