"""Reads the text of a document from the agent's own file, where texts are not kept."""

import os

from nightrook import agents
from nightrook.archive.session_files import open_unseen
from nightrook.archive.words.documents import DocumentKind, documents

_LARGEST = 16 << 20  # of a line


def source_text(agent: str, path: str, offset: int, kind: DocumentKind) -> str | None:
    """The text of a document; None if its file is gone, or is not one of lines."""
    if agent not in agents.TRANSCRIPTS:
        return None
    transcript = agents.transcript(agent)
    if transcript.query is not None or transcript.lines is not None:
        return None
    try:
        line = _line(path, offset)
    except OSError:
        return None
    decoder = transcript.decoder()
    records = [*decoder.feed(line), *decoder.close()]
    return next((each.text for each in documents(records) if each.kind == kind), None)


def _line(path: str, offset: int) -> bytes:
    fd = open_unseen(path)
    try:
        data = os.pread(fd, _LARGEST, offset)
    finally:
        os.close(fd)
    return data[: data.find(b"\n") + 1] or data
