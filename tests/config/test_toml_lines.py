"""The line of each key, in whatever way TOML lets one write it."""

import string
import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nightrook.config.toml_lines import key_lines
from tests.rules import each


def paths(value: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key of a value, in tables and lists of whatever depth."""
    if isinstance(value, list):
        for part in value:
            yield from paths(part, above)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield (*above, key)
            yield from paths(inner, (*above, key))


def test_keys_tables_and_dotted_keys_are_found() -> None:
    text = """\
# a comment with a = 1

agent = "codex"
[profile.ci]
quiet = true   # quiet = false

[profile]
nightly.max_cost = 3
[agents . "my own"]
speaks = 'claude'
"""
    assert key_lines(text) == {
        ("agent",): 3,
        ("profile",): 4,
        ("profile", "ci"): 4,
        ("profile", "ci", "quiet"): 5,
        ("profile", "nightly"): 8,
        ("profile", "nightly", "max_cost"): 8,
        ("agents",): 9,
        ("agents", "my own"): 9,
        ("agents", "my own", "speaks"): 10,
    }


@each(
    "value",
    [
        '"""\nb = 1\n[c]\n"""',
        "'''\nb = 1\n'''",
        '"""a ""b"" \\""" c"""',
        '"""ends with two quotes"""""',
        "'''ends with one quote''''",
        '[\n  "b = 1", # ]\n  [1, 2],\n]',
        '{ b = "}", c = [1, "]"] }',
        '"a # b"',
        "1979-05-27T07:32:00Z",
        '""',
        "''",
        '"\\\\"',
        "[[1], { x = 1 }]",
    ],
)
def test_a_value_of_any_kind_does_not_hide_the_next_key(value: str) -> None:
    text = f"a = {value}\nlast = 1\n"
    found = key_lines(text)
    assert found[("last",)] == text.count("\n")
    assert set(found) == set(paths(tomllib.loads(text)))


def test_a_key_in_an_inline_table_of_several_lines_has_its_own_line() -> None:
    text = "a = [\n  { x = 1 },\n  { y = 1 },\n]\n"
    assert key_lines(text) == {("a",): 1, ("a", "x"): 2, ("a", "y"): 3}


def test_windows_line_ends_count_as_one() -> None:
    assert key_lines('a = 1\r\n\r\nb = """\r\n"""\r\nc = 2\r\n') == {
        ("a",): 1,
        ("b",): 3,
        ("c",): 5,
    }


def test_arrays_of_tables_are_found() -> None:
    assert key_lines("[[a]]\nx = 1\n[[a]]\nx = 2\n") == {("a",): 1, ("a", "x"): 2}


_keys = st.one_of(
    st.text(string.ascii_letters + string.digits + "-_", min_size=1),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=6).map(
        lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
)
_strings = st.text('ab"#=[]{}\\, ', max_size=8)
_values = st.recursive(
    st.one_of(
        st.integers(0, 9).map(str),
        _strings.map(lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'),
        _strings.map(lambda text: f"'{text}'"),
        _strings.map(
            lambda t: '"""\n' + t.replace("\\", "\\\\").replace('"', '\\"') + '\nz = 1"""'
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: "[\n" + ", # ]\n".join(parts) + "\n]"),
        st.dictionaries(_keys, inner, max_size=3).map(
            lambda parts: "{" + ", ".join(f"{k} = {v}" for k, v in parts.items()) + "}"
        ),
    ),
    max_leaves=4,
)
_documents = st.lists(
    st.one_of(
        st.tuples(_keys, _values).map(lambda pair: f"{pair[0]} = {pair[1]}"),
        st.lists(_keys, min_size=1, max_size=3).map(lambda keys: f"[{' . '.join(keys)}]"),
        st.just("# [x] = 1"),
    ),
    max_size=6,
).map("\n".join)


@settings(deadline=None)
@given(_documents)
def test_whatever_the_standard_reader_finds_has_a_line(text: str) -> None:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # two of its keys are the same
    found = key_lines(text)
    assert set(found) == set(paths(table))
    assert all(1 <= line <= text.count("\n") + 1 for line in found.values())
