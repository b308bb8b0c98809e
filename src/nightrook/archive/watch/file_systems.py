"""Which folders are on file systems that do not report what other machines change there."""

import os
import re
from collections.abc import Iterable

_MOUNTS = "/proc/self/mountinfo"
_SILENT = re.compile(
    r"nfs\d?|cifs|smb3|smbfs|9p|virtiofs|vboxsf|ceph|afs|lustre|beegfs|fuse(\..+)?"
)
_ESCAPED = re.compile(r"\\([0-7]{3})")


class FileSystems:
    """The mounted file systems, as they were when this was made."""

    def __init__(self, lines: Iterable[str] | None = None) -> None:
        self._types = dict(map(_mount, _read() if lines is None else lines))

    def silent(self, folder: str) -> str | None:
        """The type of a folder's file system, if changes to it may go unreported."""
        path = folder
        while path not in self._types:
            if path in ("/", ""):
                return None
            path = os.path.dirname(path)
        found = self._types[path]
        return found if _SILENT.fullmatch(found) else None


def _read() -> list[str]:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            return file.readlines()
    except OSError:
        return []  # another system


def _mount(line: str) -> tuple[str, str]:
    """The folder and the type of a line of `mountinfo`."""
    before, _, after = line.partition(" - ")
    fields = before.split(" ")
    folder = fields[4] if len(fields) > 4 else ""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), folder), after.partition(" ")[0]
