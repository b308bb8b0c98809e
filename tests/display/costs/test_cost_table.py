"""The table of a report: columns, bars, the lines below, narrow terminals."""

import pytest
from tests.display.costs.reports import HOSTILE, figures, hostile, report, three_rows

from nightrook.archive.report.figures import CostRow
from nightrook.display import cells
from nightrook.display.console import Paint
from nightrook.display.costs.table import report_lines

PLAIN = Paint()


def test_a_report_is_a_table_with_bars_a_total_and_notes() -> None:
    shown = three_rows(saved_usd=12.5, notes=("2 files could not be read",))
    assert report_lines(shown, width=None, paint=PLAIN) == [
        "DAY         MODEL  INPUT  OUTPUT  CACHE READ  CACHE WRITE  CALLS  UNPRICED    COST",
        "2026-11-02  opus    1.2k   34.0k        5.6M           70      1         0  ~$4.00  "
        "███████████████▒▒▒▒▒",
        "2026-11-02  mine   31.0k       0           0            0      1     31.0k      $?",
        "2026-11-03  -          5       0           0            0      1         0   $2.00  "
        "██████████",
        "TOTAL              32.2k   34.0k        5.6M           70      3     31.0k  ~$6.00",
        "[rook] $5.00 reported by agents · ~$1.00 estimated at list prices · "
        "31.0k tokens without a price · the cache saved ~$12.50",
        "[rook] 2 files could not be read",
    ]


def test_on_a_terminal_a_group_is_named_where_it_begins() -> None:
    pairs = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "y"), ("a", "y")]
    keys = [{"day": day, "agent": agent, "model": "m"} for day, agent in pairs]
    shown = report(
        *(CostRow(keys={**each}, **figures(1.0)) for each in keys), by=("day", "agent", "model")
    )
    lines = report_lines(shown, width=120, paint=PLAIN)[1:6]
    assert [line.split("m ")[0].split() for line in lines] == [
        ["a", "x"],
        ["y"],
        ["b", "y"],
        [],
        ["a", "y"],
    ]


@pytest.mark.parametrize("width", [200, 120, 100, 80, 60, 50, 42])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    shown = three_rows(saved_usd=1.5, notes=("a note that is too long for one line " * 9,))
    lines = report_lines(shown, width=width, paint=PLAIN)
    assert max(map(cells.width, lines)) <= width
    assert any("▒" in line for line in lines)
    assert "COST" in lines[0]


def test_a_narrow_terminal_does_without_the_less_needed_numbers() -> None:
    def head(width: int) -> str:
        return " ".join(report_lines(three_rows(), width=width, paint=PLAIN)[0].split())

    assert head(120) == "DAY MODEL INPUT OUTPUT CACHE READ CACHE WRITE CALLS UNPRICED COST"
    assert head(80) == "DAY MODEL INPUT OUTPUT CACHE READ UNPRICED COST"
    assert head(50) == "DAY MODEL UNPRICED COST"
    assert head(20) == "DAY MODEL COST"


def test_bars_grow_with_the_terminal_to_a_length() -> None:
    bars = [report_lines(three_rows(), width=w, paint=PLAIN)[1].count("█") for w in (80, 100, 300)]
    assert bars[0] < bars[2] == 22  # of 30, of which a quarter is estimated


def test_long_names_are_cut_and_paths_keep_their_end() -> None:
    path = "/home/me/work/a-rather-long-folder/with-another-one-in-it/project"
    row = CostRow(keys={"project": path, "branch": "x" * 60}, **figures(1.0))
    shown = report(row, by=("project", "branch"))
    line = report_lines(shown, width=100, paint=PLAIN, home="/home/me")[1]
    assert line.startswith("…")
    assert line.split()[0].endswith("one-in-it/project")
    assert line.split()[1].endswith("xxx…")
    assert "~/work/a-rather" in report_lines(shown, width=None, paint=PLAIN, home="/home/me")[1]


def test_a_session_is_shown_by_its_title() -> None:
    row = CostRow(keys={"session": "0123456789abcdef"}, title="Fix it", **figures(1.0))
    line = report_lines(report(row, by=("session",)), width=80, paint=PLAIN)[1]
    assert line.startswith("01234567 Fix it  ")


def test_small_amounts_have_four_decimals() -> None:
    row = CostRow(keys={"day": "2026-11-02"}, **figures(0.015))
    lines = report_lines(report(row, by=("day",)), width=None, paint=PLAIN)
    assert "  $0.0150  " in lines[1]
    assert lines[-1] == "[rook] $0.0150 reported by agents"


def test_without_any_price_bars_stand_for_tokens() -> None:
    rows = [
        CostRow(keys={"model": name}, **figures(input=size, unpriced_tokens=size))
        for name, size in (("a", 100), ("b", 50))
    ]
    lines = report_lines(report(*rows, by=("model",)), width=None, paint=PLAIN)
    assert [line.count("▒") for line in lines[1:3]] == [20, 10]
    assert "$?" in lines[1]


def test_a_correction_below_zero_has_no_bar() -> None:
    rows = [
        CostRow(keys={"model": name}, **figures(usd, input=int(usd * 10)))
        for name, usd in (("a", 2.0), ("b", -1.0))
    ]
    lines = report_lines(report(*rows, by=("model",)), width=None, paint=PLAIN)
    assert [line.count("█") for line in lines[1:3]] == [20, 0]


def test_a_report_without_calls_has_no_lines() -> None:
    assert report_lines(report(), width=80, paint=PLAIN) == []


def test_tokens_without_a_price_are_not_said_to_cost_nothing() -> None:
    row = CostRow(keys={"model": "a"}, **figures(0.0, input=5_000) | {"unpriced_tokens": 5_000})
    lines = report_lines(report(row, by=("model",)), width=None, paint=PLAIN)
    assert lines[-1] == "[rook] 5.0k tokens without a price"


def test_nothing_that_an_agent_named_reaches_the_terminal() -> None:
    for width in (None, 80):
        lines = report_lines(hostile(), width=width, paint=PLAIN)
        assert not any(bad in "".join(lines) for bad in "\x1b\u202e\n")
        assert HOSTILE not in "".join(lines)


def test_colours_are_only_for_those_who_want_them() -> None:
    plain = report_lines(three_rows(), width=80, paint=PLAIN)
    coloured = report_lines(three_rows(), width=80, paint=Paint(colour=True))
    assert not any("\x1b" in line for line in plain)
    assert "\x1b[32m" in coloured[1]


def test_names_get_the_room_that_the_shortest_bar_leaves() -> None:
    row = CostRow(keys={"model": "a-model-with-a-rather-long-name"}, **figures(1.0))
    lines = report_lines(report(row, by=("model",)), width=44, paint=PLAIN)
    assert lines[1] == "a-model-with-a-rather-long…  $1.00  ████████"
