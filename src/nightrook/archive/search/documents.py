"""Searchable documents of a record: prompts, answers, thinking, commands, paths, outputs."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from nightrook.model.events import (
    Status,
    Text,
    Thinking,
    ToolFinished,
    ToolKind,
    ToolStarted,
    UserMessage,
)
from nightrook.model.records import Record
from nightrook.store.filters import Filter

DocumentKind = Literal["prompt", "answer", "thinking", "command", "path", "output"]
KINDS: tuple[DocumentKind, ...] = get_args(DocumentKind)
"""Kinds of documents; the database stores their places in this order."""

_LONGEST = 16_000
_LONGEST_BEGIN = 4_000  # of an output
_LONGEST_END = 1_000
_LINE_NUMBERS = re.compile("^ {0,9}[0-9]{1,7}[\t→]", re.MULTILINE)
_WITHOUT_TITLE: frozenset[ToolKind] = frozenset({"plan", "think", "ask"})


class Document(NamedTuple):
    """A text that can be found, and the place of its message in the log of its file."""

    kind: DocumentKind
    text: str
    at: float | None
    offset: int
    tool: str | None = None
    status: Status | None = None


class DocumentFilter(Filter, frozen=True, kw_only=True):
    """Filter of sessions and of the documents in them."""

    kind: DocumentKind | None = None
    tool: str | None = None
    status: Status | None = None
    """Status of the call that an output belongs to."""

    @property
    def is_of_sessions(self) -> bool:
        """True if it takes only some sessions."""
        return (self.agent, self.project, self.session) != (None, None, None)

    @property
    def is_of_documents(self) -> bool:
        """True if it takes only some documents of a session."""
        by_fact = (self.kind, self.tool, self.status)
        return by_fact != (None, None, None) or (self.since, self.until) != (None, None)

    def takes_document(self, document: Document) -> bool:
        """True if it takes a document, provided that it takes its session."""
        tool = (document.tool or "").lower()
        return (
            self.takes_time(document.at)
            and self.kind in (None, document.kind)
            and self.status in (None, document.status)
            and (self.tool is None or tool == self.tool.lower())
        )


def documents(records: Iterable[Record], *, whole: bool = False) -> Iterator[Document]:
    """Yield the searchable documents of some records, in order; cut unless `whole`."""
    for document, is_numbered in _documents(records):
        yield document if whole else document._replace(text=_cut(document, is_numbered))


def _documents(records: Iterable[Record]) -> Iterator[tuple[Document, bool]]:
    """The documents, each with whether a tool numbered its lines."""
    for record in records:
        event = record.event
        if isinstance(event, UserMessage):
            if not event.synthetic and not event.replay and event.text:
                yield _document("prompt", event.text, record), False
        elif isinstance(event, Text):
            yield _document("answer", event.text, record), False
        elif isinstance(event, Thinking):
            if event.text:
                yield _document("thinking", event.text, record), False
        elif isinstance(event, ToolStarted):
            if event.title and event.kind not in _WITHOUT_TITLE:
                kind: DocumentKind = "command" if event.kind == "execute" else "path"
                yield _document(kind, event.title, record, tool=event.name), False
        elif isinstance(event, ToolFinished):
            text = event.output or event.error
            if text:
                output = _document("output", text, record, tool=event.name, status=event.status)
                yield output, event.kind == "read"


def _document(
    kind: DocumentKind,
    text: str,
    record: Record,
    *,
    tool: str | None = None,
    status: Status | None = None,
) -> Document:
    return Document(kind, text, record.at, record.offset, tool, status)


def _cut(document: Document, is_numbered: bool) -> str:
    """The beginning of a text; of an output, also its end. Numbers of lines are left out."""
    text = document.text
    if document.kind != "output":
        return text[:_LONGEST]
    if len(text) > _LONGEST_BEGIN + _LONGEST_END:
        text = f"{text[:_LONGEST_BEGIN]}\n…\n{text[-_LONGEST_END:]}"
    return _LINE_NUMBERS.sub("", text) if is_numbered else text
