"""Which kept texts are forgotten; their words are still found."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightrook.archive.search.forgetting import TextBlock, forget_texts, kept_texts, to_forget
from nightrook.archive.search.index import SearchIndex
from nightrook.archive.search.indexing import fill
from nightrook.archive.search.search import SearchQuery, search
from tests.archive.search.test_index import SUBAGENT, TRANSCRIPTS

NEW, MIDDLE, OLD = (TextBlock(id, 100, at) for id, at in ((1, 30.0), (2, 20.0), (3, 10.0)))
GONE = TextBlock(4, 100, 0.0)


@pytest.fixture
def words(tmp_path: Path) -> Iterator[SearchIndex]:
    shutil.copytree(TRANSCRIPTS / SUBAGENT, tmp_path / "home")
    with SearchIndex.open(tmp_path / "nightrook" / "words.db") as opened:
        for _ in fill(opened, [tmp_path / "home"]):
            pass
        yield opened


def test_texts_are_chosen_by_age_by_size_and_if_nothing_finds_them() -> None:
    every = [NEW, MIDDLE, OLD, GONE]
    assert to_forget(every, before=15.0, most=None) == [OLD, GONE]
    assert to_forget(every, before=None, most=250) == [OLD, GONE]
    assert to_forget(every, before=None, most=10_000) == [GONE]
    assert to_forget(every, before=25.0, most=100) == [MIDDLE, OLD, GONE]


def test_what_is_forgotten_is_found_without_an_excerpt_once_its_file_is_gone(
    words: SearchIndex,
) -> None:
    query = SearchQuery(text="background")
    before = search(words.connection, query)
    assert all(hit.excerpt for hit in before.hits)
    found = kept_texts(words.connection)
    assert found
    assert all(block.at > 1_500_000_000 for block in found)
    forget_texts(words.connection, found)
    shutil.rmtree(words.path.parent.parent / "home")  # where excerpts come from otherwise
    after = search(words.connection, query)
    assert (after.total, {hit.excerpt for hit in after.hits}) == (before.total, {""})
    assert kept_texts(words.connection) == []


def test_a_failure_forgets_nothing(words: SearchIndex) -> None:
    found = kept_texts(words.connection)
    words.connection.execute(
        "CREATE TRIGGER refuse BEFORE UPDATE ON blocks BEGIN SELECT RAISE(ABORT, 'refused'); END"
    )
    with pytest.raises(sqlite3.Error, match="refused"):
        forget_texts(words.connection, found)
    assert kept_texts(words.connection) == found
