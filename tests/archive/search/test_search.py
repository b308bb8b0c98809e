"""What a person types becomes an expression of SQLite's full-text search, and nothing else."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightrook.archive.search.search import EmptyQueryError, expression, marked_words
from tests.rules import each

EXPRESSIONS = [
    ("words", '("words")'),
    ("two words", '("two" AND "words")'),
    ('"a phrase" word', '("a phrase" AND "word")'),
    ("pre* word", '("pre"* AND "word")'),
    ("word -other", '("word") NOT "other"'),
    ('word -"not this"', '("word") NOT "not this"'),
    ("run_all src/main.py", '("run_all" AND "src/main.py")'),
    ("AND OR NEAR(a b)", '("AND" AND "OR" AND "NEAR(a" AND "b)")'),
    ('"unclosed phrase', '("unclosed phrase")'),
    ("word _ __", '("word")'),
    ("text:word ^first", '("text:word" AND "^first")'),
]


@each(("typed", "expected"), EXPRESSIONS, ids=[typed for typed, _ in EXPRESSIONS])
def test_a_query_becomes_an_expression(typed: str, expected: str) -> None:
    assert expression(typed) == expected


@each("typed", ["", "   ", "-word", '""', "***", "- !", "-", "_", "__*", '-"only this"'])
def test_a_query_without_a_word_says_so(typed: str) -> None:
    with pytest.raises(EmptyQueryError, match="nothing to look for"):
        expression(typed)


@given(st.text(max_size=40))
def test_nothing_that_is_typed_is_an_error_of_the_database(typed: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, content='')")
    try:
        match = expression(typed)
    except EmptyQueryError:
        return
    storable = match.encode("utf-8", "replace").decode()
    connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (storable,)).fetchall()
    marked_words(typed)


def test_words_are_marked_where_they_stand_alone() -> None:
    pattern = marked_words('run_all "two words" pre* -other')
    assert pattern is not None
    text = "Run_all, two  words; prefix other rerun_all"
    assert [match[0] for match in pattern.finditer(text)] == ["Run_all", "two  words", "pre"]
