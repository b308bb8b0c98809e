"""Rows in columns."""

from nightrook.display.console import Paint
from nightrook.display.table import table


def test_columns_are_as_wide_as_what_stands_in_them() -> None:
    rows = [("k7f3", "汉字", "Fix the tests"), ("loop3", "a", "x")]
    assert table(("RUN", "B", "WHAT"), rows, width=80) == [
        "RUN    B     WHAT",
        "k7f3   汉字  Fix the tests",
        "loop3  a     x",
    ]


def test_the_last_column_is_cut_to_the_width() -> None:
    assert table(("A", "WHAT"), [("x", "a long story")], width=10) == ["A  WHAT", "x  a long…"]


def test_colours_do_not_move_columns() -> None:
    painted = table(
        ("A", "B"),
        [("x", "y"), ("long", "z")],
        width=9,
        paint=Paint(colour=True),
        cell=lambda row, column, text: f"<{text}>",
    )
    assert painted == ["\x1b[1mA\x1b[0m     \x1b[1mB\x1b[0m", "<x>     <y>", "<long>  <z>"]


def test_without_a_width_lines_are_whole() -> None:
    assert table(("A", "WHAT"), [("x", "a" * 200)]) == ["A  WHAT", f"x  {'a' * 200}"]
