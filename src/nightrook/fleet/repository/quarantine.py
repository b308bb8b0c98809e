"""Takes the objects of a bundle into a repository, after they were checked in a folder apart."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from nightrook.fleet.repository.bundle import Bundle, unpack_objects
from nightrook.runs.git.private_objects import as_alternate

_FOLDER = "tmp_objdir-rook-"
"""The folder for objects that are not checked yet; `git gc` removes one that a crash left."""

_PACK_FILES = (".pack", ".rev", ".idx")  # git looks for the last one, so it comes last


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
