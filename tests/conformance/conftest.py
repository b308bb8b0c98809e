"""Drift watch: what the real agents wrote that we do not know, told after the last test."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import rookery
from rookery.core.errors import RookeryError
from rookery.core.events import SessionStarted, StreamClosed, Unknown
from rookery.folder.runs import RunFolder

_TYPES, _FIELDS, _VERSIONS = Counter[str](), Counter[str](), Counter[str]()


@pytest.fixture(autouse=True)
def drift(tmp_path: Path) -> Iterator[None]:
    """Look at every run of a test when it is over."""
    yield
    for log in sorted(tmp_path.rglob("runs/*/stdout.raw")):
        note(RunFolder(log.parent))


def note(folder: RunFolder) -> None:
    """Count the types and fields of a run that this version does not know."""
    info = folder.info()
    if info is None or info.agent is None:
        return
    try:
        records = list(rookery.decode(folder.chunks("stdout"), info.agent))
    except RookeryError:
        return
    for event in (record.event for record in records):
        if isinstance(event, SessionStarted) and event.version:
            _VERSIONS[f"{info.agent} {event.version}"] += 1
        elif isinstance(event, Unknown):
            _TYPES[f"{info.agent}: {event.name}"] += 1
        elif isinstance(event, StreamClosed):
            for field in event.unknown_fields:
                _FIELDS[f"{info.agent}: {field.type}.{field.field}"] += field.count


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which versions ran, and what was new in what they wrote."""
    if not (_VERSIONS or _TYPES or _FIELDS):
        return
    terminalreporter.section("drift")
    for what, found in (("ran", _VERSIONS), ("new type", _TYPES), ("new field", _FIELDS)):
        for name, count in sorted(found.items()):
            terminalreporter.write_line(f"{what}: {name} ({count}×)")
    if not _TYPES and not _FIELDS:
        terminalreporter.write_line("nothing that we do not know")
