"""The end of a run: how, what it did, and what to do next, for every status."""

from typing import Any

import pytest
from tests.flat_facts import flat_facts

from nightrook.display.console import Paint
from nightrook.display.ending import AboutRun, summary, warnings
from nightrook.model.ending import Ending
from nightrook.model.events import (
    Error,
    Event,
    FileChanged,
    ModelUsage,
    PermissionDenied,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from nightrook.model.facts import Facts, PassedLimit
from nightrook.model.fold import fold
from nightrook.model.limits import LimitKind
from nightrook.model.permissions import PERMIT_ALL, PERMIT_EDITS
from nightrook.model.records import Record
from nightrook.model.status import EXIT_CODES, Outcome
from nightrook.model.verdict import Verdict


def lines(*events: Event, status: Outcome = "success", **more: Any) -> list[str]:
    state = fold(Record(n, float(n), 0, 0, event) for n, event in enumerate(events))
    facts = more.pop("facts", Facts())
    verdict = Verdict(status=status, sentence="because", exit_code=1, facts=facts)
    about = AboutRun(**{"run": "k7f3", **more})
    return summary(Ending.of_run(verdict, started_at=0.0, ended_at=102.0), about, state, Paint())


def busy() -> list[Event]:
    events: list[Event] = [TurnStarted()]
    for n, kind in enumerate(("read", "read", "execute", "edit")):
        events.append(ToolStarted(id=str(n), name="T", kind=kind))  # type: ignore[arg-type]
        events.append(ToolFinished(id=str(n), status="error" if n == 2 else "ok"))
    events += [
        FileChanged(path="a", change="modify", added=5, removed=3),
        FileChanged(path="b", change="add", added=2, removed=0),
        PermissionDenied(tool_id="9", name="Bash", fix="Bash(git push)"),
        TurnFinished(ok=True, turns=9, cost_usd=0.015, cost_semantics="cumulative"),
    ]
    return events


def test_a_success_tells_everything_in_the_words_of_the_design() -> None:
    assert lines(*busy(), resumable=True) == [
        "[rook] success · 1m 42s · 9 turns · 4 tools (1 failed, 1 denied)"
        " · 2 files +7 −3 · $0.0150",
        "[rook] tools: 2 read · 1 execute · 1 edit",
        '[rook] rook show k7f3 · rook run --resume k7f3 "…"',
    ]


def test_the_end_of_a_run_in_a_worktree_says_where_it_is_and_what_to_do() -> None:
    assert lines(worktree="/home/dev/my trees/k7f3", branch="rook/k7f3")[-3:] == [
        "[rook] worktree: '/home/dev/my trees/k7f3' · branch rook/k7f3",
        "[rook] keep its work: commit it there, then  git merge rook/k7f3",
        "[rook] remove it:  git worktree remove '/home/dev/my trees/k7f3'"
        " && git branch -d rook/k7f3",
    ]


RESUME = 'rook run --resume k7f3 "…"'


@pytest.mark.parametrize(
    ("status", "steps"),
    [
        ("failed", ["details: rook show k7f3 --full", f"try again: {RESUME}"]),
        ("incomplete", ["saved output: rook show k7f3", f"continue: {RESUME}"]),
        ("interrupted", ["saved output: rook show k7f3", f"continue: {RESUME}"]),
        (
            "over_budget",
            [f"continue with a higher limit: {RESUME}", "details: rook show k7f3"],
        ),
        (
            "timed_out",
            [f"continue with a higher limit: {RESUME}", "details: rook show k7f3"],
        ),
        ("stuck", [f"continue: {RESUME}", "details: rook show k7f3"]),
        ("limited", [f"continue after the reset: {RESUME}", "details: rook show k7f3"]),
    ],
)
def test_every_bad_end_says_why_and_what_to_do(status: Outcome, steps: list[str]) -> None:
    told = [line.removeprefix("[rook] ") for line in lines(status=status, resumable=True)]
    headline = "because" if status == "interrupted" else f"{status.replace('_', ' ')}: because"
    assert told[:2] == [headline, "1m 42s"]
    assert " · ".join(told[2:]) == " · ".join(steps)


def test_a_limit_that_only_payment_lifts_does_not_name_a_reset() -> None:
    unpaid = Error(kind="quota", message="no credit", needs_payment=True)
    printed = "\n".join(lines(unpaid, status="limited", resumable=True))
    assert f"continue after adding credit: {RESUME}" in printed
    assert "reset" not in printed


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("cost", "--max-cost"),
        ("tokens", "--max-tokens"),
        ("turns", "--max-turns"),
        ("time", "--timeout"),
    ],
)
def test_the_flag_of_the_limit_that_was_passed_is_named(kind: LimitKind, flag: str) -> None:
    facts = flat_facts(passed_limit=PassedLimit(kind=kind, used=2, allowed=1))
    told = lines(status="over_budget", facts=facts, resumable=True)
    assert any(f'rook run --resume k7f3 {flag} … "…"' in line for line in told)


def test_a_run_without_a_known_price_is_continued_unchecked() -> None:
    facts = flat_facts(passed_limit=PassedLimit(kind="cost", allowed=1))
    told = lines(status="over_budget", facts=facts, resumable=True)
    assert any("--max-cost … --max-cost-unchecked" in line for line in told)


def test_a_missing_program_is_installed_or_corrected() -> None:
    missing = flat_facts(missing_program="it")
    assert lines(status="not_started", facts=missing, install="npm install -g it") == [
        "[rook] not started: because",
        "[rook] install it:  npm install -g it · or try rook without it:  rook demo",
    ]
    own = lines(status="not_started", facts=missing, install="npm i", own_agent="mine")
    assert own[1:] == ["[rook] correct its command: [agents.mine] in rook.toml"]


def test_a_run_that_did_not_start_for_another_reason_has_details() -> None:
    told = lines(status="not_started", install="npm install -g it")
    assert told[1:] == ["[rook] details: rook show k7f3"]


def test_a_full_disk_is_not_said_to_have_saved_everything() -> None:
    told = lines(status="incomplete", facts=flat_facts(lost_bytes=1))
    assert told[-1] == "[rook] saved output, not all of it: rook show k7f3"


def test_a_run_without_a_session_is_not_said_to_be_resumable() -> None:
    assert lines(status="failed")[-1] == "[rook] details: rook show k7f3 --full"


@pytest.mark.parametrize("status", EXIT_CODES)
def test_no_status_is_without_a_next_step(status: Outcome) -> None:
    assert "rook " in lines(status=status, install="x")[-1].removeprefix("[rook] ")


def test_a_denial_names_the_rules_that_would_allow_it() -> None:
    told = lines(*busy(), status="denied", resumable=True)
    assert told[1].startswith("[rook] 1m 42s · 9 turns · ")
    assert told[-2:] == [
        "[rook] allow it: rook run --resume k7f3 --allow 'Bash(git push)' \"…\"",
        "[rook] details: rook show k7f3",
    ]


@pytest.mark.parametrize(
    ("fixes", "flags"),
    [
        ([PERMIT_EDITS], "--permission edit"),
        ([PERMIT_ALL, PERMIT_ALL], "--permission all"),
        ([PERMIT_EDITS, "web_fetch"], "--permission edit --allow web_fetch"),
        ([PERMIT_EDITS, PERMIT_ALL, "web_fetch"], "--permission all"),
        (["--permission all; rm x"], "--allow '--permission all; rm x'"),
    ],
)
def test_a_permission_that_would_let_it_pass_is_named_as_it_is_given(
    fixes: list[str], flags: str
) -> None:
    denials = [PermissionDenied(tool_id=str(n), name="x", fix=fix) for n, fix in enumerate(fixes)]
    told = lines(*denials, status="denied", resumable=True)
    assert any(f'allow it: rook run --resume k7f3 {flags} "…"' in line for line in told)


def test_a_denial_that_a_person_made_names_no_rule() -> None:
    denials = [
        PermissionDenied(tool_id="1", name="Bash", fix="Bash(git push)"),
        PermissionDenied(tool_id="2", name="Write", fix="Write(a)"),
    ]
    facts = flat_facts(denied_by_person=("1",))
    shown = "\n".join(lines(*denials, status="denied", resumable=True, facts=facts))
    assert "allow it: rook run --resume k7f3 --allow 'Write(a)'" in shown
    assert "git push" not in shown
    facts = flat_facts(denied_by_person=("1", "2"))
    shown = "\n".join(lines(*denials, status="denied", resumable=True, facts=facts))
    assert "allow it" not in shown
    assert f"continue: {RESUME}" in shown


@pytest.mark.parametrize("status", EXIT_CODES)
def test_what_rook_show_shows_is_not_advised_again(status: Outcome) -> None:
    shown = "\n".join(lines(status=status, resumable=True, shown="lines"))
    assert "rook show k7f3" not in shown.replace("rook show k7f3 --full", "")
    assert ("rook show k7f3 --full" in shown) == (status == "failed")
    assert "rook show" not in "\n".join(lines(status=status, resumable=True, shown="everything"))


def test_a_limit_says_how_long_and_who_could_go_on_now() -> None:
    told = lines(status="limited", resets_in_s=4320.0, resumable=True, other_agent="codex")
    assert told[0] == "[rook] limited: because (in 1h 12m)"
    assert told[-1] == '[rook] or use another agent now: rook run --agent codex "…"'


def test_lines_that_nobody_counted_are_not_told_as_none() -> None:
    change = FileChanged(path="a", change="modify")
    assert lines(change)[0] == "[rook] success · 1m 42s · 1 file"


def test_tokens_are_told_where_nobody_knows_what_they_cost() -> None:
    used = UsageReported(scope="message", semantics="final", input=12_000, output=345)
    assert lines(TurnStarted(), used, TurnFinished(ok=True))[0].endswith(" · 12.3k tokens · $?")
    paid = TurnFinished(ok=True, cost_usd=0.5, cost_semantics="cumulative")
    assert "tokens" not in lines(TurnStarted(), used, paid)[0]


def test_a_resumed_session_tells_what_this_run_spent() -> None:
    spent = (ModelUsage(model="m", cost_usd=0.2),)
    ended = TurnFinished(ok=True, cost_usd=0.5, cost_semantics="cumulative", spent=spent)
    assert lines(ended)[0].endswith(" · $0.5000 ($0.2000 of it in this run)")


def test_warnings_come_before_the_status_and_are_safe() -> None:
    facts = flat_facts(left_behind=("sl\x1b[2Jeep",), lost_bytes=None)
    warned = lines(status="incomplete", facts=facts)
    assert warned[:3] == [
        "[rook] WARNING: the recorder died: output that it had not saved yet is lost",
        "[rook] WARNING: ended 1 process that the agent left running: sl␛[2Jeep",
        "[rook] incomplete: because",
    ]
    assert warned[-1] == "[rook] saved output, maybe not all of it: rook show k7f3"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(), []),
        (
            flat_facts(
                stopped_for="interrupted", stopped_by="SIGHUP", signal=15, finished=True, ok=True
            ),
            [
                "interrupted: the terminal was closed after the agent had finished;"
                " the agent was killed by SIGTERM"
            ],
        ),
        (
            flat_facts(stopped_for="timed_out", agent_exit_code=1, finished=True, ok=True),
            ["reached the time limit after the agent had finished; the agent exited with code 1"],
        ),
        (flat_facts(stopped_for="interrupted"), []),
        (
            flat_facts(agent_exit_code=1, finished=True, ok=True),
            ["the agent exited with code 1 after its good result"],
        ),
        (flat_facts(agent_exit_code=143, finished=True, ok=True, stopped_for="finished"), []),
        (
            flat_facts(lost_bytes=None),
            ["the recorder died: output that it had not saved yet is lost"],
        ),
        (flat_facts(lost_bytes=7), ["the disk was full: 7 bytes of output were lost"]),
        (
            flat_facts(left_behind=("sleep",)),
            ["ended 1 process that the agent left running: sleep"],
        ),
        (
            flat_facts(left_behind=("a", "a", "b", "c", "d", "e", "f")),
            ["ended 7 processes that the agent left running: a, b, c, d, e and 1 more"],
        ),
        (flat_facts(passed_limit=PassedLimit(kind="cost")), ["over budget: done, but late"]),
        (flat_facts(unsaved="no"), ["the verdict could not be saved: no"]),
    ],
)
def test_what_a_person_should_know_beside_the_status(facts: Facts, expected: list[str]) -> None:
    verdict = Verdict(status="success", sentence="done, but late", exit_code=0, facts=facts)
    assert warnings(Ending.of_run(verdict)) == expected
