"""JSON and CSV of reports, as programs read them."""

import csv
import json

from tests.display.costs.reports import HOSTILE, hostile, report, three_rows

from nightrook.display.costs.exports import report_csv, report_json


def test_json_has_the_promised_shape() -> None:
    shown = json.loads(report_json(three_rows(notes=("a note",), saved_usd=3)))
    opus = {
        "tokens": {"input": 1200, "output": 34_000, "cache_read": 5_600_000, "cache_write": 70},
        "cost_usd": {"native": 3.0, "estimated": 1.0},
        "unpriced_tokens": 0,
        "calls": 1,
    }
    rows = shown.pop("rows")
    assert rows[0] == {"day": "2026-11-02", "model": "opus", **opus}
    assert rows[2]["model"] is None
    assert shown == {
        "timezone": "Europe/Berlin",
        "by": ["day", "model"],
        "total": {
            "tokens": {**opus["tokens"], "input": 32_205},  # type: ignore[dict-item]
            "cost_usd": {"native": 5.0, "estimated": 1.0},
            "unpriced_tokens": 31_000,
            "calls": 3,
        },
        "notes": ["a note"],
    }


def test_json_of_nothing_has_all_keys() -> None:
    nothing = json.loads(report_json(report()))
    assert nothing["rows"] == []
    assert nothing["total"]["cost_usd"] == {"native": 0.0, "estimated": 0.0}


def test_json_keeps_what_an_agent_named() -> None:
    assert json.loads(report_json(hostile()))["rows"][0]["branch"] == HOSTILE


def test_csv_has_a_heading_and_a_line_for_each_row() -> None:
    assert report_csv(three_rows()).splitlines() == [
        "day,model,input,output,cache_read,cache_write,native_usd,estimated_usd,"
        "unpriced_tokens,calls",
        "2026-11-02,opus,1200,34000,5600000,70,3.000000000,1.000000000,0,1",
        "2026-11-02,mine,31000,0,0,0,0.000000000,0.000000000,31000,1",
        "2026-11-03,,5,0,0,0,2.000000000,0.000000000,0,1",
    ]


def test_a_spreadsheet_runs_nothing_that_an_agent_named() -> None:
    text = report_csv(hostile())
    assert "\x1b" not in text
    assert len(list(csv.reader(text.splitlines()))) == 2
    for name in ("=1+1", "+1", "-1", "@SUM(A1)"):
        shown = three_rows()
        shown.rows[0].keys["model"] = name
        assert next(csv.reader(report_csv(shown).splitlines()[1:]))[1] == f"'{name}"
