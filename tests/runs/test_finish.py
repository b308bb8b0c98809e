"""The one end: judged, answer and verdict saved, and what could not be saved is reported."""

from pathlib import Path

import pytest

from nightrook import agents
from nightrook.model.events import Event, SessionStarted, TurnFinished, TurnStarted
from nightrook.model.facts import PassedLimit
from nightrook.model.fold import fold
from nightrook.model.records import Record
from nightrook.model.state import RunState
from nightrook.runs.finish import finish, recorded_exit
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import ExitInfo
from tests.flat_facts import flat_facts
from tests.store.samples import INFO, append

ENDED = ExitInfo(started=True, exit_code=0, ended_at=1500.0)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return create_run(tmp_path, INFO)


def done() -> RunState:
    """The state of a run that finished with an answer."""
    answer = TurnFinished(ok=True, text="All done.")
    events: list[Event] = [SessionStarted(session="s"), TurnStarted(), answer]
    return fold(Record(n, None, 0, 0, event) for n, event in enumerate(events))


def test_the_verdict_and_the_answer_are_saved(folder: RunFolder) -> None:
    verdict = finish(folder, ENDED, done(), agent=agents.agent("claude"))
    saved = folder.verdict()
    assert saved is not None
    assert (saved.verdict, saved.ended_at, saved.session) == (verdict, 1500.0, "s")
    assert (verdict.status, verdict.facts.process.agent) == ("success", "claude")
    assert folder.read_output() == "All done."


def test_a_run_that_is_not_saved_is_judged_all_the_same() -> None:
    assert finish(None, ENDED, done()).status == "success"


def test_a_verdict_that_cannot_be_saved_says_why(folder: RunFolder) -> None:
    (folder.path / "verdict.json").symlink_to("/nowhere")
    verdict = finish(folder, ENDED, done())
    assert verdict.status == "success"
    assert "verdict.json" in (verdict.facts.recorder.unsaved or "")


def test_an_answer_that_cannot_be_saved_does_not_cost_the_verdict(folder: RunFolder) -> None:
    (folder.path / "output.md").symlink_to("/nowhere")
    assert "output.md" in (finish(folder, ENDED, done()).facts.recorder.unsaved or "")
    assert folder.verdict() is not None


@pytest.mark.parametrize(
    ("agent", "line", "expected"),
    [
        (
            "codex",
            "\x1b[2m2026-11-18T20:26:42Z\x1b[0m \x1b[31mERROR\x1b[0m "
            "\x1b[2mcodex_core::tools::router\x1b[0m\x1b[2m:\x1b[0m "
            "\x1b[3merror\x1b[0m\x1b[2m=\x1b[0mpatch rejected: no",
            "denied",
        ),
        (
            "goose",
            "\x1b[1m\x1b[31mError\x1b[39m:\x1b[0m Tool approval required in non-interactive mode",
            "denied",
        ),
        ("kimi", "\x1b]0;kimi\x07\x1b[31merror:\x1b[0m failed to run prompt: 429", "failed"),
    ],
)
def test_what_an_agent_writes_on_stderr_is_found_in_every_colour(
    folder: RunFolder, agent: str, line: str, expected: str
) -> None:
    (folder.path / "stderr.raw").write_text(f"before\n{line}\n", encoding="utf-8")
    ended = ENDED if expected == "denied" else ExitInfo(started=True, exit_code=1, ended_at=1500.0)
    state = done() if expected == "denied" else fold([Record(0, None, 0, 0, TurnStarted())])
    assert finish(folder, ended, state, agent=agents.agent(agent)).status == expected


def test_the_first_verdict_stays_unless_it_is_overwritten(folder: RunFolder) -> None:
    finish(folder, ENDED, done())
    late = finish(folder, ENDED, RunState(), overwrite=False)
    assert late.facts.recorder.unsaved == "another process has judged the run"
    saved = folder.verdict()
    assert saved is not None
    assert saved.status == "success"
    assert finish(folder, ENDED, RunState()).facts.recorder.unsaved is None


def test_the_room_that_was_reserved_is_given_back(folder: RunFolder) -> None:
    folder.reserve()
    finish(folder, ENDED, done())
    assert {path.name for path in folder.path.iterdir()} == {
        "run.json",
        "output.md",
        "verdict.json",
    }


def test_what_the_recorder_wrote_are_facts(folder: RunFolder) -> None:
    exit = ExitInfo(
        started=False,
        ended_at=1.0,
        complaint="program 'x' was not found",
        missing_program="x",
        lost_stdout=2,
        lost_stderr=3,
    )
    facts = finish(folder, exit, RunState()).facts
    assert (facts.process.missing_program, facts.recorder.lost_bytes, facts.process.started) == (
        "x",
        5,
        False,
    )


@pytest.mark.parametrize(
    ("recorded", "known", "expected"),
    [
        ("stopped", None, ("interrupted", "rook stop")),
        ("stopped", "interrupted", ("interrupted", None)),
        ("timed_out", "interrupted", ("timed_out", None)),
        ("interrupted", "over_budget", ("over_budget", None)),
        ("finished", None, ("finished", None)),
        (None, None, (None, None)),
    ],
)
def test_the_reason_to_stop_is_the_runners_unless_the_time_was_up(
    recorded: str | None, known: None, expected: tuple[str | None, str | None]
) -> None:
    exit = ExitInfo(started=True, signal=15, stopped_for=recorded, ended_at=1.0)
    facts = finish(None, exit, RunState(), flat_facts(stopped_for=known)).facts
    assert (facts.person.stopped_for, facts.person.stopped_by) == expected


def test_an_exit_code_that_means_a_limit_of_the_agents_own_is_a_fact() -> None:
    exit = ExitInfo(started=True, exit_code=53, ended_at=1.0)
    facts = finish(None, exit, RunState(), agent=agents.agent("qwen")).facts
    assert facts.person.passed_limit == PassedLimit(kind="turns", by="agent")


def test_a_command_without_a_stream_has_its_answer_saved(folder: RunFolder) -> None:
    append(folder, "stdout", b"so\n<response>42</response>\n")
    assert finish(folder, ENDED, None).status == "success"
    assert folder.read_output() == "42"


def test_an_exit_that_was_recorded_is_read(folder: RunFolder) -> None:
    folder.write_exit(ENDED)
    assert recorded_exit(folder, now=2000.0) == ENDED


def test_a_recorder_that_died_leaves_the_last_arrival_as_the_end(folder: RunFolder) -> None:
    append(folder, "arrivals", b"1500.000000 o 0 100\n")
    lost = recorded_exit(folder, now=2000.0)
    assert (lost.stopped_for, lost.ended_at) == ("lost", 1500.0)
    assert folder.exit() == lost
    assert finish(folder, lost, None).status == "incomplete", "an unknown exit code is no success"


def test_a_damaged_exit_is_replaced_only_by_the_runner(folder: RunFolder) -> None:
    (folder.path / "exit.json").write_bytes(b"torn")
    with pytest.raises(Exception, match=r"exit\.json"):
        recorded_exit(folder, now=2000.0, overwrite=False)
    assert recorded_exit(folder, now=2000.0).stopped_for == "lost"
