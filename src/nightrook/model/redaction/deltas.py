"""Moves the start of a secret from a delta to the next one, so that no secret is split."""

from collections.abc import Mapping
from posixpath import commonprefix
from typing import NamedTuple

from msgspec.structs import replace

from nightrook.model.events import (
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolFinished,
    ToolInputDelta,
    ToolProgress,
)
from nightrook.model.records import Record
from nightrook.model.redaction.redactor import Redactor

_FIELDS: Mapping[type, str] = {
    TextDelta: "text",
    ThinkingDelta: "text",
    ToolInputDelta: "json",
    ToolProgress: "output",
}
_LONGEST_KEPT, _LONGEST_SECRET = 64 * 1024, 8 * 1024
_LONGEST_START = 64


class _Piece(NamedTuple):
    passed: str = ""
    """The end of what was passed on: a secret may have started there."""

    kept: str = ""
    """The text that was held back."""


class UnsplitSecrets:
    """Returns the records of one stream, with deltas that have no secrets, whole or in pieces.

    When the start of a secret is there, the rest of the delta comes with the next delta of the same
    text. What is kept at the end of a text is dropped: the whole text follows.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._redactor = Redactor(environ)
        self._pieces: dict[tuple[type, str], _Piece] = {}

    def unsplit(self, record: Record) -> Record:
        """Return a record as it is, or a delta with more or less text."""
        event = record.event
        field = _FIELDS.get(event.__class__)
        if field is None:
            if self._pieces and isinstance(event, (Text, Thinking, ToolFinished)):
                for kind in _FIELDS:
                    self._pieces.pop((kind, event.id), None)
            return record
        text: str | None = getattr(event, field)
        if not text:
            return record
        passed = self._pass((event.__class__, getattr(event, "id", "")), text)
        if passed == text:
            return record
        return replace(record, event=replace(event, **{field: passed}))

    def _pass(self, key: tuple[type, str], text: str) -> str:
        """Return the text that can be passed on of a delta and of what was held back before."""
        before, kept = self._pieces.get(key, _Piece())
        whole = before + kept + text
        keep = min(self._redactor.unfinished(whole), len(kept) + len(text))
        if keep > _LONGEST_KEPT:
            keep = _LONGEST_SECRET
        end = len(whole) - keep
        redacted = self._redactor.text(whole[:end])
        passed = redacted[len(commonprefix([redacted, before])) :]
        self._pieces[key] = _Piece((before + passed)[-_LONGEST_START:], whole[end:])
        return passed
