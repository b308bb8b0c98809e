"""The real Codex through its app server, run by rook against a scripted model on loopback.

As in test_codex.py: `make test` tells where it is in ROOK_TEST_CODEX.
"""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

import nightrook
from nightrook.model.events import (
    PermissionRequested,
    PlanChanged,
    TextDelta,
    ToolProgress,
    UsageReported,
)
from nightrook.model.questions import Ask, Decision
from nightrook.runs.run import Run
from nightrook.testing import Failure, Reply, ScriptedResponsesApi
from tests.conformance.bench import Bench
from tests.conformance.test_codex import CODEX, MODEL, prepare, shell

pytestmark = pytest.mark.skipif(not CODEX, reason="ROOK_TEST_CODEX is not set")
conformance = pytest.mark.conformance

RUN = ("run", "--agent", "codex", "--via", "app-server")
FREE = (*RUN, "--permission", "all")
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n+two\n*** End Patch\n"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path, CODEX, ScriptedResponsesApi, prepare)
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    return made


def asked(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    script: list[Reply],
    answer: Callable[[Ask], Awaitable[Decision]],
    runs: list[Run],
) -> Run:
    """Run it with permission `ask` and nothing of our environment; put the run into `runs`."""

    async def whole(environment: dict[str, str]) -> None:
        going = nightrook.run(
            "codex",
            "Work on it",
            cwd=bench.project,
            permission="ask",
            on_permission=answer,
            timeout=100,
            home=bench.home / "nightrook",
            env=environment,
        )
        runs.append(going)
        async with going:
            await going.wait()

    with ScriptedResponsesApi(script) as api:
        environment = dict(bench.environment(api.url))
        for name in list(os.environ):
            monkeypatch.delenv(name)
        asyncio.run(whole(environment))
    return runs[0]


def answered(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, script: list[Reply], *, allow: bool
) -> tuple[Run, list[Ask]]:
    """Run it so, and decide the same on everything."""
    asks = []

    async def decide(ask: Ask) -> Decision:
        asks.append(ask)
        return Decision(allow=allow)

    return asked(bench, monkeypatch, script, decide, []), asks


# Part of `make test`.


def test_text(bench: Bench) -> None:
    done = bench.rook([Reply(text="Hello there.")], *RUN, "--json", "Say hello")
    assert done.code == 0, done.err
    assert (done.told["text"], done.told["model"]) == ("Hello there.", MODEL)


def test_in_a_pipe_it_is_priced_and_a_budget_stops_it(bench: Bench) -> None:
    reply = Reply(tools=[shell("sleep 1000")], usage={"input_tokens": 400_000, "output_tokens": 50})
    done = bench.rook([reply] * 3, "run", "--agent", "codex", "--max-cost", "0.5", "Go on")
    assert done.code == 5, done.err
    assert "[rook] over budget: spent $" in done.err
    first = done.out.split("\n")[0]
    assert first.startswith("[rook] Agent command: codex app-server ")


def test_what_it_asks_is_answered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    escalated = shell(
        "echo hi > made.txt", sandbox_permissions="require_escalated", justification="I must."
    )
    script = [
        Reply(tools=[escalated]),
        Reply(tools=[("apply_patch", PATCH)]),
        Reply(text="Done."),
    ]
    run, asks = answered(bench, monkeypatch, script, allow=True)
    assert run.verdict is not None
    assert run.verdict.status == "success", run.verdict
    assert [(ask.name, ask.title) for ask in asks] == [
        ("shell", "echo hi > made.txt"),
        ("apply_patch", str(bench.project / "new.txt")),
    ]
    assert asks[1].detail == ("+one", "+two")
    assert (bench.project / "made.txt").read_text() == "hi\n"
    assert (bench.project / "new.txt").read_text() == "one\ntwo\n"


# Part of `make conformance`.


@conformance
def test_what_is_refused_is_not_done(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [Reply(tools=[("apply_patch", PATCH)]), Reply(text="Then not.")]
    run, asks = answered(bench, monkeypatch, script, allow=False)
    assert run.verdict is not None
    assert run.verdict.status == "denied", run.verdict
    assert len(asks) == 1
    assert not (bench.project / "new.txt").exists()


@conformance
def test_a_run_that_is_stopped_while_it_asks_ends_in_order(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stopped(ask: Ask) -> Decision:
        runs[0].stop()
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")

    runs: list[Run] = []
    script = [Reply(tools=[("apply_patch", PATCH)]), Reply(text="Never.")]
    run = asked(bench, monkeypatch, script, stopped, runs)
    assert run.verdict is not None
    assert run.verdict.status == "interrupted", run.verdict
    assert [result.reason for result in run.state.results] == ["interrupted"]
    assert not (bench.project / "new.txt").exists()


@conformance
def test_everything_is_told_as_it_comes(bench: Bench) -> None:
    slow = shell("for n in 1 2 3; do echo $n; sleep 0.5; done")
    script = [Reply(tools=[slow]), Reply(text="One sentence that comes in several pieces.")]
    done = bench.rook(script, *FREE, "--format", "jsonl", "Work on it")
    assert done.code == 0, done.err
    events = [nightrook.load(line.encode()).event for line in done.out.splitlines()]
    assert any(isinstance(event, ToolProgress) and event.output for event in events)
    assert sum(isinstance(event, TextDelta) for event in events) > 1
    assert sum(isinstance(event, UsageReported) for event in events) == 2
    assert not any(isinstance(event, PermissionRequested) for event in events)


@conformance
def test_the_plan_is_told_as_it_changes(bench: Bench) -> None:
    def plan(first: str, second: str) -> Reply:
        steps = [{"step": "Read it", "status": first}, {"step": "Mend it", "status": second}]
        return Reply(tools=[("update_plan", {"plan": steps})])

    script = [plan("in_progress", "pending"), plan("completed", "in_progress"), Reply(text="Ok.")]
    # Without the setting 0.166.0 does not offer the tool to this model.
    words = ("Plan it", "--", "-c", "tools.update_plan.enabled=true")
    done = bench.rook(script, *FREE, "--format", "jsonl", *words)
    assert done.code == 0, done.err
    events = [nightrook.load(line.encode()).event for line in done.out.splitlines()]
    told = [event.items for event in events if isinstance(event, PlanChanged)]
    assert [[step.status for step in items] for items in told] == [
        ["in_progress", "pending"],
        ["completed", "in_progress"],
    ]


@conformance
def test_an_api_failure_is_a_failure(bench: Bench) -> None:
    done = bench.rook(lambda _: Failure(400, message="scripted"), *RUN, "Go on")
    assert done.code == 1, done.err
    assert done.lines[-1] == "FAILED: scripted"


@conformance
def test_ctrl_c_in_mid_tool(bench: Bench) -> None:
    script = [Reply(tools=[shell("sleep 1000")])] * 3
    done = bench.interrupt(script, *FREE, "Go on", at="shell: ")
    assert done.code == 130, done.err
    assert "[rook] interrupted by Ctrl-C, in the middle of shell: sleep" in done.err


@conformance
def test_a_resumed_run_tells_its_own_share_of_the_tokens(bench: Bench) -> None:
    first = [Reply(text="One.", usage={"input_tokens": 100, "output_tokens": 5})]
    assert bench.rook(first, *RUN, "One.").code == 0
    script = [Reply(text="Two.", usage={"input_tokens": 200, "output_tokens": 7})]
    done = bench.rook(script, *RUN, "--json", "--resume", bench.last_run(), "Two.")
    assert (done.code, done.told["text"]) == (0, "Two."), done.err
    assert (done.told["tokens"]["input"], done.told["tokens"]["output"]) == (200, 7)


@conformance
def test_both_ways_go_on_with_each_other_s_threads(bench: Bench) -> None:
    def tokens(way: str, prompt: str, count: int) -> int | None:
        script = [Reply(text=prompt, usage={"input_tokens": count, "output_tokens": 5})]
        going_on = ("--resume", bench.last_run()) if prompt != "One." else ()
        done = bench.rook(
            script, "run", "--agent", "codex", "--via", way, "--json", *going_on, prompt
        )
        assert (done.code, done.told["text"]) == (0, prompt), done.err
        counted: int | None = done.told["tokens"]["input"]
        return counted

    assert tokens("exec", "One.", 100) == 100
    assert tokens("app-server", "Two.", 200) == 200
    # `exec` tells the thread's sum, and nobody told where it stood.
    assert tokens("exec", "Three.", 400) is None


@conformance
def test_a_thread_that_is_gone_is_a_failure_and_not_a_silence(bench: Bench) -> None:
    assert bench.rook([Reply(text="One.")], *RUN, "One.").code == 0
    for rollout in (bench.home / ".codex" / "sessions").rglob("*.jsonl"):
        rollout.unlink()
    done = bench.rook([], *RUN, "--resume", bench.last_run(), "Two.")
    assert done.code == 1, done.err
    assert "no rollout found" in done.err
