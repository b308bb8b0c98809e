"""The page of a report: whole, without scripts, nothing fetched, all names escaped."""

import re
from html.parser import HTMLParser

from tests.display.costs.reports import HOSTILE, figures, hostile, report, three_rows

from nightrook.archive.report.figures import CostRow
from nightrook.display.costs.page import report_page

Attributes = list[tuple[str, str | None]]


class Tags(HTMLParser):
    """Collects tags and texts, and fails on a tag that is not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: Attributes = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        self.handle_startendtag(tag, attrs)
        if tag != "meta":
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_page_has_a_chart_a_table_the_total_and_the_notes() -> None:
    tags = Tags(report_page(three_rows(saved_usd=12.5, notes=("a note",))))
    assert tags.tags.count("rect") == 3
    assert tags.tags.count("tr") == 1 + 3 + 1
    assert {"opus", "mine", "2026-11-03", "a note", "5,600,000", "~$4.00"} <= set(tags.texts)
    assert any("the cache saved ~$12.50" in text for text in tags.texts)
    assert "2026-11-02 · opus · $4.00" in tags.texts


def test_a_page_runs_and_fetches_nothing() -> None:
    for shown in (three_rows(), hostile(), report()):
        page = report_page(shown)
        tags = Tags(page)
        assert not {"script", "link", "img", "iframe", "object", "a"} & set(tags.tags)
        names = {name for name, _ in tags.attributes}
        assert not {"src", "href", "srcset", "style"} & names
        assert not [name for name in names if name.startswith("on")]
        assert "default-src 'none'" in page
        assert "url(" not in page
        assert "@import" not in page


def test_names_are_escaped_wherever_they_are() -> None:
    page = report_page(hostile())
    assert HOSTILE not in page
    assert "<script>" not in page
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", page)
    assert "&lt;script&gt;" in page


def test_a_report_without_any_cost_draws_tokens_and_nothing_draws_nothing() -> None:
    row = CostRow(keys={"model": "mine"}, **figures(input=2000, unpriced_tokens=2000))
    assert "mine · 2.0k tokens" in Tags(report_page(report(row, by=("model",)))).texts
    assert "<svg" not in report_page(report())
    assert "<table" not in report_page(report())


def test_the_smallest_of_many_parts_share_a_colour() -> None:
    rows = [
        CostRow(keys={"day": "2026-11-02", "model": f"m{n:02}"}, **figures(float(20 - n)))
        for n in range(12)
    ]
    tags = Tags(report_page(report(*rows)))
    assert "others" in tags.texts
    assert tags.tags.count("li") == 8
    assert tags.tags.count("rect") == 12


def test_many_hours_are_a_chart_of_the_last_ones() -> None:
    rows = [CostRow(keys={"hour": f"h{n}"}, **figures(1.0)) for n in range(1000)]
    tags = Tags(report_page(report(*rows, by=("hour",))))
    assert tags.tags.count("rect") == 400
    assert tags.tags.count("tr") == 1002


def test_bars_are_in_the_picture_and_as_high_as_their_cost() -> None:
    rows = [CostRow(keys={"day": f"d{n}"}, **figures(float(n))) for n in range(1, 5)]
    page = report_page(report(*rows, by=("day",)))
    found = re.findall(r'<rect class="c0" x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)">', page)
    bars = [tuple(map(float, bar)) for bar in found]
    assert [round(height / bars[0][3], 1) for *_, height in bars] == [1.0, 2.0, 3.0, 4.0]
    assert len({round(y + height) for _, y, _, height in bars}) == 1  # all stand on one line
    for (x, y, width, height), after in zip(
        bars, [*(bar[0] for bar in bars[1:]), 960], strict=True
    ):
        assert 0 <= x < x + width <= after
        assert 0 <= y <= y + height <= 320
