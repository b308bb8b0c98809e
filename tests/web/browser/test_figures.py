"""What a long run costs the page: nodes, memory, time, frames."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.browser.harness import (
    Home,
    Open,
    Server,
    call,
    init,
    percentile,
    result,
    returned,
    said,
)


@pytest.mark.soak
def test_fifty_thousand_events_cost_the_page_no_more_than_a_screen(
    home: Home, opened: Open
) -> None:
    big, none = home.record(*_events(50_000)), home.record(*_events(0))
    server = home.serve()
    opened(server, f"/runs/{big}").see(".k-tool")  # the server has read it
    empty = _measured(opened, server, none)
    full = _measured(opened, server, big)
    limits = {
        "nodes": empty["nodes"] + 200,
        "heap": empty["heap"] + 40e6,
        "first": 1.5 * empty["first"],
        "all": 3 * empty["first"],
        "frames": 4.0,
    }
    over = [name for name, limit in limits.items() if full[name] > limit]
    assert over == [], {"empty": empty, "full": full}


def _events(count: int) -> Iterator[dict[str, Any]]:
    yield init()
    for number in range(0, count, 5):
        yield said(number, f"Step {number}: reading the next part.")
        yield call(number + 1, command=f"make test-{number}")
        yield returned(number + 1, "ok\n" * 20, ok=number % 40 != 0)
        yield call(number + 2, name="Read", file_path=f"/work/project/file-{number}.py")
        yield returned(number + 2, "x = 1\n" * 20)
    yield result()


def _measured(opened: Open, server: Server, run: str) -> dict[str, float]:
    """The best of five openings: until the first rows, until the last row, nodes, heap, frames."""
    rounds = []
    for _ in range(5):
        tab = opened(server, "/")
        tab.see(".now")
        tab.page.goto("about:blank")
        tab.page.goto(server.address(f"/runs/{run}"))
        tab.see("article.row:not(.loading)")
        first = tab.page.evaluate(_FIRST)
        jump = tab.page.evaluate(_JUMP)
        frames = sorted(tab.page.evaluate(_SCROLL))
        tab.page.evaluate("() => gc()")
        rounds.append(
            {
                "first": first,
                "all": first + jump,
                "nodes": tab.page.evaluate("() => document.querySelectorAll('*').length"),
                "heap": tab.page.evaluate("() => performance.memory.usedJSHeapSize"),
                "frames": percentile(frames or [0.0], 0.95),
            }
        )
        tab.page.close()
    return {name: min(one[name] for one in rounds) for name in rounds[0]}


_FIRST = """() => performance.getEntriesByName("first-rows")[0]?.startTime"""
_DRAWN = """
    const main = document.getElementById("main");
    const frame = () => new Promise(requestAnimationFrame);
    const isDrawn = () => {  // the screen is full of rows, and something stands in each
        const { top, bottom } = main.getBoundingClientRect();
        const rows = [...document.querySelectorAll(".timeline article")].filter((row) => {
            const place = row.getBoundingClientRect();
            return place.bottom > top + 60 && place.top < bottom;
        });
        return rows.length > 8 && !rows.some((row) => row.matches(".loading"));
    };
"""
_JUMP = f"""async () => {{
    {_DRAWN}
    const start = performance.now();
    const isShort = main.scrollHeight <= main.clientHeight;
    do {{ main.scrollTop = main.scrollHeight; await frame(); await frame(); }}
    while (!isShort && !isDrawn());
    return performance.now() - start;
}}"""
_SCROLL = f"""async () => {{
    {_DRAWN}
    const counts = [];
    const isShort = main.scrollHeight <= 2 * main.clientHeight;
    for (let round = 0; round < 40 && !isShort; round += 1) {{
        main.scrollTop = ((round * 7919) % 97) / 100 * main.scrollHeight;
        let frames = 0;
        do {{ await frame(); frames += 1; }} while (!isDrawn());
        counts.push(frames);
    }}
    return counts;
}}"""
