"""What the real agents went through, and what they wrote that we do not know: told at the end."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import nightrook
from nightrook.model.errors import NightrookError
from nightrook.model.events import SessionStarted, StreamClosed, Unknown
from nightrook.store.run_folder import RunFolder
from tests.conformance.scenarios import ACP_REMARKS, ACP_SCENARIOS, LACKING, SCENARIOS

_TYPES, _FIELDS, _RAN = Counter[str](), Counter[str](), Counter[str]()
_CELLS: dict[tuple[str, str], list[str]] = {}  # by agent and scenario, a word for each test
_REMARKS: dict[tuple[str, str], str] = {}
_ACP_CELLS: dict[tuple[str, str], list[str]] = {}


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
        records = list(nightrook.decode(folder.path, info.agent))
    except NightrookError:
        return
    events = [record.event for record in records]
    versions = {e.version for e in events if isinstance(e, SessionStarted) and e.version}
    _RAN[" ".join([info.agent, *sorted(versions)])] += 1
    for event in events:
        if isinstance(event, Unknown):
            _TYPES[f"{info.agent}: {event.name}"] += 1
        elif isinstance(event, StreamClosed):
            for field in event.unknown_fields:
                _FIELDS[f"{info.agent}: {field.type}.{field.field}"] += field.count


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down how a scenario went."""
    report = yield
    mark = item.get_closest_marker("scenario")
    if mark is not None and (report.when == "call" or not report.passed):
        agent = item.path.stem.removeprefix("test_")
        if agent == "acp":
            params: dict[str, str] = item.callspec.params  # type: ignore[attr-defined]
            _ACP_CELLS.setdefault((params["speaker"], mark.args[0]), []).append(report.outcome)
            return report
        for name in mark.args:
            _CELLS.setdefault((agent, name), []).append(report.outcome)
            if mark.kwargs["but"]:
                _REMARKS[agent, name] = mark.kwargs["but"]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show which agent went through what, which versions ran, and what was new in it."""
    if _CELLS:
        terminalreporter.section("scenarios")
        for line in table(_CELLS, SCENARIOS, {**LACKING, **_REMARKS}):
            terminalreporter.write_line(line)
    if _ACP_CELLS:
        terminalreporter.section("scenarios over ACP")
        for line in table(_ACP_CELLS, ACP_SCENARIOS, ACP_REMARKS):
            terminalreporter.write_line(line)
    if _RAN:
        terminalreporter.section("drift")
        for what, found in (("ran", _RAN), ("new type", _TYPES), ("new field", _FIELDS)):
            for name, count in sorted(found.items()):
                terminalreporter.write_line(f"{what}: {name} ({count}×)")
        if not _TYPES and not _FIELDS:
            terminalreporter.write_line("nothing that we do not know")


def table(
    cells: Mapping[tuple[str, str], list[str]],
    rows: Sequence[str],
    remarks: Mapping[tuple[str, str], str],
) -> Iterator[str]:
    """A row for each scenario and a column for each agent, and what differs in which agent."""
    agents = sorted({agent for agent, _ in cells})
    told = [cell for name in rows for agent in agents if (cell := (agent, name)) in remarks]

    def word(cell: tuple[str, str]) -> str:
        ways = set(cells.get(cell, ["-"]))
        how = next((way for way in ("failed", "skipped", "passed") if way in ways), "-")
        return f"{how} ({told.index(cell) + 1})" if cell in remarks else how

    for row in ("", *rows):
        words = (word((agent, row)) if row else agent for agent in agents)
        yield f"{row:20}" + "".join(f"{each:13}" for each in words).rstrip()
    for number, (agent, name) in enumerate(told, 1):
        yield f"({number}) {agent}: {remarks[agent, name]}"
