"""A title for a call of a tool whose inputs nobody knows."""

import msgspec
import pytest

from rookery.core.titles import first_short_string


@pytest.mark.parametrize(
    ("input", "title"),
    [
        (b'{"n": 1, "text": " hi\\n there "}', "hi there"),
        (b'{"a": "", "b": "  ", "c": "x"}', "x"),
        (b'{"long": "%b", "short": "s"}' % (b"x" * 201), "s"),
        (b'{"inner": {"text": "x"}}', None),
        (b'["x"]', None),
        (b"{torn", None),
    ],
)
def test_the_first_short_string_is_the_title(input: bytes, title: str | None) -> None:
    assert first_short_string(msgspec.Raw(input)) == title
