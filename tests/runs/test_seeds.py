"""The seeds' own acceptance criteria for running, each under its sentence.

Seed 003 §3 and §5 (output.md) are in tests/store/test_output.py.
"""

import asyncio
import sys
from pathlib import Path

import pytest

import nightrook
from nightrook import agents
from nightrook.adapter.agent import Task
from nightrook.agents.claude.command import invoke, with_output_flags
from nightrook.config.options import RunOptions
from nightrook.model.errors import UnknownAgentError
from nightrook.model.events import (
    Error,
    Event,
    SessionStarted,
    Text,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    Unreadable,
)
from nightrook.model.records import Record
from nightrook.runs.run import Run
from nightrook.runs.start import start_command
from tests.recorded import cases
from tests.runs.scripted import make, play

OTHERS = [name for name in agents.NAMES[1:] if agents.agent(name).programs]
ERRORS_ON_STDERR = ("kimi",)  # its stream has none


async def _all(run: Run) -> list[Record]:
    return [record async for record in run]


# Seed 000 step 3: "Stub Parsers for Other Agents": here nobody's messages are "passed through".
@pytest.mark.parametrize("agent", OTHERS)
def test_seed_000_3_no_agent_has_a_stub_for_a_decoder(agent: str) -> None:
    streams = [[record.event for record in nightrook.decode(wire, agent)] for wire in cases(agent)]
    told = {type(event) for events in streams for event in events}
    beginnings: set[type[Event]] = {SessionStarted, TurnStarted, ToolStarted}
    errors: set[type[Event]] = set() if agent in ERRORS_ON_STDERR else {Error}
    assert told >= beginnings | {Text, ToolFinished, TurnFinished} | errors


# Seed 000 step 5: "Processor integration": bytes in, events out, while it runs.
def test_seed_000_5_a_run_gives_its_events(tmp_path: Path) -> None:
    seen: list[Record] = []

    async def collect(run: Run) -> None:
        seen.extend(await _all(run))

    run = play(tmp_path, "say=hi", collect)
    assert run.stats.events == len(seen)
    assert any(isinstance(record.event, ToolStarted) for record in seen)
    assert any(isinstance(record.event, TurnFinished) for record in seen)


# Seed 000 step 5: "Preserves streaming resilience by skipping malformed lines".
def test_seed_000_5_malformed_json_is_counted_and_gone_past(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi noise")
    assert run.stats.errors > 0
    assert run.exit_code == 0


# Seed 000 step 5: "LastActivity returns when the last event was processed".
def test_seed_000_5_last_activity_is_told(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi")
    info = run.folder.info()
    assert info is not None
    assert run.last_activity is not None
    assert run.last_activity >= info.started_at


# Seed 000 step 5: "Returns nil if agent doesn't support structured output parsing".
def test_seed_000_5_an_unknown_agent_has_no_decoder() -> None:
    assert agents.agent_for("some-other-agent") is None
    with pytest.raises(UnknownAgentError):
        agents.agent("some-other-agent")


# Seed 000 step 6: "Copy args so we don't mutate settings across iterations."
def test_seed_000_6_flags_are_added_without_changing_what_was_given() -> None:
    given = ["claude", "-p", "hi"]
    added = with_output_flags(given)
    assert given == ["claude", "-p", "hi"]
    assert added == with_output_flags(given)
    assert added == ["claude", "--output-format", "stream-json", "--verbose", "-p", "hi"]


# Seed 004 part 1: "Guard on OutputFormat == stream-json": another format falls back to raw.
def test_seed_004_1_another_output_format_is_left_raw() -> None:
    assert with_output_flags(["claude", "-p", "--output-format", "text", "hi"]) is None


# Seed 000 step 6: "No parser available: raw streaming fallback"; "Still stream stderr to user".
def test_seed_000_6_raw_fallback_passes_stdout_and_stderr(tmp_path: Path) -> None:
    async def main() -> tuple[list[str], list[str]]:
        command = [sys.executable, "-c", "import sys; print('o'); print('e', file=sys.stderr)"]
        async with start_command(command, RunOptions(cwd=str(tmp_path), home=str(tmp_path))) as run:
            out = [line async for line in run.lines("stdout")]
            err = [line async for line in run.lines("stderr")]
            assert await _all(run) == []
        return out, err

    assert asyncio.run(main()) == (["o"], ["e"])


# Seed 003 §1: "--output-format stream-json --verbose"; the prompt by standard input.
def test_seed_003_1_the_flags_and_a_long_prompt_by_stdin() -> None:
    short = invoke(Task(prompt="hi"))
    assert short.typed == ("claude", "-p", "--output-format", "stream-json", "--verbose", "hi")
    assert (short.command, short.stdin) == (short.typed[:-1], b"hi")
    long = invoke(Task(prompt="x" * 1_000_000))
    assert long.stdin == b"x" * 1_000_000
    assert max(map(len, long.command)) < 100


# Seed 004 part 1: "events decoded and sent to channel"; "Stdout contains full raw output".
def test_seed_004_1_events_are_forwarded_live_and_stdout_is_kept(tmp_path: Path) -> None:
    async def main() -> tuple[Run, list[Record], list[Record]]:
        async with make(tmp_path, "say=hi") as run:
            live = run.live()
            watched = [record async for record in live]
            assert live.dropped == 0
            return run, watched, await _all(run)

    run, watched, all_of_them = asyncio.run(main())
    assert watched == all_of_them
    assert run.stdout() == (run.folder.path / "stdout.raw").read_bytes() != b""


# Seed 004 part 1: "Full channel (capacity 1): events dropped, subprocess not blocked".
def test_seed_004_1_a_full_viewer_drops_and_counts_and_blocks_nobody(tmp_path: Path) -> None:
    async def main() -> tuple[Run, int]:
        async with make(tmp_path, "say=hi") as run:
            live = run.live(buffer=1)
            await run.wait()
            return run, live.dropped

    run, dropped = asyncio.run(main())
    assert dropped == run.stats.events - 1
    assert run.exit_code == 0


# Seed 004 part 1: "When RunOpts.StreamEvents is nil, behavior is identical".
def test_seed_004_1_without_a_consumer_it_runs_the_same(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi")
    assert run.exit_code == 0
    assert run.stdout()


# Seed 004 part 1: "very large tool result (>64KB line): event decoded successfully".
def test_seed_004_1_a_large_line_is_decoded(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi line=200000")
    assert run.stats.errors == 0
    assert run.exit_code == 0


# Seed 004 part 1: "Context cancellation: goroutine exits cleanly".
def test_seed_004_1_cancelling_ends_the_run(tmp_path: Path) -> None:
    async def main() -> Run:
        run = make(tmp_path, "hang-in-tool sigint-result")

        async def body() -> None:
            async with run:
                async for record in run:
                    if isinstance(record.event, ToolStarted):
                        task.cancel()

        task = asyncio.create_task(body())
        with pytest.raises(asyncio.CancelledError):
            await task
        return run

    run = asyncio.run(main())
    assert run.is_over
    assert run.exit_code == 130


# Seed 004 edge case: "Agent exits with non-zero code mid-stream: partial events delivered".
def test_seed_004_an_exit_in_mid_stream_keeps_the_events_and_the_code(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi no-result exit-code=3")
    exit = run.folder.exit()
    assert exit is not None
    assert exit.exit_code == 3
    assert run.stats.events > 0
    assert run.exit_code == 3


# Seed 004 part 1: "Malformed JSONL lines are ... skipped".
def test_seed_004_1_a_malformed_line_is_an_event_of_its_own(tmp_path: Path) -> None:
    seen: list[Record] = []

    async def collect(run: Run) -> None:
        seen.extend(await _all(run))

    play(tmp_path, "say=hi noise", collect)
    assert any(isinstance(record.event, Unreadable) for record in seen)
    assert any(isinstance(record.event, TurnFinished) for record in seen)


# Seed 004 part 2: "Codex uses a different output format": it gets the flags of its own.
@pytest.mark.parametrize("agent", OTHERS)
def test_seed_004_2_an_agent_gets_the_flags_of_its_own_format(agent: str) -> None:
    known = agents.agent(agent)
    command = known.invoke(Task(prompt="hi")).command
    assert set(known.output_flags) <= set(command)
    assert "--verbose" not in command  # which Claude Code needs
    assert ("--json" in command) == (agent in ("codex", "cline"))  # which call it the same


# Seed 004 part 2, "CodexAgent and GeminiAgent silently ignore StreamEvents": here they do not, but
# whether somebody listens makes no difference to them, and nobody loses an event.
@pytest.mark.parametrize("agent", OTHERS)
def test_seed_004_2_every_agent_s_events_are_told_live(agent: str, tmp_path: Path) -> None:
    wire = next(wire for wire in cases(agent) if b"tool" in wire.read_bytes())
    program = tmp_path / agents.agent(agent).programs[0]
    program.write_text(f"#!/bin/sh\nexec cat {wire}\n")
    program.chmod(0o755)

    async def main(*, listening: bool) -> tuple[list[Event], bytes, int | None]:
        home = tmp_path / f"home-{listening}"
        async with nightrook.run(agent, "hi", cwd=tmp_path, home=home, program=str(program)) as run:
            watched = [record.event async for record in run.live()] if listening else []
            await run.wait()
            return watched, run.stdout(), run.exit_code

    watched, stdout, code = asyncio.run(main(listening=True))
    assert watched == [record.event for record in nightrook.decode(wire, agent)]
    assert stdout == wire.read_bytes()
    assert asyncio.run(main(listening=False)) == ([], stdout, code)
