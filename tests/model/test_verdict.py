"""The truth about the end: the whole table, with no false success and no false failure."""

import json
from itertools import product
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

import nightrook
from nightrook.model.events import (
    Denial,
    Error,
    Event,
    LimitReported,
    PermissionDenied,
    PermissionRequested,
    Replayed,
    SessionStarted,
    StreamClosed,
    TaskFinished,
    TaskStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unreadable,
)
from nightrook.model.facts import NOTHING_KNOWN, Facts, PassedLimit, StopReason
from nightrook.model.fold import fold
from nightrook.model.limits import LimitKind
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.model.status import EXIT_CODES, Outcome
from nightrook.model.stuck_detection import Suspicion
from nightrook.model.verdict import Verdict
from nightrook.model.verdict import judge as judge_whole
from tests.flat_facts import changed_facts, flat_facts
from tests.recorded import ALL, CASES, facts, folded, name_of, results
from tests.rules import each

# Every recorded case is judged in tests/agents/test_verdicts.py.

CONTRADICTED = {
    name
    for status in ("failed", "incomplete")
    for name in facts("claude")["verdicts"][status].split()
}
"""The streams whose other messages contradict a good result, as a person has read them."""


@each("path", ALL, ids=name_of)
def test_the_last_raw_result_and_the_verdict_never_contradict_each_other(path: Path) -> None:
    told = results(path)
    good = bool(told) and told[-1].get("is_error") in (None, False)
    good = good and told[-1].get("subtype") in (None, "success")
    status = judge(folded(path)).status
    assert good or status not in ("success", "denied"), "a false success"
    if good and name_of(path) not in CONTRADICTED:
        assert status in ("success", "denied"), "a false failure"


# FAULTS B1: the exit code is the health of a process, not the outcome of the work.

INIT = {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "2.1.325"}
API_ERROR = {
    "type": "assistant",
    "error": "server_error",
    "message": {
        "id": "0b5e",
        "model": "<synthetic>",
        "content": [{"type": "text", "text": "API Error: 500"}],
    },
}
RESULTS: dict[str, tuple[dict[str, Any] | None, Outcome]] = {
    "good": ({"subtype": "success", "is_error": False, "result": "done"}, "success"),
    "success that is an error": (
        {"subtype": "success", "is_error": True, "result": "API Error: 500"},
        "failed",
    ),
    "error": (
        {"subtype": "error_during_execution", "is_error": True, "errors": ["it broke"]},
        "failed",
    ),
    "none": (None, "incomplete"),
}
EXITS = {
    "exit 0": flat_facts(agent_exit_code=0),
    "exit 1": flat_facts(agent_exit_code=1),
    "exit 143": flat_facts(agent_exit_code=143),
    "SIGKILL": flat_facts(signal=9),
    "nobody knows": Facts(),
}
B1 = list(product(RESULTS, EXITS, (False, True)))


def test_the_truth_table_has_forty_rows() -> None:
    assert len(B1) == 40


@each(("kind", "exit", "error"), B1)
def test_the_result_decides_unless_a_signal_contradicts_it(
    kind: str, exit: str, error: bool
) -> None:
    result, status = RESULTS[kind]
    wire: list[dict[str, Any]] = [INIT]
    wire += [API_ERROR] if error else []
    wire += [{"type": "result", "session_id": "s", **result}] if result else []
    state = fold(nightrook.decode([_lines(wire)]))
    assert bool(state.errors) is error
    killed = exit == "SIGKILL" and status == "success"
    assert judge(state, EXITS[exit]).status == ("incomplete" if killed else status)


@pytest.mark.parametrize("exit", EXITS)
def test_an_error_subtype_that_claims_to_be_no_error_is_one(exit: str) -> None:
    # 1.0.128 and 2.0.76 say so, and exit with 0.
    result = {"type": "result", "subtype": "error_during_execution", "is_error": False}
    state = fold(nightrook.decode([_lines([INIT, result])]))
    assert judge(state, EXITS[exit]).status == "failed"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s02_read_edit_bash-2.1.197", "s11j_fail_after_tool-2.1.325"])
def test_a_stream_cut_at_any_byte_of_its_last_two_lines_is_never_a_success(name: str) -> None:
    wire = next(path for path in CASES if name_of(path) == name).read_bytes()
    begin = wire.rstrip(b"\n").rfind(b"\n", 0, wire.rstrip(b"\n").rfind(b"\n"))
    for end in range(begin, len(wire) - 1):
        state = fold(nightrook.decode([wire[:end]], agent="claude"))
        assert judge(state, flat_facts(agent_exit_code=0)).status == "incomplete"


def _lines(messages: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


# DESIGN §6, row by row.

GOOD = TurnFinished(ok=True, text="done")
BAD = TurnFinished(ok=False, errors=("it broke\nbadly",))
START = SessionStarted(session="s")
BASH = ToolStarted(id="1", name="Bash", kind="execute", title="npm test")
INNER = ToolStarted(id="2", name="Read", kind="read", parent="1")
BASH_DONE, BASH_OPEN = ToolFinished(id="1", status="ok"), ToolFinished(id="1", status="orphaned")
ASKED = PermissionRequested(id="r", tool_id="1", name="Bash")
DENIED = PermissionDenied(tool_id="1", name="Bash")
REJECTED = LimitReported(window="five_hour", status="rejected")


CUT_X, CUT_Y = (TaskFinished(id=name, status="cancelled") for name in "xy")


def closed(*, truncated: bool = False, silent: int = 0) -> StreamClosed:
    return StreamClosed(
        results=0,
        truncated=truncated,
        open_tools=0,
        lines=0,
        blank=0,
        silent=silent,
        unknown_fields=(),
    )


def after(*events: Event) -> RunState:
    return fold(Record(n, None, 0, 0, event) for n, event in enumerate(events))


def one_turn(*events: Event) -> RunState:
    return after(START, TurnStarted(origin="prompt"), *events)


def judge(state: RunState, known: Facts = NOTHING_KNOWN) -> Verdict:
    """Judge, and leave the facts out: they have tests of their own below."""
    return msgspec.structs.replace(judge_whole(state, known), facts=Facts())


def verdict(status: Outcome, sentence: str) -> Verdict:
    return Verdict(status=status, sentence=sentence, exit_code=EXIT_CODES[status])


def test_the_exit_codes_are_those_that_were_promised() -> None:
    assert EXIT_CODES == {
        "success": 0,
        "failed": 1,
        "incomplete": 3,
        "lost": 3,
        "denied": 4,
        "over_budget": 5,
        "limited": 6,
        "stuck": 7,
        "not_started": 9,
        "timed_out": 124,
        "interrupted": 130,
    }
    assert set(EXIT_CODES) == set(get_args(Outcome))


ROWS: list[tuple[RunState, Facts, Verdict]] = [
    (one_turn(GOOD), flat_facts(agent_exit_code=0), verdict("success", "done")),
    (one_turn(GOOD), flat_facts(stopped_for="finished"), verdict("success", "done")),
    (one_turn(GOOD), flat_facts(stopped_for="finished", signal=9), verdict("success", "done")),
    (one_turn(Error(kind="overload"), GOOD), Facts(), verdict("success", "done")),
    (one_turn(REJECTED, GOOD), Facts(), verdict("success", "done")),
    (one_turn(BAD, TurnStarted(), GOOD), Facts(), verdict("success", "done")),
    (
        one_turn(ASKED, ToolFinished(id="1", status="ok"), GOOD),
        Facts(),
        verdict("success", "done"),
    ),
    (
        one_turn(GOOD),
        flat_facts(lost_worker="worker w1"),
        verdict("lost", "worker w1 was not heard of any more"),
    ),
    (one_turn(BAD), flat_facts(agent_exit_code=0), verdict("failed", "it broke")),
    (one_turn(GOOD, TurnStarted(), BAD), Facts(), verdict("failed", "it broke")),
    (
        one_turn(TurnFinished(ok=False, reason="hook_stopped")),
        Facts(),
        verdict("failed", "hook stopped"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="blocked", errors=("no secrets",))),
        Facts(),
        verdict("failed", "no secrets"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="no_structured_output", text="I will not.")),
        Facts(),
        verdict("failed", "no structured output"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="cut", text="This is half of")),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "only a part of the answer arrived"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="paused", errors=("it paused",))),
        Facts(),
        verdict("incomplete", "it paused"),
    ),
    (
        one_turn(TurnFinished(ok=True)),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "the agent ended without an answer"),
    ),
    (
        one_turn(
            Text(id="1", text="I will look."), BASH, BASH_DONE, TurnFinished(ok=True, text=" \n")
        ),
        Facts(),
        verdict("incomplete", "the agent ended without an answer"),
    ),
    (
        one_turn(Text(id="1", text="Done."), TurnFinished(ok=True)),
        Facts(),
        verdict("success", "done"),
    ),
    (
        one_turn(TurnFinished(ok=True, text="", structured=msgspec.Raw(b"{}"))),
        Facts(),
        verdict("success", "done"),
    ),
    (
        one_turn(TurnFinished(ok=True, text="", reason="local_command")),
        Facts(),
        verdict("success", "done"),
    ),
    (
        one_turn(DENIED, TurnFinished(ok=True)),
        Facts(),
        verdict("denied", "1 tool call was not permitted"),
    ),
    (
        one_turn(DENIED, TurnFinished(ok=True)),
        flat_facts(allow_denials=True),
        verdict("incomplete", "the agent ended without an answer"),
    ),
    (one_turn(TurnFinished(ok=False)), Facts(), verdict("failed", "the agent gave no reason")),
    (
        one_turn(Text(id="t", text="hi")),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "exited with code 0 without a result"),
    ),
    (one_turn(), Facts(), verdict("incomplete", "ended without a result")),
    (
        one_turn(BASH),
        flat_facts(signal=9),
        verdict("incomplete", "was killed by SIGKILL, in the middle of Bash: npm test"),
    ),
    (one_turn(), flat_facts(signal=99), verdict("incomplete", "was killed by signal 99")),
    (
        one_turn(BASH, ToolFinished(id="1", status="orphaned"), closed(truncated=True)),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "the output is cut off, in the middle of Bash: npm test"),
    ),
    (
        one_turn(GOOD, closed(truncated=True)),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "the output is cut off"),
    ),
    (
        one_turn(GOOD, closed(truncated=True)),
        flat_facts(stopped_for="finished"),
        verdict("success", "done"),
    ),
    (
        one_turn(GOOD, TurnStarted(origin="task")),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "exited with code 0 without a result"),
    ),
    (
        one_turn(TaskStarted(id="x"), GOOD, TaskFinished(id="x", status="cancelled")),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "1 background task was cut off when the agent ended"),
    ),
    (
        one_turn(TaskStarted(id="x"), TaskStarted(id="y"), GOOD, CUT_X, CUT_Y),
        flat_facts(stopped_for="finished"),
        verdict("incomplete", "2 background tasks were cut off when the agent ended"),
    ),
    (
        one_turn(DENIED, GOOD),
        flat_facts(agent_exit_code=0),
        verdict("denied", "1 tool call was not permitted"),
    ),
    (
        one_turn(TurnFinished(ok=True, denials=(Denial(tool_id="1"), Denial(tool_id="2")))),
        flat_facts(agent_exit_code=0),
        verdict("denied", "2 tool calls were not permitted"),
    ),
    (one_turn(DENIED, BAD), Facts(), verdict("failed", "it broke")),
    (
        one_turn(BASH),
        flat_facts(stopped_for="over_budget", signal=15),
        verdict("over_budget", "reached the budget, in the middle of Bash: npm test"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="max_turns")),
        flat_facts(agent_exit_code=0),
        verdict("over_budget", "reached the agent's own limit of turns"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="max_budget", errors=("Reached $0.01",))),
        flat_facts(agent_exit_code=1),
        verdict("over_budget", "Reached $0.01"),
    ),
    (one_turn(REJECTED, BAD), Facts(), verdict("limited", "the 5-hour limit is used up")),
    (
        one_turn(LimitReported(window="opus", status="rejected"), BAD),
        Facts(),
        verdict("limited", "the opus limit is used up"),
    ),
    (
        one_turn(LimitReported(status="rejected"), BAD),
        Facts(),
        verdict("limited", "the provider's limit is used up"),
    ),
    (
        one_turn(Error(kind="quota", message="Out of credit\nPay."), BAD),
        flat_facts(agent_exit_code=1),
        verdict("limited", "Out of credit"),
    ),
    (
        one_turn(Error(kind="quota"), BAD),
        Facts(),
        verdict("limited", "the provider's limit is used up"),
    ),
    (
        one_turn(Error(kind="rate", message="Too many requests"), BAD),
        Facts(),
        verdict("limited", "Too many requests"),
    ),
    (
        one_turn(Error(kind="rate"), Error(kind="internal"), BAD),
        Facts(),
        verdict("failed", "it broke"),
    ),
    (
        one_turn(Error(kind="auth", message="Out of credit"), BAD),
        Facts(),
        verdict("failed", "it broke"),
    ),
    (
        one_turn(GOOD, TurnStarted(), REJECTED),
        flat_facts(signal=15),
        verdict("limited", "the 5-hour limit is used up"),
    ),
    (
        one_turn(GOOD),
        flat_facts(stopped_for="limited"),
        verdict("limited", "the provider's limit is used up"),
    ),
    (
        one_turn(LimitReported(status="allowed", overage="rejected"), BAD),
        Facts(),
        verdict("failed", "it broke"),
    ),
    (
        one_turn(BASH, ASKED),
        flat_facts(signal=15),
        verdict("stuck", "no answer to the question whether it may use Bash"),
    ),
    (
        one_turn(PermissionRequested()),
        Facts(),
        verdict("stuck", "no answer to the question whether it may use a tool"),
    ),
    (
        one_turn(BASH),
        flat_facts(stopped_for="stuck", signal=15),
        verdict("stuck", "no sign of life, in the middle of Bash: npm test"),
    ),
    (
        one_turn(BASH),
        flat_facts(stopped_for="timed_out", signal=9),
        verdict("timed_out", "reached the time limit, in the middle of Bash: npm test"),
    ),
    (
        one_turn(BASH),
        flat_facts(stopped_for="interrupted", stopped_by="SIGINT", signal=2),
        verdict("interrupted", "interrupted by Ctrl-C, in the middle of Bash: npm test"),
    ),
    (
        one_turn(TurnFinished(ok=False, reason="interrupted", errors=("[diagnostic]",))),
        flat_facts(agent_exit_code=0),
        verdict("interrupted", "interrupted, as the agent reports, while it waited for the model"),
    ),
    (after(closed()), Facts(), verdict("not_started", "the agent ended before its first message")),
    (
        after(closed()),
        flat_facts(agent_exit_code=1),
        verdict("not_started", "the agent exited with code 1 before its first message"),
    ),
    (
        after(closed()),
        flat_facts(signal=6),
        verdict("not_started", "the agent was killed by SIGABRT before its first message"),
    ),
    (
        after(closed()),
        flat_facts(started=False, complaint="error: unknown option '--verbos'"),
        verdict("not_started", "error: unknown option '--verbos'"),
    ),
    (after(), flat_facts(started=False), verdict("not_started", "the agent could not be started")),
    (
        after(),
        flat_facts(started=False, complaint="no program called 'claude' on PATH"),
        verdict("not_started", "no program called 'claude' on PATH"),
    ),
    (
        after(Unreadable(reason="not_json"), closed()),
        flat_facts(agent_exit_code=0),
        verdict("not_started", "the agent wrote text, but no messages, and exited with code 0"),
    ),
    (
        after(Unreadable(reason="not_json", preview=" error: no provider"), closed()),
        flat_facts(agent="goose", agent_exit_code=1),
        verdict(
            "not_started",
            "goose wrote text, but no messages, and exited with code 1: error: no provider",
        ),
    ),
    (
        after(TurnStarted(), closed()),
        flat_facts(agent_exit_code=1, refusals=("it needs approval",), ended_by_refusal=True),
        verdict("denied", "1 tool call was not permitted: it needs approval"),
    ),
    (
        after(TurnStarted(), closed()),
        flat_facts(signal=9, refusals=("it needs approval",), ended_by_refusal=True),
        verdict("incomplete", "was killed by SIGKILL"),
    ),
    (
        after(TurnStarted(), closed()),
        flat_facts(agent_exit_code=1, failure="provider.auth_error: 401 wrong key"),
        verdict("failed", "provider.auth_error: 401 wrong key"),
    ),
    (
        after(TurnStarted(), closed()),
        flat_facts(agent_exit_code=143, failure="a command said so", stopped_for="timed_out"),
        verdict("timed_out", "reached the time limit"),
    ),
    (
        after(TurnStarted(), TurnFinished(ok=True, text="Done."), closed()),
        flat_facts(agent_exit_code=1, failure="a command said so"),
        verdict("success", "done"),
    ),
    (
        one_turn(TurnFinished(ok=True, text="Done.")),
        flat_facts(agent_exit_code=0, broken_answer=True),
        verdict("incomplete", "the answer may be cut off: the model gave no reason for its end"),
    ),
    (
        one_turn(TurnFinished(ok=False, errors=("no more",))),
        flat_facts(agent_exit_code=1, broken_answer=True),
        verdict("failed", "no more"),
    ),
    (
        one_turn(BASH, GOOD),
        flat_facts(agent_exit_code=0),
        verdict("incomplete", "a result was reported, in the middle of Bash: npm test"),
    ),
    (
        one_turn(BASH, BASH_OPEN, GOOD, closed()),
        flat_facts(signal=9),
        verdict(
            "incomplete",
            "a result was reported, in the middle of Bash: npm test; "
            "the agent was killed by SIGKILL",
        ),
    ),
    (
        one_turn(BASH, BASH_OPEN, BAD, TurnStarted(), GOOD, closed()),
        flat_facts(agent_exit_code=0),
        verdict("success", "done"),
    ),
    (
        one_turn(BASH, BAD, TurnStarted(), GOOD, BASH_OPEN, closed()),
        flat_facts(agent_exit_code=0),
        verdict("success", "done"),
    ),
    (
        one_turn(INNER, GOOD, ToolFinished(id="2", status="orphaned", parent="1"), closed()),
        flat_facts(agent_exit_code=0),
        verdict("success", "done"),
    ),
    (
        one_turn(BASH, GOOD),
        flat_facts(stopped_for="interrupted", stopped_by="SIGINT", signal=2),
        verdict("interrupted", "interrupted by Ctrl-C, in the middle of Bash: npm test"),
    ),
    (
        one_turn(GOOD),
        flat_facts(signal=9),
        verdict("incomplete", "a good result was reported, but the agent was killed by SIGKILL"),
    ),
    (
        one_turn(GOOD),
        flat_facts(signal=15, recorder_died=True),
        verdict("success", "done"),
    ),
    (one_turn(BAD), flat_facts(signal=9), verdict("failed", "it broke")),
    (
        one_turn(GOOD),
        flat_facts(agent_exit_code=53, passed_limit=PassedLimit(kind="turns", by="agent")),
        verdict("incomplete", "a good result was reported, but the agent exited with code 53"),
    ),
    (
        after(closed(silent=1)),
        flat_facts(agent_exit_code=1),
        verdict("incomplete", "exited with code 1 without a result"),
    ),
]


@each(("state", "ending", "expected"), ROWS, ids=[f"{v.status}: {v.sentence}" for _, _, v in ROWS])
def test_a_row_of_the_table(state: RunState, ending: Facts, expected: Verdict) -> None:
    assert judge(state, ending) == expected


@pytest.mark.parametrize("reason", ["interrupted", "timed_out", "over_budget", "limited", "stuck"])
def test_what_we_stopped_before_its_first_word_had_started(reason: Any) -> None:
    state = after(closed())
    assert judge(state, flat_facts(stopped_for=reason, signal=15)).status == reason
    assert judge(state, flat_facts(stopped_for="finished", signal=15)).status == "not_started"


def test_the_rows_show_every_status() -> None:
    assert {row[2].status for row in ROWS} == set(get_args(Outcome))


def test_a_run_that_gave_up_at_a_denial_is_denied_whoever_accepts_denials() -> None:
    gave_up = TurnFinished(ok=False, reason="denied", errors=("it stopped at a tool call",))
    state = one_turn(DENIED, gave_up)
    expected = verdict("denied", "it stopped at a tool call")
    assert judge(state) == judge(state, flat_facts(allow_denials=True)) == expected


def test_denials_can_be_accepted() -> None:
    state = one_turn(DENIED, GOOD)
    assert judge(state, flat_facts(allow_denials=True)) == verdict("success", "done")


def test_the_first_status_that_holds_decides_in_the_order_of_the_design() -> None:
    work: list[Event] = [START, TurnStarted(), DENIED]
    bad, good = [*work, BAD], [*work, GOOD]
    unfinished = [*work, BASH]
    asking = [*unfinished, ASKED]
    limited = [*asking, REJECTED]
    peeled: list[tuple[Outcome, RunState, Facts]] = [
        ("not_started", after(*limited), flat_facts(started=False, stopped_for="interrupted")),
        ("interrupted", after(*limited), flat_facts(stopped_for="interrupted", signal=15)),
        ("timed_out", after(*limited), flat_facts(stopped_for="timed_out", signal=15)),
        ("over_budget", after(*limited), flat_facts(stopped_for="over_budget", signal=15)),
        ("limited", after(*limited), flat_facts(stopped_for="stuck", signal=15)),
        ("stuck", after(*asking), flat_facts(signal=15)),
        ("incomplete", after(*unfinished), flat_facts(signal=15)),
        ("incomplete", after(*bad, TaskStarted(id="x"), CUT_X), Facts()),
        ("failed", after(*bad), flat_facts(agent_exit_code=1)),
    ]
    for status, state, ending in peeled:
        assert judge(state, ending).status == status
    assert judge(after(*good), flat_facts(agent_exit_code=1)).status == "denied"
    assert (
        judge(after(*good), flat_facts(agent_exit_code=1, allow_denials=True)).status == "success"
    )


@pytest.mark.parametrize("reason", ["timed_out", "over_budget", "limited", "stuck"])
def test_what_we_stopped_is_not_interrupted_by_the_user(reason: Any) -> None:
    # An agent that is asked to stop by SIGINT writes a result that says `interrupted`.
    state = one_turn(TurnFinished(ok=False, reason="interrupted"))
    assert judge(state, flat_facts(stopped_for=reason, agent_exit_code=0)).status == reason


@pytest.mark.parametrize("reason", ["interrupted", "max_turns", "max_budget"])
def test_how_an_earlier_turn_ended_does_not_excuse_one_without_a_result(reason: str) -> None:
    state = one_turn(TurnFinished(ok=False, reason=reason), TurnStarted())
    assert judge(state, flat_facts(agent_exit_code=0)).status == "incomplete"


def test_a_sentence_is_one_line_however_long_the_reason() -> None:
    command = ToolStarted(id="1", name="Bash", kind="execute", title="cat <<E\n" + "x\n" * 9999)
    for state in (
        one_turn(command),
        one_turn(TurnFinished(ok=False, errors=(" \n", "y" * 9999 + "\nmore"))),
        one_turn(Error(kind="quota", message="z" * 9999), BAD),
    ):
        sentence = judge(state).sentence
        assert "\n" not in sentence
        assert len(sentence) <= 300
        assert sentence.endswith("...")


def test_the_facts_stand_beside_every_status() -> None:
    limit = LimitReported(window="five_hour", status="rejected", resets_at=1000.0)
    denied = PermissionDenied(tool_id="t", name="Bash")
    ended = TurnFinished(ok=False, errors=("no",))
    assert judge_whole(
        one_turn(limit, denied, ended), flat_facts(agent_exit_code=1)
    ).facts == flat_facts(
        agent_exit_code=1,
        heard=True,
        finished=True,
        ok=False,
        message="no",
        results=1,
        denials=1,
        limited=True,
        window="five_hour",
        resets_at=1000.0,
    )
    killed = judge_whole(one_turn(BASH, ASKED), flat_facts(signal=9, stopped_for="timed_out"))
    assert killed.facts == flat_facts(
        signal=9, stopped_for="timed_out", heard=True, open_tool="Bash: npm test", asked="Bash"
    )
    good = judge_whole(one_turn(denied, GOOD), flat_facts(allow_denials=True))
    assert (good.status, good.facts.stream.denials) == ("success", 1)


@pytest.mark.parametrize(
    ("passed", "stopped_for", "sentence"),
    [
        (
            PassedLimit(kind="cost", used=1.2, allowed=1.0),
            "over_budget",
            "spent $1.2000 (limit $1.0000)",
        ),
        (
            PassedLimit(kind="tokens", used=1200, allowed=5),
            "over_budget",
            "used 1200 tokens (limit 5)",
        ),
        (
            PassedLimit(kind="cost", allowed=1.0),
            "over_budget",
            "the price of the model is unknown, so --max-cost cannot hold",
        ),
        (PassedLimit(kind="turns", used=6, allowed=5), "over_budget", "used 6 turns (limit 5)"),
        (PassedLimit(kind="time", allowed=90.0), "timed_out", "reached the time limit of 1m 30s"),
    ],
)
def test_the_limit_that_was_passed_is_a_fact_and_in_the_sentence(
    passed: PassedLimit, stopped_for: StopReason, sentence: str
) -> None:
    told = judge_whole(one_turn(), flat_facts(stopped_for=stopped_for, passed_limit=passed))
    assert (told.status, told.sentence, told.facts.person.passed_limit) == (
        stopped_for,
        sentence,
        passed,
    )


@each("stopped_for", [None, "over_budget", "finished"])
def test_a_limit_that_a_finished_agent_passed_is_a_success_with_a_remark(
    stopped_for: StopReason | None,
) -> None:
    passed = PassedLimit(kind="tokens", used=2, allowed=1)
    facts = flat_facts(passed_limit=passed, agent_exit_code=0, stopped_for=stopped_for)
    sentence = "done, but used 2 tokens (limit 1)"
    assert judge(one_turn(GOOD), facts) == verdict("success", sentence)


@each("end", [flat_facts(agent_exit_code=143), flat_facts(signal=9), Facts()])
def test_an_agent_that_was_stopped_at_a_limit_is_over_budget_though_it_gave_a_result(
    end: Facts,
) -> None:
    passed = PassedLimit(kind="tokens", used=2, allowed=1)
    facts = changed_facts(end, passed_limit=passed, stopped_for="over_budget")
    assert judge(one_turn(GOOD), facts).status == "over_budget"


def test_too_many_requests_at_the_end_are_a_limit() -> None:
    refused = Error(kind="rate", message="Too many requests", retryable=True)
    failed = TurnFinished(ok=False, reason="api_error", errors=("Too many requests",))
    assert judge(one_turn(refused, failed)) == verdict("limited", "Too many requests")
    other = Error(kind="internal", message="Oh", retryable=True)
    assert judge(one_turn(refused, other, failed)).status == "failed"
    assert judge(one_turn(refused, GOOD)).status == "success"


@pytest.mark.parametrize(("reason", "kind"), [("max_turns", "turns"), ("max_budget", "cost")])
def test_a_limit_of_the_agents_own_is_a_fact(reason: str, kind: LimitKind) -> None:
    told = judge_whole(one_turn(TurnFinished(ok=False, reason=reason)))
    assert told.facts.person.passed_limit == PassedLimit(kind=kind, by="agent")
    by_exit_code = flat_facts(agent_exit_code=53, passed_limit=PassedLimit(kind=kind, by="agent"))
    assert judge(one_turn(), by_exit_code).status == "over_budget"
    assert judge(one_turn(GOOD), by_exit_code).status == "incomplete"


def test_the_evidence_of_a_stuck_run_is_a_fact_and_in_the_sentence() -> None:
    why = Suspicion("its processes are stopped", ("no output for 5 s", "processes: 1 (T)"))
    told = judge_whole(one_turn(), flat_facts(stopped_for="stuck", suspicion=why))
    assert told.facts.person.suspicion == why
    assert told.sentence == "its processes are stopped (no output for 5 s, processes: 1 (T))"


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        (None, "interrupted by the program that started it"),
        ("SIGINT", "interrupted by Ctrl-C"),
        ("SIGTERM", "interrupted by SIGTERM"),
        ("SIGHUP", "interrupted: the terminal was closed"),
        ("rook stop", "interrupted by rook stop"),
        ("budget of its batch", "interrupted: the budget of its batch is used up"),
    ],
)
def test_what_interrupted_a_run_is_named(by: str | None, sentence: str) -> None:
    stopped = flat_facts(stopped_for="interrupted", stopped_by=by)
    waiting = verdict("interrupted", f"{sentence}, while it waited for the model")
    assert judge(one_turn(), stopped) == waiting


CUT_SHORT = TurnFinished(ok=False, reason="interrupted")
CANCELLED = ToolFinished(id="1", status="cancelled")


@pytest.mark.parametrize(
    ("state", "point"),
    [
        (one_turn(BASH), ", in the middle of Bash: npm test"),
        (one_turn(BASH, CANCELLED, CUT_SHORT), ", in the middle of Bash: npm test"),
        (
            one_turn(BASH, CANCELLED, Text(id="t", text="So?"), CUT_SHORT),
            ", while it waited for the model",
        ),
        (one_turn(CUT_SHORT), ", while it waited for the model"),
        (
            one_turn(PermissionRequested(id="q", tool_id="1", name="Bash")),
            ", while it asked whether it may use Bash",
        ),
        (after(), ", before claude's first message"),
        (None, ""),
    ],
)
def test_an_interrupted_run_says_at_which_point(state: RunState | None, point: str) -> None:
    stopped = flat_facts(agent="claude", stopped_for="interrupted", stopped_by="SIGINT")
    assert judge_whole(state, stopped).sentence == f"interrupted by Ctrl-C{point}"


def test_a_run_that_was_interrupted_before_its_agent_started_says_by_whom() -> None:
    known = flat_facts(
        agent="claude", started=False, stopped_for="interrupted", stopped_by="SIGTERM"
    )
    assert judge_whole(after(), known).sentence == (
        "interrupted by SIGTERM before claude was started"
    )


def test_calls_that_a_person_denied_are_denied_at_the_prompt() -> None:
    state = one_turn(PermissionDenied(tool_id="1"), PermissionDenied(tool_id="2"), GOOD)
    some, both = flat_facts(denied_by_person=("1", "9")), flat_facts(denied_by_person=("1", "2"))
    assert judge_whole(state, some).sentence == "2 tool calls were not permitted"
    assert judge_whole(state, some).facts.person.denied_by_person == ("1",)
    assert judge_whole(state, both).sentence == "2 tool calls were denied at the prompt"


def test_a_refused_call_counts_as_denied_whatever_the_agent_says() -> None:
    state = one_turn(ToolFinished(id="1", status="error"), GOOD)
    ended = judge_whole(state, flat_facts(refused=("1",), denied_by_person=("1",)))
    assert (ended.status, ended.sentence) == ("denied", "1 tool call was denied at the prompt")
    assert judge_whole(state, flat_facts(refused=("1",))).facts.stream.denials == 1
    denied = one_turn(PermissionDenied(tool_id="1"), GOOD)
    assert judge_whole(denied, flat_facts(refused=("1",))).facts.stream.denials == 1


def test_an_agent_that_says_that_it_cannot_start_has_not_started() -> None:
    failed = TurnFinished(ok=False, reason="not_started", errors=("Run `x login`",))
    ended = judge_whole(one_turn(failed), flat_facts(agent="x", agent_exit_code=0))
    assert (ended.status, ended.sentence) == ("not_started", "Run `x login`")
    silent = TurnFinished(ok=False, reason="not_started")
    assert (
        judge_whole(one_turn(silent), flat_facts(agent="x")).sentence == "x could not start to work"
    )


def test_what_is_repeated_of_an_earlier_turn_is_no_answer() -> None:
    repeated = Replayed(kind="text", text="Done long ago.")
    state = one_turn(repeated, TurnFinished(ok=True))
    assert judge_whole(state).status == "incomplete"
    assert (state.texts, state.tools_started, state.ledger.has_usage) == ([], 0, False)


def test_a_run_whose_recorder_died_has_no_end_that_was_seen() -> None:
    died = flat_facts(recorder_died=True)
    for state in (after(), one_turn(), None):
        assert judge_whole(state, died).status == "incomplete"
    assert judge(one_turn(GOOD), died) == verdict("success", "done")
    stopped = flat_facts(recorder_died=True, stopped_for="interrupted")
    assert judge(one_turn(), stopped).status == "interrupted"


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (flat_facts(agent_exit_code=0), verdict("success", "done")),
        (flat_facts(agent_exit_code=3), verdict("failed", "exited with code 3")),
        (flat_facts(signal=9), verdict("incomplete", "was killed by SIGKILL")),
        (Facts(), verdict("incomplete", "ended without a result")),
        (
            flat_facts(stopped_for="timed_out", signal=15),
            verdict("timed_out", "reached the time limit"),
        ),
        (
            flat_facts(started=False, missing_program="x"),
            verdict("not_started", "program 'x' was not found"),
        ),
    ],
)
def test_a_command_without_a_stream_is_judged_by_its_exit_code(
    known: Facts, expected: Verdict
) -> None:
    assert msgspec.structs.replace(judge_whole(None, known), facts=Facts()) == expected


def test_a_verdict_is_the_same_after_it_was_encoded() -> None:
    suspicion = Suspicion("it is silent", ("no byte",))
    passed = PassedLimit(kind="tokens", used=2, allowed=1)
    whole = judge_whole(one_turn(BASH), flat_facts(suspicion=suspicion, passed_limit=passed))
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Verdict) == whole


@pytest.mark.parametrize("reason", ["interrupted", "timed_out"])
def test_what_was_stopped_after_its_whole_good_result_is_a_success(reason: Any) -> None:
    stopped = flat_facts(stopped_for=reason, stopped_by="SIGINT", signal=2)
    assert judge(one_turn(GOOD), stopped) == verdict("success", "done")
    assert judge(one_turn(), stopped).status == reason
    assert judge(one_turn(TurnFinished(ok=False)), stopped).status == reason
    assert judge(after(TurnStarted(), GOOD, TurnStarted()), stopped).status == reason
    assert judge(one_turn(GOOD, closed(truncated=True)), stopped).status == reason


def test_an_exit_code_after_a_stop_is_no_result() -> None:
    stopped = flat_facts(stopped_for="interrupted", agent_exit_code=0)
    assert judge_whole(None, stopped).status == "interrupted"


@pytest.mark.parametrize(
    "known",
    [
        Facts(),
        flat_facts(stopped_for="interrupted"),
        flat_facts(started=False),
        flat_facts(recorder_died=True),
        flat_facts(agent_exit_code=0),
    ],
)
def test_a_changed_log_has_no_success(known: Facts) -> None:
    changed = changed_facts(known, tampered="stdout.raw has 9 bytes")
    for state in (one_turn(GOOD), one_turn(), None):
        found = judge_whole(state, changed)
        assert (found.status, found.exit_code) == ("incomplete", 3)
        assert found.sentence == "the saved output was changed: stdout.raw has 9 bytes"


def test_a_recorder_that_could_not_start_says_why() -> None:
    dead = flat_facts(recorder_died=True, started=False, complaint="OSError: no space")
    assert judge_whole(after(), dead).status == "not_started"
    assert judge_whole(after(), dead).sentence == "OSError: no space"
    failed = flat_facts(recorder_died=True, complaint="OSError: no space")
    why = "the recorder failed (OSError: no space): ended without a result"
    assert judge_whole(None, failed).sentence == why
