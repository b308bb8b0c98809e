"""A run as it grows: every item once, in order, whatever happens to tabs, network and server."""

import json

import pytest

from tests.web.browser.harness import Home, Open, Tab, live, needs_browser, percentile

pytestmark = needs_browser

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
    main.scrollTop = 0;
    for (let last = -1; ; main.scrollTop += main.clientHeight - 120) {
        const isLoading = () => rows().some((row) => row.matches(".loading"));
        for (let times = 0; times < 3 || isLoading(); times += 1) await frame();
        for (const row of rows()) {
            const text = row.querySelector(".said")?.textContent.trim();
            const known = found.get(row.dataset.index);
            if (text && known && known !== text) found.set(`${row.dataset.index} twice`, text);
            if (text) found.set(row.dataset.index, text);
        }
        if (main.scrollTop === last) break;
        last = main.scrollTop;
    }
    return [...found].sort((a, b) => parseInt(a[0]) - parseInt(b[0])).map(([, text]) => text);
}"""


def texts(home: Home, run: str) -> list[str]:
    """All texts of a run, in order, as `rook decode` reads them."""
    log = home.runs / "runs" / run / "stdout.raw"
    records = map(json.loads, home.rook("decode", str(log)).splitlines())
    return [record["text"] for record in records if record["type"] == "text"]


def shown(tab: Tab) -> list[str]:
    """All texts that the page shows, from the first row to the last."""
    tab.page.bring_to_front()  # a browser draws those behind others rarely
    found: list[str] = tab.page.evaluate(COLLECT)
    return found


def ended(tab: Tab) -> None:
    """Wait for the end of the run."""
    tab.page.wait_for_selector(".verdict", timeout=400_000)


def test_a_run_grows_on_the_page_and_ends_there(home: Home, opened: Open) -> None:
    server = home.serve()
    run = live(home, 150, 200)
    tab = opened(server, f"/runs/{run}")
    late = opened(server, f"/runs/{run}", beside=tab)
    for each in (tab, late):
        ended(each)
    expected = texts(home, run)
    assert len(expected) == 150
    assert shown(tab) == expected
    assert shown(late) == expected
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
    server = home.serve()
    run = live(home, 200, 100)
    tab = opened(server, f"/runs/{run}")
    tab.see(".k-text")
    server.kill()
    tab.see(".live.off")
    home.serve()
    tab.until("!document.querySelector('.live.off')")
    other = opened(server, f"/runs/{run}", beside=tab)
    other.page.reload()
    for each in (tab, other):
        ended(each)
    assert shown(tab) == texts(home, run)
    assert shown(other) == texts(home, run)


@pytest.mark.soak
def test_ten_tabs_twenty_kills_and_a_minute_without_network(home: Home, opened: Open) -> None:
    server = home.serve()
    run = live(home, 4_000, 12)
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
    expected = texts(home, run)
    for tab in tabs[1:]:
        assert shown(tab) == expected


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
