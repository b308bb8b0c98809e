"""Answering agents from the page: each question once, and only after all of it was in sight."""

import json
import os
import pty
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.runs.asking.asking_agent import command
from tests.warm import ROOK
from tests.web.browser.harness import PATIENCE_S, Home, Open, Tab

PRIMARY = ".question:not(.over) .primary:not(:disabled)"


def decisions(home: Home, run: str, count: int) -> list[dict[str, Any]]:
    """The decisions of a run, once there are so many."""
    path = home.runs / "runs" / run / "decisions.jsonl"
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        lines = path.read_text().splitlines() if path.exists() else []
        if len(lines) >= count:
            return [json.loads(line) for line in lines]
    raise AssertionError(f"there are not {count} decisions")


def button(tab: Tab, label: str) -> None:
    """Press a button of the first open question, once it is in sight and may be pressed."""
    tab.until(f"({_IN_SIGHT})({json.dumps(label)})")
    tab.page.locator(".question:not(.over) button", has_text=label).first.click()


_IN_SIGHT = """(label) => {
    const card = document.querySelector(".question:not(.over)");
    card?.scrollIntoView({ block: "end" });
    const buttons = [...(card?.querySelectorAll("button:not(:disabled)") ?? [])];
    return buttons.some((button) => button.textContent.includes(label));
}"""


def test_tools_questions_and_plans_are_answered(home: Home, opened: Open) -> None:
    options = [{"label": "SQLite", "description": "small"}, {"label": "PostgreSQL"}]
    asks = {"question": "Which database?", "header": "DB", "options": options, "multiSelect": False}
    run = home.ask(
        command("rm -r build"),
        command("rm -r dist"),
        {"tool_name": "AskUserQuestion", "input": {"questions": [asks]}},
        {"tool_name": "ExitPlanMode", "input": {"plan": "1. Read\n2. Write"}},
    )
    tab = opened(home.serve(), "/questions")
    button(tab, "Allow once")
    decisions(home, run, 1)
    button(tab, "No, and say why")
    tab.page.locator(".reason textarea").fill("keep it")
    button(tab, "No, for this reason")
    decisions(home, run, 2)
    tab.see(".choices")
    assert tab.page.locator(".question:not(.over) .primary").is_disabled()
    tab.page.locator(".choices label", has_text="PostgreSQL").click()
    button(tab, "Answer")
    decisions(home, run, 3)
    tab.see(".question:not(.over) .subject.plan")
    assert tab.page.inner_text(".question:not(.over) .subject.plan") == "1. Read\n2. Write"
    button(tab, "Yes, continue")
    made = [one["decision"] for one in decisions(home, run, 4)]
    assert [one["allow"] for one in made] == [True, False, True, True]
    assert [one["by"] for one in made] == ["person"] * 4
    assert made[1]["reason"] == "keep it"
    assert made[2]["answers"] == {"Which database?": "PostgreSQL"}
    assert tab.faults == []


def test_always_answers_the_same_call_for_the_rest_of_the_run(home: Home, opened: Open) -> None:
    run = home.ask(command(), command())
    tab = opened(home.serve(), "/questions")
    button(tab, "Always in this run")
    made = decisions(home, run, 2)
    assert [one["decision"]["by"] for one in made] == ["person", "rule"]


def test_of_two_browsers_one_answers_and_the_other_learns_it(home: Home, opened: Open) -> None:
    run = home.ask(command())
    server = home.serve()
    tabs = [opened(server, "/questions"), opened(server, "/questions")]
    for tab in tabs:
        tab.see(PRIMARY)
        assert tab.page.title().startswith("(1) ")
    for tab in tabs:  # both at once: neither waits for what the other does
        tab.page.evaluate(f"() => {{ document.querySelector('{PRIMARY}')?.click() }}")
    for tab in tabs:
        tab.see(".question.over .outcome")
        tab.until("!document.title.startsWith('(')")
    assert len(decisions(home, run, 1)) == 1


def test_a_long_command_is_decided_after_its_end_was_in_sight(home: Home, opened: Open) -> None:
    long = "\n".join(f"echo {number}" for number in range(200)) + "\nrm -rf ~"
    run = home.ask(command(long))
    tab = opened(home.serve(), "/questions")
    tab.see(".question .hint")
    page = tab.page
    allow = page.locator(".question .primary")
    # The end at once: what is between was not in sight.
    page.evaluate("() => { const main = document.getElementById('main'); main.scrollTop = 1e6 }")
    tab.until(
        "document.querySelector('.subject.rest:last-of-type')?.getBoundingClientRect().top < 700"
    )
    page.evaluate("() => { document.querySelector('.question .primary').click() }")
    assert allow.is_disabled()
    page.evaluate("() => { document.getElementById('main').scrollTop = 0 }")
    page.evaluate(_SCROLL_SLOWLY)
    tab.see(PRIMARY)
    allow.click()
    assert decisions(home, run, 1)[0]["decision"]["allow"] is True


_SCROLL_SLOWLY = """async () => {
    const main = document.getElementById("main");
    const frame = () => new Promise(requestAnimationFrame);
    for (let last = -1; main.scrollTop !== last; await frame(), await frame(), await frame()) {
        last = main.scrollTop;
        main.scrollTop += 150;
    }
}"""


def test_a_question_that_times_out_leaves_the_page(home: Home, opened: Open) -> None:
    run = home.ask(command(), ask_timeout="12s")
    tab = opened(home.serve(), "/questions")
    tab.see(".question .until")
    tab.see(".question.over .outcome")
    [made] = decisions(home, run, 1)
    assert (made["decision"]["allow"], made["decision"]["by"]) == (False, "timeout")
    assert tab.faults == []


def test_a_terminal_and_a_browser_at_once_decide_once(home: Home, opened: Open) -> None:
    run = home.ask(command())
    tab = opened(home.serve(), "/questions")
    tab.see(PRIMARY)
    with terminal(home, "answer", run) as keyboard:
        os.write(keyboard, b"n")
        tab.page.evaluate(f"() => {{ document.querySelector('{PRIMARY}')?.click() }}")
        tab.see(".question.over .outcome")
    [made] = decisions(home, run, 1)
    assert made["decision"]["by"] == "person"
    assert made["decision"]["through"] == ("web" if made["decision"]["allow"] else "terminal")
    assert [fault for fault in tab.faults if "409" not in fault] == []  # it may have come second


@contextmanager
def terminal(home: Home, *words: str) -> Iterator[int]:
    """Start `rook` on a terminal, and yield its keyboard once it asks."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [ROOK, *words],
        cwd=home.project,
        env={**home.environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    try:
        while b"rm -r build" not in shown or b"]" not in shown.rpartition(b"rm -r build")[2]:
            shown += os.read(ours, 65536)
        yield ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)
