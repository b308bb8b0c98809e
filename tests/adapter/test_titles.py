"""What a call is about, found in its input."""

import msgspec
import pytest

from nightrook.adapter.shapes import NOTHING
from nightrook.adapter.titles import first_of, informing_string, title_of


@pytest.mark.parametrize(
    ("input", "title"),
    [
        (b'{"n": 1, "text": " hi\\n there "}', "hi there"),
        (b'{"path": "", "query": "  ", "name": "x"}', "x"),
        (b'{"foo": "bar", "name": "first", "path": "second"}', "first"),
        (b'{"prompt": "%b", "name": "s"}' % (b"x" * 201), "s"),
        (b'{"foo": "bar"}', None),
        (b'{"path": 5}', None),
        (b'{"inner": {"text": "x"}}', None),
        (b'["x"]', None),
        (b"{torn", None),
    ],
)
def test_the_first_field_that_informs_is_the_title(input: bytes, title: str | None) -> None:
    assert informing_string(msgspec.Raw(input)) == title


@pytest.mark.parametrize(
    ("input", "words"),
    [
        (b'{"b": "two", "a": "one"}', "one"),
        (b'{"b": "two", "a": ""}', "two"),
        (b'{"b": "two", "a": 5}', "two"),
        (b'{"c": "three"}', None),
        (b'["a"]', None),
        (b"{torn", None),
        (b"", None),
    ],
)
def test_the_first_field_with_a_value_is_used(input: bytes, words: str | None) -> None:
    assert first_of(msgspec.Raw(input), "a", "b") == words


def test_a_title_is_one_line_of_bounded_length() -> None:
    input = msgspec.Raw(b'{"a": "one\\n two %b"}' % (b"x" * 2000))
    title = title_of(input, "a")
    assert title is not None
    assert title.startswith("one two xxx")
    assert len(title) == 1000
    assert title_of(NOTHING, "a") is None
