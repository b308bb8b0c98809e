"""Loops of the real Claude Code and Codex against scripted models on loopback.

Nothing is pretended but the models, and that waits for a limit are short: `rook loop` is called as
a user calls it, the agents edit files, and the checks are run.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nightrook.testing import Answer, Failure, Reply, ScriptedMessagesApi, ScriptedResponsesApi
from tests.conformance import test_claude, test_codex
from tests.conformance.bench import Bench, Outcome

QUICK = """
from nightrook.cli.main import main
from nightrook.loops import retries

retries.MARGIN_S, retries.LEAST_WAIT_S = 0.0, 1.0
main()
"""
"""rook, but for the minute that it waits at least for a limit, and the minute it adds."""

CHECK = "cat done.txt || { echo the file is missing; exit 3; }"
COST = {"input_tokens": 10_000, "output_tokens": 1_000}
LIMITED_S = 3


class Agent(NamedTuple):
    """An agent, and how its model makes it do what a loop meets."""

    name: str
    bench: Callable[[Path], Bench]
    edit: tuple[str, Any]
    limit: Callable[[], Failure]
    overload: Failure
    flags: tuple[str, ...] = ()


def _claude(folder: Path) -> Bench:
    def prepare(home: Path, url: str) -> Mapping[str, str]:
        told = dict(test_claude.prepare(home, url))
        del told["ANTHROPIC_API_KEY"]  # only of a subscription Claude tells when its limit ends
        return {**told, "CLAUDE_CODE_OAUTH_TOKEN": "made-up", "CLAUDE_CODE_MAX_RETRIES": "1"}

    quick = (sys.executable, "-c", QUICK)
    return Bench(folder, test_claude.CLAUDE, ScriptedMessagesApi, prepare, command=quick)


def _claude_limit() -> Failure:
    unified = "anthropic-ratelimit-unified"
    return Failure(
        429,
        headers={
            f"{unified}-status": "rejected",
            f"{unified}-reset": str(int(time.time()) + LIMITED_S),
            f"{unified}-representative-claim": "five_hour",
        },
    )


def _codex(folder: Path) -> Bench:
    quick = (sys.executable, "-c", QUICK)
    bench = Bench(folder, test_codex.CODEX, ScriptedResponsesApi, test_codex.prepare, command=quick)
    subprocess.run(["git", "init", "-q", str(bench.project)], check=True)
    return bench


CODEX = Agent(
    name="codex",
    bench=_codex,
    edit=("apply_patch", "*** Begin Patch\n*** Add File: done.txt\n+one\n*** End Patch\n"),
    limit=lambda: Failure(429),
    overload=Failure(503),
    flags=("--model", test_codex.MODEL),  # so that its price is known
)
AGENTS = [
    pytest.param(
        Agent(
            name="claude",
            bench=_claude,
            edit=("Write", {"file_path": "done.txt", "content": "one\n"}),
            limit=_claude_limit,
            overload=Failure(529),
        ),
        id="claude",
        marks=test_claude.pytestmark,
    ),
    pytest.param(CODEX, id="codex", marks=test_codex.pytestmark),
    pytest.param(
        CODEX._replace(flags=(*CODEX.flags, "--via", "app-server")),
        id="codex-app-server",
        marks=test_codex.pytestmark,
    ),
]


class Model:
    """Gives one answer after the other, and keeps what it was asked."""

    def __init__(self, *answers: Answer | Callable[[], Answer]) -> None:
        self._answers = iter(answers)
        self.asked: list[str] = []

    def __call__(self, request: dict[str, Any]) -> Answer:
        self.asked.append(json.dumps(request))
        answer = next(self._answers)
        return answer if isinstance(answer, Answer) else answer()


def said(text: str) -> Reply:
    return Reply(text=text, usage=COST)


def edited(agent: Agent, bench: Bench) -> Reply:
    name, input = agent.edit
    if isinstance(input, dict):
        input = {**input, "file_path": str(bench.project / input["file_path"])}
    return Reply(tools=[(name, input)], usage=COST)


def looped(bench: Bench, agent: Agent, model: Model) -> tuple[Outcome, list[dict[str, Any]]]:
    """Loop until the check passes; give the outcome and the events."""
    words = ("--agent", agent.name, "--permission", "all", "--check", CHECK, *agent.flags)
    done = bench.rook(model, "loop", "Write done.txt", *words, "--format", "jsonl")
    return done, [json.loads(line) for line in done.out.splitlines()]


def of(events: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == kind]


@pytest.mark.parametrize("agent", AGENTS)
def test_two_failed_checks_a_limit_and_a_success(agent: Agent, tmp_path: Path) -> None:
    bench = agent.bench(tmp_path)
    model = Model(
        said("I looked."),
        said("I looked again."),
        agent.limit,
        edited(agent, bench),
        said("I wrote it."),
    )
    done, events = looped(bench, agent, model)
    assert done.code == 0, done.out + done.err
    assert (bench.project / "done.txt").read_text() == "one\n"
    assert len(model.asked) == 5

    # Four runs, of which the limited one is no iteration.
    begun, ended = of(events, "iteration_started"), of(events, "iteration_finished")
    assert [(event["attempt"], event["iteration"]) for event in begun] == [
        (1, 1),
        (2, 2),
        (3, 3),
        (4, 3),
    ]
    assert [event["status"] for event in ended] == ["success", "success", "limited", "success"]
    assert [(event["ok"], event["exit_code"]) for event in of(events, "check_finished")] == [
        (False, 3),  # before the first iteration
        (False, 3),
        (False, 3),
        (True, 0),
    ]
    assert [(event["step"], event["rule"]) for event in of(events, "decision")] == [
        ("continue", "go_on"),
        ("continue", "go_on"),
        ("wait", "limits"),
        ("finish", "completion"),
    ]

    # The limit is waited out, and what the check said is told to the run behind it, too.
    (wait,) = of(events, "waiting")
    assert begun[3]["at"] >= wait["until"]
    assert len(of(events, "resumed")) == 1
    fed = ["the file is missing" in asked for asked in model.asked]
    assert fed == [False, True, True, True, True]

    # What the agent inside did is told in between, and the sum is that of the runs.
    assert len(of(events, "session_stats")) >= 3
    assert of(events, "tool_started")[-1]["iteration"] == 3
    (over,) = of(events, "loop_finished")
    assert events[-1] == over
    assert (over["end"], over["exit_code"], over["iterations"]) == ("done", 0, 3)
    told = [event.get("spent_usd", 0.0) for event in ended]
    assert [spent > 0 for spent in told] == [True, True, False, True]
    assert over["spent_usd"] == pytest.approx(sum(told))
    kept = [json.loads(line) for line in bench.rook([], "runs", "--json").out.splitlines()]
    assert {run["name"] for run in kept} == {event["run"] for event in ended}

    shown = bench.rook([], "show", over["loop"])
    rows = [line.split()[:2] for line in shown.out.splitlines() if line[:1] in "123–"]
    assert rows[:4] == [["1", "not"], ["2", "not"], ["–", "limited"], ["3", "success"]]


@pytest.mark.parametrize("agent", AGENTS)
def test_an_overloaded_provider_is_waited_out_and_is_no_iteration(
    agent: Agent, tmp_path: Path
) -> None:
    bench = agent.bench(tmp_path)
    overloaded = [agent.overload] * (2 if agent.name == "claude" else 1)  # it tries once more
    model = Model(*overloaded, edited(agent, bench), said("I wrote it."))
    done, events = looped(bench, agent, model)
    assert done.code == 0, done.out + done.err
    ended = of(events, "iteration_finished")
    assert [(event["iteration"], event["status"]) for event in ended] == [
        (1, "failed"),
        (1, "success"),
    ]
    decided = of(events, "decision")
    assert [(event["step"], event["rule"]) for event in decided] == [
        ("wait", "transient"),
        ("finish", "completion"),
    ]
    assert decided[0]["reason"].startswith("overload: ")
    assert decided[0]["until"] - decided[0]["at"] < 2.1
    (over,) = of(events, "loop_finished")
    assert (over["end"], over["iterations"]) == ("done", 1)
