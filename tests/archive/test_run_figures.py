"""The runs of rook for the ledger: those that have ended, each read once."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nightrook.archive.ledger.runs import RunFigures
from nightrook.archive.run_figures import read_runs
from nightrook.model.snapshot import TokenCounts
from nightrook.process.demo_player import player_command
from nightrook.store.run_folder import RunFolder, create_run
from nightrook.store.run_formats import RunInfo, VerdictInfo

INFO = RunInfo(
    name="amber-owl",
    agent="claude",
    command=["claude", "-p", "hi"],
    cwd="/app",
    model="opus",
    started_at=1_790_000_000.0,
    loop="calm-loop",
)
VERDICT = VerdictInfo(
    status="success",
    sentence="done",
    exit_code=0,
    ended_at=1_790_000_060.0,
    cost_usd=0.75,
    spent_usd=0.5,
    cost_source="native",
    session="0001",
    model="claude-opus-4-8",
    tokens=TokenCounts(input=10, output=20, cache_read=30),
)


def run(home: Path, verdict: VerdictInfo | None = VERDICT, **changes: Any) -> RunFolder:
    folder = create_run(home, msgspec.structs.replace(INFO, **changes))
    if verdict is not None:
        folder.write_verdict(verdict)
    return folder


def only(home: Path) -> RunFigures:
    reading = read_runs(home, {})
    assert (reading.unfinished, reading.problems) == (0, [])
    (figures,) = reading.runs
    return figures


def test_a_run_has_the_figures_of_its_verdict(tmp_path: Path) -> None:
    run(tmp_path)
    figures = only(tmp_path)
    assert figures == RunFigures(
        name="amber-owl",
        agent="claude",
        session="0001",
        loop="calm-loop",
        model="claude-opus-4-8",
        project="/app",
        started_at=1_790_000_000.0,
        ended_at=1_790_000_060.0,
        native_usd=0.5,
        input=10,
        output=20,
        cache_read=30,
        stamp=figures.stamp,
    )
    assert figures.stamp


@pytest.mark.parametrize(
    ("verdict", "native", "estimated"),
    [
        ({}, 0.5, None),
        ({"cost_source": "estimated"}, None, 0.5),
        ({"spent_usd": None}, 0.75, None),
        ({"spent_usd": None, "cost_usd": None, "cost_source": "unknown"}, None, None),
    ],
)
def test_the_cost_is_native_only_if_the_agent_reported_it(
    verdict: dict[str, Any], native: float | None, estimated: float | None, tmp_path: Path
) -> None:
    run(tmp_path, msgspec.structs.replace(VERDICT, **verdict))
    figures = only(tmp_path)
    assert (figures.native_usd, figures.estimated_usd) == (native, estimated)


def test_the_cost_of_a_resumed_session_is_not_that_of_the_run(tmp_path: Path) -> None:
    run(tmp_path, msgspec.structs.replace(VERDICT, spent_usd=None), continues=True)
    assert only(tmp_path).native_usd is None


def test_a_verdict_without_tokens_and_model_leaves_them_unknown(tmp_path: Path) -> None:
    run(tmp_path, msgspec.structs.replace(VERDICT, tokens=None, model=None))
    figures = only(tmp_path)
    assert (figures.has_tokens, figures.model) == (False, "opus")


def test_a_run_whose_agent_does_not_report_all_counts_at_least_that(tmp_path: Path) -> None:
    run(tmp_path, msgspec.structs.replace(VERDICT, cost_at_least=True))
    assert only(tmp_path).at_least


def test_where_the_writer_of_a_pipe_works_is_unknown(tmp_path: Path) -> None:
    run(tmp_path, piped=True)
    assert only(tmp_path).project is None


def test_a_run_that_is_known_is_not_read_again(tmp_path: Path) -> None:
    folder = run(tmp_path)
    figures = only(tmp_path)
    (folder.path / "run.json").write_text("damaged")
    assert read_runs(tmp_path, {figures.name: figures.stamp}) == ([], 0, [])


def test_a_run_that_got_another_verdict_is_read_again(tmp_path: Path) -> None:
    folder = run(tmp_path)
    known = {figures.name: figures.stamp for figures in [only(tmp_path)]}
    folder.write_verdict(msgspec.structs.replace(VERDICT, spent_usd=0.625))
    assert [figures.native_usd for figures in read_runs(tmp_path, known).runs] == [0.625]


def test_a_run_without_a_verdict_is_left_out(tmp_path: Path) -> None:
    run(tmp_path)
    run(tmp_path, None, name="brisk-jay")
    reading = read_runs(tmp_path, {})
    assert ([figures.name for figures in reading.runs], reading.unfinished) == (["amber-owl"], 1)


@pytest.mark.parametrize("file", ["run.json", "verdict.json"])
def test_a_damaged_run_is_a_problem_and_the_others_are_read(file: str, tmp_path: Path) -> None:
    run(tmp_path)
    damaged = run(tmp_path, name="brisk-jay").path / file
    damaged.write_text("{")
    reading = read_runs(tmp_path, {})
    assert [figures.name for figures in reading.runs] == ["amber-owl"]
    (problem,) = reading.problems
    assert problem.startswith(f"{damaged}: is cut off")


def test_a_run_of_a_later_version_is_a_problem(tmp_path: Path) -> None:
    run(tmp_path, msgspec.structs.replace(VERDICT, format=99))
    assert len(read_runs(tmp_path, {}).problems) == 1


def test_a_run_without_its_options_is_left_out(tmp_path: Path) -> None:
    (run(tmp_path).path / "run.json").unlink()
    assert read_runs(tmp_path, {}) == ([], 0, [])


def test_a_demo_is_left_out_because_it_used_nothing(tmp_path: Path) -> None:
    run(tmp_path, program=list(player_command()))
    other = "/other/site-packages/nightrook/testing/scripted_agent.py"
    run(tmp_path, program=["/other/python3", "-I", "-S", other])
    assert read_runs(tmp_path, {}) == ([], 0, [])
    run(tmp_path, program=["scripted_agent.py"])
    assert len(read_runs(tmp_path, {}).runs) == 1


def test_folders_that_are_not_runs_are_left_out(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "runs" / "Not a run").mkdir()
    os.symlink(tmp_path / "runs" / "amber-owl", tmp_path / "runs" / "linked-owl")
    assert only(tmp_path).name == "amber-owl"


def test_a_home_without_runs_has_none(tmp_path: Path) -> None:
    assert read_runs(tmp_path / "missing", {}) == ([], 0, [])


def test_a_home_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    assert len(read_runs(tmp_path, {}).problems) == 1


def test_nothing_in_the_folder_of_a_run_changes(tmp_path: Path) -> None:
    folder = run(tmp_path).path
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}
    only(tmp_path)
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}
    assert after == before
