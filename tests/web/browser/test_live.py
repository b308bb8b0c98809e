"""A run as it grows: every item once, in order, whatever happens to tabs, network and server."""

from typing import get_args

import pytest

from nightrook.model.records import load
from nightrook.model.timeline import Item, ItemKind, Timeline
from tests.web.browser.harness import (
    Home,
    Open,
    Tab,
    init,
    live,
    percentile,
    result,
    said,
)
from tests.web.browser.mirror.filled import lines
from tests.web.browser.mirror.installed import install
from tests.web.browser.mirror.installed import live as mirrored

WATCH = """() => {
    window.delays = new Map();
    const look = () => {
        const now = Date.now();
        for (const row of document.querySelectorAll(".k-text .said")) {
            const [, number, at] = /line (\\d+) at ([\\d.]+)/.exec(row.textContent) ?? [];
            if (number && !delays.has(number)) delays.set(number, now - Number(at));
        }
    };
    new MutationObserver(look).observe(document.querySelector(".timeline"), {
        subtree: true, childList: true, characterData: true });
}"""

COLLECT = """async () => {
    const main = document.getElementById("main");
    const frame = () => new Promise(requestAnimationFrame);
    const rows = () => [...document.querySelectorAll(".timeline article")];
    const found = new Map();
    do {  // a page that follows the end may scroll back once
        main.scrollTop = 0;
        for (let times = 0; times < 3; times += 1) await frame();
    } while (main.scrollTop > 0);
    for (let last = -1; ; main.scrollTop += main.clientHeight - 120) {
        const isLoading = () => rows().some((row) => row.matches(".loading"));
        for (let times = 0; times < 3 || isLoading(); times += 1) await frame();
        for (const row of rows()) {
            const kind = [...row.classList].find((name) => name.startsWith("k-")).slice(2);
            const place = `${row.dataset.index} ${kind}`;
            found.set(place, row.textContent);
        }
        if (main.scrollTop === last) break;
        last = main.scrollTop;
    }
    return [...found].sort((a, b) => parseInt(a[0]) - parseInt(b[0]));
}"""

UNTITLED = ("turn", "limit", "compaction")  # kinds whose rows have words of the page's own
IN_THEIR_CALL = ("file", "denial")


def decoded(home: Home, run: str) -> list[Item]:
    """The items of a run that have a row of their own, as `rook decode` reads its log."""
    log = home.runs / "runs" / run / "stdout.raw"
    timeline = Timeline()
    for line in home.rook("decode", "--agent", "mirror", str(log)).split("\n"):
        if line:
            timeline.take([load(line.encode())])
    items = list(timeline.items)
    kinds = {item.kind for item in items}
    assert kinds == set(get_args(ItemKind))
    return [item for item in items if not _is_in_another(item, items)]


def _is_in_another(item: Item, items: list[Item]) -> bool:
    """Whether the row of another item shows it."""
    if item.parent is None:
        return False
    of_subagent = item.kind == "task" and items[item.parent].kind == "subagent"
    return item.kind in IN_THEIR_CALL or of_subagent


def is_shown(tab: Tab, expected: list[Item]) -> None:
    """Check that the page shows these items and no others, each once and in order."""
    tab.page.bring_to_front()  # a browser draws those behind others rarely
    rows: list[tuple[str, str]] = tab.page.evaluate(COLLECT)
    assert [place for place, _ in rows] == [f"{item.id} {item.kind}" for item in expected]
    for item, (_, words) in zip(expected, rows, strict=True):
        if item.title is not None and item.kind not in UNTITLED:
            assert item.title in words, item


def ended(tab: Tab) -> None:
    """Wait for the end of the run."""
    tab.page.wait_for_selector(".verdict", timeout=400_000)


def every_kind(home: Home, rounds: int, rate: float) -> str:
    """Start a run in which everything happens that can, so many times; return its name."""
    install(home)
    made = [line for number in range(rounds) for line in lines(f"part {number}", number)]
    return mirrored(home, made, rate)


def test_a_run_grows_on_the_page_and_ends_there(home: Home, opened: Open) -> None:
    run = every_kind(home, 8, 100)
    server = home.serve()
    tab = opened(server, f"/runs/{run}")
    late = opened(server, f"/runs/{run}", beside=tab)
    for each in (tab, late):
        ended(each)
    expected = decoded(home, run)
    is_shown(tab, expected)
    is_shown(late, expected)
    assert tab.faults == []


def test_a_run_is_stopped_from_the_page(home: Home, opened: Open) -> None:
    server = home.serve()
    tab = opened(server, f"/runs/{live(home, 5_000, 20)}")
    tab.see(".now-line .doing")
    tab.page.click(".stop")
    tab.page.click(".confirm .danger")
    ended(tab)
    assert tab.page.inner_text(".verdict h2") == "Interrupted"


def test_a_killed_server_and_a_reload_lose_and_repeat_nothing(home: Home, opened: Open) -> None:
    run = every_kind(home, 6, 30)
    server = home.serve()
    tab = opened(server, f"/runs/{run}")
    tab.see(".k-text")
    server.kill()
    tab.see(".live.off")
    server = home.serve()
    tab.until("!document.querySelector('.live.off')")
    other = opened(server, f"/runs/{run}", beside=tab)
    other.page.reload()
    for each in (tab, other):
        ended(each)
    expected = decoded(home, run)
    is_shown(tab, expected)
    is_shown(other, expected)


@pytest.mark.soak
def test_ten_tabs_twenty_kills_and_a_minute_without_network(home: Home, opened: Open) -> None:
    run = every_kind(home, 90, 15)
    server = home.serve()
    first = opened(server, f"/runs/{run}")
    tabs = [first, *(opened(server, f"/runs/{run}", beside=first) for _ in range(9))]
    for tab in tabs:
        tab.see(".k-text")
    bells = sum("/api/bell" in url for tab in tabs for url in tab.requests)
    assert bells == 1
    first.page.context.set_offline(True)
    tabs[-1].page.wait_for_timeout(60_000)
    first.page.context.set_offline(False)
    for _ in range(20):
        server.kill()
        server = home.serve()
        tabs[-1].page.wait_for_timeout(700)
    tabs[1].see(".run-bar .status.runs")  # it was alive all the time
    first.page.close()  # another tab takes over
    tabs[1].page.reload()
    for tab in tabs[1:]:
        ended(tab)
    expected = decoded(home, run)
    for tab in tabs[1:]:
        is_shown(tab, expected)


@pytest.mark.soak
def test_a_line_is_on_the_page_within_a_moment(home: Home, opened: Open) -> None:
    server = home.serve()
    run = live(home, 3000, 200)
    tab = opened(server, f"/runs/{run}")
    tab.see(".k-text")
    tab.page.evaluate(WATCH)
    ended(tab)
    delays = sorted(tab.page.evaluate("() => [...delays.values()]"))
    p50, p95 = percentile(delays, 0.5), percentile(delays, 0.95)
    assert len(delays) > 2000
    assert (p50 <= 60, p95 <= 150) == (True, True), f"p50 {p50:.0f} ms, p95 {p95:.0f} ms"


def test_a_problem_goes_when_the_server_answers_again(home: Home, opened: Open) -> None:
    run = home.record(init(), *(said(number, f"text {number}") for number in range(900)), result())
    server = home.serve()
    tab = opened(server, f"/runs/{run}")
    tab.see(".k-text")
    server.kill()
    tab.page.evaluate("document.getElementById('main').scrollTop = 20000")
    tab.until("document.querySelector('.run-intro .problem')")
    home.serve()
    tab.until("!document.querySelector('.run-intro .problem, .row.loading')")
