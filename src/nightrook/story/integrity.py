"""Compares the logs of a run with the sizes and digests that its recorder wrote."""

from pathlib import Path
from typing import get_args

from nightrook.model.errors import NightrookError, RunFolderError
from nightrook.process.digest import Digest
from nightrook.store.file_names import log_file
from nightrook.store.logs import Stream
from nightrook.store.run_folder import RunFolder
from nightrook.store.run_formats import ExitInfo, VerdictInfo
from nightrook.story.tail import log_chunks

_STREAMS: tuple[Stream, ...] = get_args(Stream)


def checked_verdict(folder: RunFolder) -> VerdictInfo | None:
    """Return the saved verdict of a run, or `incomplete` if its logs were changed; reads them."""
    saved, exit = folder.verdict(), folder.exit()
    if saved is None or exit is None or saved.tampered is not None:
        return saved
    how = tampering_of(folder, exit)
    return saved if how is None else saved.with_tampered_logs(how)


def find_tampering(path: Path) -> str | None:
    """Say how the logs of the run in a folder were changed; None if not, or if it has no run."""
    try:
        folder = RunFolder(path.absolute())
        exit = folder.exit()
        return tampering_of(folder, exit) if exit else None
    except NightrookError:
        return None


def tampering_of(folder: RunFolder, exit: ExitInfo) -> str | None:
    """Say how a log differs from what its recorder wrote; None if none does, or that is unknown."""
    how = folder.changed_size(exit.log_sizes)
    if how is not None:
        return how
    for stream in _STREAMS:
        written = exit.logs.get(stream)
        try:
            # guards: digests-compared
            if written is not None and written.sha256 != _sha256(folder.path, stream):
                return not_as_written(stream)
        except RunFolderError as error:
            return str(error)
    return None


def not_as_written(stream: Stream) -> str:
    """Say that a log has the right size, but not the right bytes."""
    return f"{log_file(stream)} is not what the recorder wrote"


def _sha256(folder: Path, stream: Stream) -> str:
    digest = Digest()
    for data in log_chunks(folder, stream):
        digest.update(data)
    return digest.hexdigest()
