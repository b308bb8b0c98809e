"""What breaks in practice, played by the scripted agent: the right verdict, and nobody left."""

import asyncio
import hashlib
import os
import signal
import time
from pathlib import Path

import pytest

import nightrook
from nightrook.model.events import ToolStarted, TurnFinished, Unknown, Unreadable
from nightrook.process import trees
from nightrook.runs.run import Run
from tests.runs.scripted import play


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        ("", "success", 0),
        ("no-result", "incomplete", 3),
        ("no-result exit-code=0", "incomplete", 3),
        ("cut-last-line", "incomplete", 3),
        ("error-result exit-code=0", "failed", 1),
        ("exit-code=1", "success", 0),
        ("exit-code=7", "success", 0),
        ("noise", "success", 0),
        ("unknown-types", "success", 0),
        ("bad-flag", "not_started", 9),
        ("not-logged-in", "failed", 1),
        ("read-stdin-first", "success", 0),
        ("stderr-flood=2000000", "success", 0),
        ("line=12000000", "success", 0),
        ("two-results", "success", 0),
        ("background-task=0.5", "success", 0),
        ("limit", "limited", 6),
        ("strange-text", "success", 0),
        ("false-signs", "success", 0),
    ],
)
def test_every_fault_has_the_right_verdict(
    tmp_path: Path, script: str, status: str, code: int
) -> None:
    run = play(tmp_path, f"say=hi {script}")
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == (status, code), run.verdict.sentence
    assert trees.marked(str(run.folder.path)) == []


def test_a_hang_after_the_result_ends_in_grace_and_stays_a_success(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi hang-after-result", grace_s=0.5)
    assert run.exit_code == 0


def test_background_work_after_the_first_result_is_not_killed(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi background-task=1.5", grace_s=0.3)
    assert len(run.state.results) == 2
    assert run.exit_code == 0


def test_a_stopped_agent_is_stuck(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi stop-self", idle_timeout=2.0)
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == ("stuck", 7)
    assert run.verdict.sentence.startswith("its processes are stopped (no output for ")
    assert "processes: 1 (T)" in run.verdict.sentence


def test_a_tool_in_which_nothing_happens_is_stuck_in_the_end(tmp_path: Path) -> None:
    run = play(tmp_path, "hang-in-tool", idle_timeout=4.0, timeout=60.0)
    assert run.verdict is not None
    assert run.verdict.status == "stuck"
    assert " has not finished, and there is no activity" in run.verdict.sentence
    assert "CPU time since then: " in run.verdict.sentence


def test_silence_inside_a_tool_is_not_being_stuck_but_the_deadline_holds(tmp_path: Path) -> None:
    run = play(tmp_path, "hang-in-tool", idle_timeout=1.5, timeout=4.0)
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == ("timed_out", 124)
    assert "in the middle of" in run.verdict.sentence


def test_a_missing_program_is_not_started(tmp_path: Path) -> None:
    async def main() -> Run:
        run: Run = nightrook.run("claude", "x", home=tmp_path, program=str(tmp_path / "none"))
        async with run:
            await run.wait()
        return run

    run = asyncio.run(main())
    assert run.verdict is not None
    assert run.exit_code == 9
    assert run.verdict.facts.process.missing_program == str(tmp_path / "none")


def test_an_interrupt_in_mid_tool_is_interrupted_and_leaves_nobody(tmp_path: Path) -> None:
    async def interrupt(run: Run) -> None:
        async for record in run:
            if isinstance(record.event, ToolStarted):
                run.stop()

    run = play(tmp_path, "hang-in-tool sigint-result", interrupt)
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == ("interrupted", 130)
    assert trees.marked(str(run.folder.path)) == []


def test_a_second_stop_insists(tmp_path: Path) -> None:
    async def insist(run: Run) -> None:
        async for record in run:
            if isinstance(record.event, ToolStarted):
                run.stop()
                run.stop()

    before = time.monotonic()
    run = play(tmp_path, "hang-in-tool ignore-sigterm", insist, grace_s=600)
    assert run.exit_code == 130
    assert time.monotonic() - before < 600  # it did not wait for the grace to pass


COSTLY = "budget no-result hang-after-result"
"""It spends, and then waits until it is stopped."""


def test_a_budget_of_money_stops_it_live(tmp_path: Path) -> None:
    run = play(tmp_path, COSTLY, max_cost=0.05, timeout=60.0)
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == ("over_budget", 5)
    passed = run.verdict.facts.person.passed_limit
    assert passed is not None
    assert (passed.kind, passed.allowed) == ("cost", 0.05)
    assert run.verdict.sentence.startswith(f"spent ${passed.used:.4f} (limit $0.0500)")


def test_a_budget_of_tokens_stops_it_live(tmp_path: Path) -> None:
    assert play(tmp_path, COSTLY, max_tokens=20_000, timeout=60.0).exit_code == 5


def test_a_forking_tree_leaves_nobody(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi forkers=3")
    assert run.exit_code == 0
    assert trees.marked(str(run.folder.path)) == []


def test_a_grandchild_on_the_pipe_cannot_hang_a_run(tmp_path: Path) -> None:
    before = time.monotonic()
    run = play(tmp_path, "say=hi grandchild-holds-pipe=600")
    assert run.exit_code == 0
    assert time.monotonic() - before < 600  # it did not wait for the grandchild to end


def test_a_line_of_12_mb_is_announced_and_the_result_still_seen(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi line=12000000")
    assert run.state.unreadable == 1
    assert len(run.state.results) == 1


def test_iterating_gives_what_decoding_the_log_gives(tmp_path: Path) -> None:
    seen: list[nightrook.Record] = []

    async def collect(run: Run) -> None:
        async for record in run:
            seen.append(record)

    run = play(tmp_path, "say=hi noise unknown-types", collect)
    kept = [r.event for r in nightrook.decode(run.folder.path / "stdout.raw", "claude")]
    assert [record.event for record in seen] == kept
    assert [record.seq for record in seen] == list(range(len(seen)))
    assert any(isinstance(record.event, Unknown) for record in seen)
    assert any(isinstance(record.event, Unreadable) for record in seen)
    assert run.stats.events == len(seen)
    assert run.stats.errors > 0


def test_a_slow_reader_loses_nothing_and_stalls_nobody(tmp_path: Path) -> None:
    ended: list[nightrook.Record] = []

    async def slow(run: Run) -> None:
        await run.wait()  # the agent is long gone when we begin to read
        async for record in run:
            ended.append(record)

    run = play(tmp_path, "say=hi flood=5000000", slow)
    assert len(ended) == run.stats.events
    assert any(isinstance(record.event, TurnFinished) for record in ended)


def test_a_live_view_drops_the_newest_and_counts_them(tmp_path: Path) -> None:
    async def stalled(run: Run) -> None:
        view = run.live(buffer=3)
        await run.wait()
        seen = [record async for record in view]
        assert len(seen) == 3
        assert view.dropped == run.stats.events - 3

    play(tmp_path, "say=hi", stalled)


def test_the_raw_log_is_byte_for_byte_what_was_written(tmp_path: Path) -> None:
    case = (
        Path(__file__).parent.parent / "agents/claude/cases/s02_read_edit_bash-2.1.325/wire.jsonl"
    )
    run = play(tmp_path, f"play={case}")
    assert hashlib.sha256(run.stdout()).digest() == hashlib.sha256(case.read_bytes()).digest()
    assert run.exit_code == 0


def test_the_answer_is_kept_unless_the_agent_wrote_one_itself(tmp_path: Path) -> None:
    assert (play(tmp_path, "say=hi").folder.path / "output.md").read_text().strip() == "hi"
    failed = play(tmp_path, "error-result")
    assert not (failed.folder.path / "output.md").exists()


def test_the_environment_is_ours_less_what_confuses_a_nested_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("KEPT_FOR_TEST", "yes")
    run = play(tmp_path, f"say=hi print-env={tmp_path}/env")
    written = (tmp_path / "env").read_text()
    assert "CLAUDECODE=" not in written
    assert "KEPT_FOR_TEST" in written
    assert str(run.folder.path) in written


def test_a_hostile_prompt_is_only_a_prompt(tmp_path: Path) -> None:
    for prompt in ("$(touch x)", "`touch x`", "; touch x", "--version", "a\nb", "'\"\\", "-"):
        assert play(tmp_path, "say=hi", prompt=prompt).exit_code == 0
    assert not (tmp_path / "x").exists()


def test_a_prompt_of_a_megabyte_arrives(tmp_path: Path) -> None:
    run = play(tmp_path, "say=hi read-stdin-first", prompt="x" * 1_000_000)
    assert run.exit_code == 0
    assert (run.folder.path / "stdin.raw").stat().st_size == 1_000_000


def test_leaving_the_block_early_ends_the_run(tmp_path: Path) -> None:
    async def main() -> Run:
        from tests.runs.scripted import make

        async with make(tmp_path, "hang-in-tool") as run:
            async for record in run:
                if isinstance(record.event, ToolStarted):
                    break
        return run

    run = asyncio.run(main())
    assert run.exit_code == 130
    assert trees.marked(str(run.folder.path)) == []


def test_cancelling_ends_the_run_and_its_tree(tmp_path: Path) -> None:
    names: list[str] = []

    async def main() -> None:
        from tests.runs.scripted import make

        async def body() -> None:
            async with make(tmp_path, "hang-in-tool ignore-sigterm") as run:
                names.append(str(run.folder.path))
                async for _ in run:
                    pass

        task = asyncio.create_task(body())
        while not names:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert trees.marked(names[0]) == []


def test_a_resumed_run_goes_on_with_the_session(tmp_path: Path) -> None:
    first = play(tmp_path, "say=hi")
    second = play(tmp_path, f"say=hi print-call={tmp_path}/call", resume=first.name)
    assert first.state.session is not None
    assert first.state.session in (tmp_path / "call").read_text()
    assert second.exit_code == 0


def test_many_runs_at_once_in_one_process(tmp_path: Path) -> None:
    async def main() -> list[Run]:
        from tests.runs.scripted import make

        async def one() -> Run:
            async with make(tmp_path, "say=hi") as run:
                await run.wait()
            return run

        return await asyncio.gather(*(one() for _ in range(8)))

    runs = asyncio.run(main())
    assert {run.exit_code for run in runs} == {0}
    assert len({run.name for run in runs}) == 8


@pytest.mark.parametrize("torn", [b"", b'{"format": 1, "start'])
def test_a_recorder_that_died_without_a_word_is_incomplete(tmp_path: Path, torn: bytes) -> None:
    async def kill_the_recorder(run: Run) -> None:
        async for record in run:
            if isinstance(record.event, ToolStarted):
                info = run.folder.info()
                assert info is not None
                assert info.recorder_pid is not None
                if torn:
                    (run.folder.path / "exit.json").write_bytes(torn)
                os.kill(info.recorder_pid, signal.SIGKILL)

    run = play(tmp_path, "hang-in-tool", kill_the_recorder)
    assert run.verdict is not None
    assert (run.verdict.status, run.exit_code) == ("incomplete", 3)
    assert trees.marked(str(run.folder.path)) == []


@pytest.mark.parametrize(("accepted", "status"), [(False, "denied"), (True, "success")])
def test_denials_can_be_accepted(tmp_path: Path, accepted: bool, status: str) -> None:
    run = play(tmp_path, "ask-permission", permission="ask", allow_denials=accepted)
    assert run.verdict is not None
    assert (run.verdict.status, run.verdict.facts.stream.denials) == (status, 1)
    info = run.folder.info()
    assert info is not None
    assert info.allow_denials is accepted, "a recovery must judge alike"
