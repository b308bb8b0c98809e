"""Hostile texts in every field that an agent controls, on every view and in the HTML file.

The fields are those of the events and of the files of runs, loops and batches, found by walking
their structs: a field that is added later is covered by itself.
"""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nightrook.loops.plan import LoopPlan
from nightrook.loops.state import LoopState
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.model.facts import Facts
from nightrook.store import batch_folder, decisions
from nightrook.store.batch_folder import BatchResult
from nightrook.store.run_folder import create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo
from tests.store.samples import append
from tests.web.browser.harness import Home, Open, Tab
from tests.web.browser.mirror.filled import filled, lines, requests
from tests.web.browser.mirror.installed import ask, install
from tests.web.test_search import write_session

ATTACK = (
    "'\"><img src=//elsewhere.test/1 onerror=alert(1)><script>alert(2)</script> "
    "[a](javascript:alert(3)) ![b](//elsewhere.test/4) {{7*7}} \u202e"
)
RUN = "naughty"


def test_every_field_is_shown_as_text(home: Home, opened: Open) -> None:
    _fill(home, [ATTACK] * 2)
    tab = _unfolded(home, opened)
    shown = tab.page.evaluate(_UNFOLD_ALL)
    assert shown.count("<script>alert(2)</script>") > 30
    _visit_all(tab, ATTACK)


@pytest.mark.soak
def test_every_view_shows_the_whole_list_as_text(
    home: Home, opened: Open, strings: list[str]
) -> None:
    _fill(home, strings)
    tab = _unfolded(home, opened)
    shown = tab.page.evaluate(_UNFOLD_ALL)
    missing = [text for text in strings if _squeezed(text)[:15] not in shown]
    assert len(missing) < len(strings) / 10, missing  # Markdown takes some marks away
    _visit_all(tab, strings[0])


def test_the_file_of_a_run_shows_every_field_as_text(
    home: Home, browser: Any, tmp_path: Path
) -> None:
    _file_is_harmless(home, browser, tmp_path, [ATTACK] * 2)


@pytest.mark.soak
def test_the_file_of_a_run_shows_the_whole_list_as_text(
    home: Home, browser: Any, strings: list[str], tmp_path: Path
) -> None:
    _file_is_harmless(home, browser, tmp_path, strings)


@pytest.fixture
def strings(root: Path) -> list[str]:
    """The Big List of Naughty Strings, as npm delivers it."""
    path = root / "node_modules" / "big-list-of-naughty-strings" / "blns.json"
    if not path.exists():
        pytest.fail("big-list-of-naughty-strings is not installed: run  make web")
    found: list[str] = [text for text in json.loads(path.read_text()) if text.strip()]
    return found


def _unfolded(home: Home, opened: Open) -> Tab:
    tab = opened(home.serve(), f"/runs/{RUN}")
    tab.page.add_init_script(_REPORTS)
    tab.page.reload()
    tab.see(".timeline article:not(.loading)")
    tab.page.set_default_timeout(900_000)
    return tab


def _visit_all(tab: Tab, text: str) -> None:
    for route, sign in {
        f"/runs/{RUN}": ".timeline article:not(.loading)",
        "/runs/strange-agent": ".problem, .empty",
        "/questions": ".question",
        "/": ".ask-row",
        **{f"/cost?by={by}&since=": ".costs td" for by in ("day", "project", "model", "agent")},
        "/loops": ".loops .group",
        "/search?words=deploy&since=": ".found mark",
    }.items():
        tab.page.goto("about:blank")
        tab.open(route).see(sign)
        tab.page.evaluate(_OPEN_DETAILS)
        words = tab.page.evaluate(_SCROLL)
        pieces = (_squeezed(text)[:20], _squeezed(text).rpartition("/")[2])  # of a path, its end
        assert route.endswith(_WITHOUT_TEXTS) or any(piece in words for piece in pieces), route
        _is_harmless(tab)


def _fill(home: Home, texts: list[str]) -> None:
    """Put each text into every field of a run, and some into those of everything else."""
    install(home)
    few = texts[:: max(1, len(texts) // 50)]
    _run(home, few[0], 0, [line for n, text in enumerate(texts) for line in lines(text, n)])
    for number, text in enumerate(few):
        _run(home, text, number + 1, lines(text, number))
        _loop(home, text, number)
        _batch(home, text, number)
    create_run(home.runs, filled(RunInfo, few[0], **{**_WHERE, "name": "strange-agent"}))
    half = len(texts) // 2 + 1
    for part in (texts[:half], texts[half:]):
        asked = [line for number, text in enumerate(part) for line in requests(text, number)]
        ask(home, asked[:250], "Do " + few[-1].replace("\0", ""))
    write_session(home.folder, " deploy ".join(texts))


_WHERE = {"format": 1, "started_at": time.time() - 60, "asks_at": None, "fleet": None}
_WITHOUT_TEXTS = ("by=day&since=", "by=agent&since=")  # it shows days and agents that are known
_PROCESSES = ("runner_pid", "runner_ticks", "recorder_pid", "recorder_ticks")


def _run(home: Home, text: str, number: int, log: list[bytes]) -> None:
    """A run that has ended, with a text in every field of its files."""
    name = f"{RUN}-{number}" if number else RUN
    info = {**_WHERE, **dict.fromkeys(_PROCESSES), "name": name, "agent": "mirror"}
    folder = create_run(home.runs, filled(RunInfo, text, number, **info))
    append(folder, "stdout", b"".join(line + b"\n" for line in log))
    append(folder, "stderr", text.encode("utf-8", "replace") + b"\n")
    decided = filled(decisions.Decided, text, number, id=f"{text} {number}")
    decisions.keep(folder, decided)
    known = {"format": 1, "ended_at": time.time(), "log_sizes": {}}
    known |= {"saved_facts": filled(Facts, text, number).flat()}
    folder.write_verdict(filled(VerdictInfo, text, number, **known))


def _loop(home: Home, text: str, number: int) -> None:
    folder = LOOP_FOLDERS.create(home.runs, filled(LoopPlan, text, number, worktree=False))
    folder.save_state(filled(LoopState, text, number))


def _batch(home: Home, text: str, number: int) -> None:
    prompt = text.replace("\0", "") or "x"
    folder = batch_folder.create(home.runs, msgspec.json.encode({"id": text, "prompt": prompt}))
    folder.add_result(filled(BatchResult, text, number, id=text))


def _file_is_harmless(home: Home, browser: Any, tmp_path: Path, texts: list[str]) -> None:
    install(home)
    _run(home, texts[0], 0, [line for n, text in enumerate(texts) for line in lines(text, n)])
    path = tmp_path / "run.html"
    home.rook("show", RUN, "--html", str(path))
    page = browser.new_page()
    faults: list[str] = []

    def asked(dialog: Any) -> None:
        faults.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", asked)
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: faults.append(request.url))
    page.add_init_script(_REPORTS)
    page.goto(path.as_uri())
    page.evaluate(_OPEN_DETAILS)
    assert _squeezed(texts[0])[:20] in page.evaluate(_SCROLL)
    assert page.evaluate("window.reports") == []
    assert faults == [path.as_uri()]
    assert page.evaluate("document.querySelectorAll('script, img, iframe').length") == 0
    page.close()


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_harmless(tab: Tab) -> None:
    count = "document.querySelectorAll('#app :is(script, img, iframe, object, embed)').length"
    assert tab.page.evaluate(count) == 0
    assert tab.page.evaluate("window.reports") == []
    assert tab.faults == []
    assert tab.elsewhere == []


_REPORTS = """
window.reports = [];
addEventListener("securitypolicyviolation", (event) => reports.push(event.violatedDirective));
"""
_FRAMES = """
    const frames = async (count) => {
        for (let times = 0; times < count; times += 1) await new Promise(requestAnimationFrame);
    };
"""
_OPEN_DETAILS = """() => {
    for (const one of document.querySelectorAll("details")) one.open = true;
}"""
_SCROLL = f"""async () => {{
    {_FRAMES}
    const main = document.getElementById("main") ?? document.scrollingElement;
    const seen = () => document.body.textContent.replace(/\\s+/g, "");
    const isWhole = main === document.scrollingElement; // a file has all rows, in sight or not
    let words = isWhole ? seen() : "";
    for (let last = -1; main.scrollTop !== last; await frames(2)) {{
        if (!isWhole) words += seen();
        last = main.scrollTop;
        main.scrollTop += main.clientHeight;
    }}
    return words;
}}"""
_UNFOLD_ALL = f"""async () => {{
    {_FRAMES}
    const main = document.getElementById("main");
    let shown = "";
    for (let last = -1; main.scrollTop !== last; ) {{
        last = main.scrollTop;
        const heads = document.querySelectorAll("article:not(.unfolded) button.head");
        for (const head of heads) head.click();
        await frames(6);
        shown += document.querySelector(".timeline").textContent.replace(/\\s+/g, "");
        main.scrollTop += 600;
        await frames(3);
    }}
    return shown;
}}"""
