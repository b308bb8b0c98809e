"""Opens the files that a recorder writes: never through a link, never blocked by a pipe."""

from __future__ import annotations

import errno
import os
import stat

_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # guards: no-pipe-in-place, recorder-no-link


def open_plain(name: str | os.PathLike[str], flags: int, folder: int | None = None) -> int:
    """Open a file of a run folder, private if it is made; an OSError refuses anything else."""
    fd = os.open(name, flags | _SAFE, 0o600, dir_fd=folder)  # guards: recorder-files-private
    if stat.S_ISREG(os.fstat(fd).st_mode):  # guards: recorder-plain-files
        os.set_blocking(fd, True)  # an agent may read it
        return fd
    os.close(fd)
    raise OSError(errno.EINVAL, "is not a plain file", name)
