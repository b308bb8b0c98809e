"""The page in a real browser: what it shows of runs, and that nothing of theirs acts in it."""

from pathlib import Path

import pytest

from tests.web.browser.harness import (
    Home,
    Open,
    call,
    init,
    result,
    returned,
    said,
)
from tests.web.test_search import write_session


def test_a_run_is_shown_with_its_calls_its_failures_and_its_answer(
    home: Home, opened: Open
) -> None:
    name = home.record(
        init(),
        said(1, "I'll run **all** tests."),
        call(2, command="make test"),
        returned(2, "1 failed: test_parse", ok=False),
        result("All `tests` pass."),
    )
    tab = opened(home.serve(), f"/runs/{name}")
    tab.see(".k-tool.bad .why")
    page = tab.page
    assert page.inner_text(".k-tool .title") == "make test"
    assert "test_parse" in page.inner_text(".k-tool .why")
    assert page.inner_text(".k-text strong") == "all"
    assert page.inner_text("section.answer code") == "tests"
    page.click(".k-tool button.head")
    tab.see(".fields dd")
    assert page.inner_text(".fields dd") == "make test"
    assert tab.faults == []


def test_the_token_leaves_the_address_and_survives_a_reload(home: Home, opened: Open) -> None:
    tab = opened(home.serve(), "/cost")
    tab.see(".cost-view")
    assert "token" not in tab.page.url
    tab.page.reload()
    tab.see(".cost-view")
    tab.open("/questions")  # the address that `rook web` prints, pasted into the same tab
    tab.see(".questions")
    assert "token" not in tab.page.url
    assert tab.faults == []


def test_a_browser_without_the_token_learns_how_to_get_it(home: Home, opened: Open) -> None:
    server = home.serve()
    server.token = "wrong"
    tab = opened(server)
    tab.see(".alone")
    assert "rook web" in tab.page.inner_text(".alone")


def test_an_unknown_run_gets_a_sentence(home: Home, opened: Open) -> None:
    tab = opened(home.serve(), "/runs/no-such-run")
    tab.see(".empty [role=alert]")
    assert "no-such-run" in tab.page.inner_text(".empty [role=alert]")


def test_back_and_the_keyboard_move_between_views_and_rows(home: Home, opened: Open) -> None:
    home.record(init(), said(1, "one"), said(2, "two"), call(3, command="ls"), result())
    tab = opened(home.serve())
    tab.see("a.run-row")
    page = tab.page
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    tab.see(".k-tool")
    for _ in range(4):
        page.keyboard.press("j")
    tab.until("document.activeElement.matches('article')")
    page.keyboard.press("?")
    tab.see("[role=dialog]")
    page.keyboard.press("Escape")
    page.keyboard.press("4")
    tab.see(".cost-view")
    page.go_back()
    tab.see(".k-tool")
    page.go_back()
    tab.see("a.run-row")
    assert tab.faults == []


NAUGHTY = (Path(__file__).parent / "naughty.txt").read_text().split("\n%\n")


def test_hostile_text_stays_text_in_every_field(home: Home, opened: Open) -> None:
    messages = [init(model=NAUGHTY[0], cwd=NAUGHTY[1], claude_code_version=NAUGHTY[2])]
    for number, text in enumerate(NAUGHTY):
        messages += [
            said(10 * number + 1, text),
            call(10 * number + 2, name=text[:200], command=text, description=text),
            returned(10 * number + 2, text, ok=number % 2 == 0),
            call(10 * number + 3, name="Edit", file_path=text, old_string=text, new_string="x"),
            returned(10 * number + 3, text),
            {"type": text, "text": text},
        ]
    name = home.record(*messages, result(NAUGHTY[3]))
    asks = {"tool_name": NAUGHTY[0], "input": {"command": NAUGHTY[1], "description": NAUGHTY[7]}}
    home.ask(asks)
    server = home.serve()
    tab = opened(server, f"/runs/{name}")
    tab.see(".k-tool")
    shown = ""
    for _ in range(2 * len(NAUGHTY)):
        shown += tab.page.evaluate(_UNFOLD_AND_SCROLL)
    for text in NAUGHTY[4:]:
        assert text[:20] in shown, "the hostile text was not shown"
    questions = opened(server, "/questions", beside=tab)
    questions.see(".question .subject")
    assert "<iframe src=javascript" in questions.page.inner_text(".question .subject")
    now = opened(server, "/", beside=tab)
    now.see("a.ask-row")
    for each in (tab, questions, now):
        assert (
            each.page.evaluate("document.querySelectorAll('#app :is(script, img, iframe)').length")
            == 0
        )
        assert each.faults == []
        assert each.elsewhere == []


_UNFOLD_AND_SCROLL = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    for (const row of document.querySelectorAll("article:not(.unfolded) button.head")) row.click();
    for (let times = 0; times < 12; times += 1) await frame();
    const { textContent } = document.querySelector(".timeline");
    document.getElementById("main").scrollTop += 500;
    for (let times = 0; times < 6; times += 1) await frame();
    return textContent;
}"""


DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 780}
MARKDOWN = (
    "# A title\n\nSome `code`, a [link](https://example.org)\n\n| a | b |\n|---|---|\n| 1 | 2 |"
)


LOOKS = [
    *({"color_scheme": scheme, "viewport": DESKTOP} for scheme in ("light", "dark")),
    *({"color_scheme": scheme, "viewport": PHONE} for scheme in ("light", "dark")),
]


def test_axe_finds_no_serious_fault(home: Home, opened: Open, root: Path) -> None:
    axe = root / "node_modules" / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.fail("axe-core is not installed: run  make web")
    name = home.record(
        init(),
        said(1, MARKDOWN),
        call(2, command="make test"),
        returned(2, "failed", ok=False),
        result(),
    )
    home.ask({"tool_name": "Bash", "input": {"command": "rm -r build", "description": "clean"}})
    write_session(home.folder, "deploy it")
    server = home.serve()
    views = {
        "/": "a.run-row",
        f"/runs/{name}": ".k-tool",
        "/questions": ".question .primary",
        "/loops": ".loops .empty",
        "/cost": ".tiles",
        "/search?words=deploy": ".found",
        "/runs/none": ".empty",
    }
    found = []
    for look in LOOKS:
        tab = opened(server, bypass_csp=True, **look)
        tab.page.add_script_tag(content=axe.read_text())
        for route, sign in views.items():
            tab.page.evaluate("(route) => { location.hash = route }", route)
            tab.see(sign)
            report = tab.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
            found += [
                (look, route, one["id"], [node["html"][:120] for node in one["nodes"][:3]])
                for one in report["violations"]
                if one["impact"] in ("serious", "critical")
            ]
    assert found == []
