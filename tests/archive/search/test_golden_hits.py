"""What is found in the recorded sessions of every agent: `<agent>/hits.txt`, read by a person.

`UPDATE_CASES=1 pytest tests/archive/search/test_golden_hits.py` writes the files again.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook import agents
from nightrook.archive.search.index import FILE, SearchIndex
from nightrook.archive.search.indexing import fill
from nightrook.archive.search.search import Hit, SearchQuery, search
from tests.agents.stores import unpacked

RECORDED = Path(__file__).parents[2] / "agents"
QUERIES = (
    "thing",
    "err-line",
    '"out-line err-line"',
    "ec*",
    "running -hello",
    "answer*",
    "failed",
    "subagent*",
    "retry",
    "a.txt",
)


def homes(agent: str, folder: Path) -> Iterator[Path]:
    """A home for each recorded case of an agent."""
    for case in sorted((RECORDED / agent / "transcripts").glob("*")):
        home = folder / case.name
        shutil.copytree(case, home)
        yield home
    place = agents.history(agent).places[0]
    for store in sorted((RECORDED / agent / "stores").glob("*.tar.xz")):
        case_name = store.name.removesuffix(".tar.xz")
        home = folder / case_name
        below = home / place.home / place.below
        below.mkdir(parents=True)
        unpacked(agent, case_name, below)
        yield home


def found(agent: str, folder: Path) -> Iterator[str]:
    """What each query finds, a line for each hit."""
    every = list(homes(agent, folder / "homes"))
    with SearchIndex.open(folder / FILE) as words:
        list(fill(words, every))
        for text in QUERIES:
            result = search(words.connection, SearchQuery(text=text), limit=10_000)
            yield f"# {text}: {result.total}"
            yield from sorted(
                " | ".join((Path(hit.source).relative_to(folder / "homes").parts[0], *_cells(hit)))
                for hit in result.hits
                if hit.agent == agent
            )


def _cells(hit: Hit) -> tuple[str, ...]:
    return (hit.session[:13], hit.kind, hit.tool or "", hit.status or "", hit.excerpt[:120])


@pytest.mark.parametrize("agent", agents.HISTORIES)
def test_the_recorded_sessions_of_an_agent_are_found(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in agents.history(agent).places:
        if place.variable:
            monkeypatch.delenv(place.variable, raising=False)
    lines = "".join(f"{line}\n" for line in found(agent, tmp_path))
    expected = RECORDED / agent / "hits.txt"
    if os.environ.get("UPDATE_CASES"):
        expected.write_text(lines, encoding="utf-8")
    assert lines == expected.read_text(encoding="utf-8")
