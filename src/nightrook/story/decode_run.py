"""`nightrook.decode`: the records of a file, of bytes, or of a run by its folder or its name."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

from nightrook.adapter.lines import DEFAULT_CAP
from nightrook.model.errors import NightrookError
from nightrook.model.records import Record
from nightrook.store import runs
from nightrook.store.file_names import INFO
from nightrook.store.home import home_folder
from nightrook.store.run_folder import RunFolder
from nightrook.story import decode as streams
from nightrook.story.decode import ByteSource
from nightrook.story.integrity import changed_run
from nightrook.story.tail import pieces


def decode(
    source: ByteSource, agent: str | None = None, *, cap: int = DEFAULT_CAP
) -> Iterator[Record]:
    """Decode what an agent wrote; the agent is detected when it is not named.

    Args:
        source: A file by its path, an open file, or bytes in chunks; or a run, by its folder or by
            its name. The records of a run have the times at which their lines arrived.
        agent: The name of the agent that wrote it.
        cap: The length in bytes above which a line is reported as too long, not decoded.

    A file opened by its path is closed at the end; an open file stays open. Raises
    UnreadableSourceError, UnknownAgentError or UndetectedAgentError, but never because of what a
    line contains. Warns if the logs of a run are not what its recorder wrote.
    """
    folder = named_run(source)
    if folder is None:
        return streams.decode(source, agent, cap=cap)
    info = folder.info()
    if how := changed_run(folder.path):
        warnings.warn(f"the output of run {folder.name} was changed: {how}", stacklevel=2)
    named = agent or (info.agent if info else None)
    return streams.decode_pieces(pieces(folder.path), named, folder.name, cap=cap)


def named_run(source: ByteSource) -> RunFolder | None:
    """The run that a source names, by its folder or its name; None if it is something else."""
    if not isinstance(source, (str, os.PathLike)):
        return None
    path = Path(source).absolute()
    try:
        if (path / INFO).is_file():
            return RunFolder(path)
        if isinstance(source, str) and not path.exists():
            return runs.find(home_folder(), source)
    except NightrookError:
        return None
    return None
