"""Trust in project files: one small file for each content, in the user's folder.

Trust is for a path and its content: a file that changes, or is somewhere else, needs it again.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from nightrook.config.files import File
from nightrook.config.option import Option


def loosens(setting: Option, value: Any, usual: Any) -> bool:
    """True if a value allows or costs more, or shows less, than the one that applies without it."""
    flag = setting.flag
    if flag.loosens == "never" or value == usual:
        return False
    if flag.loosens == "higher":
        return usual is not None and bool(value > usual)
    if value in flag.strict:
        stricter = flag.strict[: flag.strict.index(value)]
        return usual in stricter
    return not (setting.is_list and set(value) <= set(usual or ()))


def is_trusted(folder: Path, file: File) -> bool:
    """True if the user trusts a file as it was read."""
    return os.path.isfile(folder / _name(file))  # noqa: PTH113 (the folder may be unreadable)


def add(folder: Path, file: File) -> None:
    """Trust a file as it was read."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # guards: trust-private
    path = os.fsencode(os.path.realpath(file.path))
    with NamedTemporaryFile(dir=folder, delete=False) as entry:  # 0600
        entry.write(path + b"\n")
    Path(entry.name).replace(folder / _name(file))


def revoke(folder: Path, path: Path) -> int:
    """Stop trusting a file, whatever its content; return how many contents were trusted."""
    real = Path(os.path.realpath(path))
    entries = [entry for entry, trusted in _entries(folder) if trusted == real]
    for entry in entries:
        entry.unlink(missing_ok=True)
    return len(entries)


def paths(folder: Path) -> list[Path]:
    """The files with a trusted content."""
    return sorted({path for _, path in _entries(folder)})


def _entries(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield each entry, with the path of the file that it is for."""
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return
    for entry in found:
        try:
            path = entry.read_bytes().removesuffix(b"\n")
        except OSError:
            continue
        yield entry, Path(os.fsdecode(path))


def _name(file: File) -> str:
    from hashlib import sha256  # only projects with settings that need trust pay for it

    path = os.fsencode(os.path.realpath(file.path))
    return sha256(path + b"\0" + file.data).hexdigest()  # guards: trust-of-content, trust-of-path
