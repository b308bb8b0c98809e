"""Many tasks side by side, with the scripted agent."""

import asyncio
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from nightrook.batches.batch import Batch, refuse_unheld_tasks
from nightrook.batches.queue import find_queue, new_queue
from nightrook.batches.tasks import BatchTask, make_task, read_tasks
from nightrook.loops.events import LoopEvent, ToolStarted
from nightrook.loops.storage import LOOP_FOLDERS
from nightrook.runs.limits import UnheldBudgetError
from nightrook.store.batch_folder import BatchFolder, BatchResult
from nightrook.store.list import newest_first
from nightrook.store.loop_folder import LoopFolder
from tests.loops.playing import calls, install, repository


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def play(
    asked: list[BatchTask], jobs: int = 2, **options: float
) -> tuple[Batch, list[BatchResult]]:
    async def whole() -> tuple[Batch, list[BatchResult]]:
        async with Batch(new_queue(asked), jobs=jobs, **options) as batch:  # type: ignore[arg-type]
            return batch, [result async for result in batch]

    return asyncio.run(whole())


def test_every_task_gets_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    asked = [make_task(prompt=f"task {n}", id=f"t{n}", cwd=str(work)) for n in range(6)]
    batch, results = play(asked, jobs=3)
    assert sorted(result.id for result in results) == [task.id for task in asked]
    assert {(result.ok, result.status, result.answer) for result in results} == {
        (True, "success", "fine")
    }
    assert batch.spent_usd == pytest.approx(sum(result.spent_usd or 0 for result in results))
    assert len({result.run for result in results}) == 6


def test_no_more_than_so_many_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a delay=0.05"], monkeypatch)
    most = 0

    async def whole() -> None:
        nonlocal most
        asked = [make_task(prompt="x", id=str(n), cwd=str(work)) for n in range(6)]
        async with Batch(new_queue(asked), jobs=2) as batch:
            reading = asyncio.ensure_future(_all(batch))
            while not reading.done():
                most = max(most, len(batch.current))
                await asyncio.sleep(0.005)

    asyncio.run(whole())
    assert most == 2


async def _all(batch: Batch) -> list[BatchResult]:
    return [result async for result in batch]


def test_a_task_with_a_goal_is_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)
    _, (result,) = play([make_task(prompt="x", id="1", cwd=str(work), until="DONE")])
    assert (result.ok, result.status, calls(tmp_path)) == (True, "done", 2)
    assert result.loop is not None


def test_each_task_can_have_a_worktree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=DONE write-file=new.txt"], monkeypatch)
    repository(work)
    goals: list[dict[str, Any]] = [{}, {}, {"until": "DONE"}]
    asked = [
        make_task(prompt="x", id=str(n), cwd=str(work), worktree=True, **goal)
        for n, goal in enumerate(goals)
    ]
    _, results = play(asked, jobs=3)
    assert [result.ok for result in results] == [True] * 3
    home, by_id = tmp_path / "home", {result.id: result for result in results}
    places = [home / "worktrees" / (by_id[id].run or "") for id in "01"]
    places.append(home / "loops" / (by_id["2"].loop or "") / "worktree")
    assert [(place / "new.txt").exists() for place in places] == [True] * 3
    assert not (work / "new.txt").exists()


def test_one_that_fails_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    asked = [
        make_task(prompt="x", id="bad", agent="nobody", cwd=str(work)),
        make_task(prompt="x", id="good", cwd=str(work)),
    ]
    _, results = play(asked, jobs=1)
    told = {result.id: (result.ok, result.status) for result in results}
    assert told == {"bad": (False, "not_started"), "good": (True, "success")}


def test_the_budget_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["play=budget delay=0.02"], monkeypatch)
    asked = [make_task(prompt="x", id=str(n), cwd=str(work)) for n in range(10)]
    batch, results = play(asked, jobs=2, max_cost=0.3)
    assert batch.is_over_budget
    assert len(results) < 10
    assert 0.3 < batch.spent_usd < 0.3 + 2 * 0.65


def test_a_resumed_batch_runs_the_tasks_without_a_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "hang-in-tool", "say=b"], monkeypatch)
    asked = [make_task(prompt="x", id=str(n), cwd=str(work)) for n in range(3)]
    queue = new_queue(asked)

    async def cut_short() -> None:
        async with Batch(queue, jobs=1) as batch:
            async for result in batch:
                assert result.id == "0"
                while calls(tmp_path) < 2:
                    await asyncio.sleep(0.01)
                batch.stop()

    asyncio.run(cut_short())
    assert [result.id for result in queue.folder.results()] == ["0"]

    async def go_on() -> list[BatchResult]:
        async with Batch(find_queue(queue.folder.name), jobs=1) as batch:
            return await _all(batch)

    assert [result.id for result in asyncio.run(go_on())] == ["1", "2"]
    assert [result.id for result in find_queue(queue.folder.name).folder.results()] == [
        "0",
        "1",
        "2",
    ]
    assert len(list(newest_first(tmp_path / "home"))) == 4


def spent_in(home: Path) -> float:
    verdicts = [folder.verdict() for folder in list(newest_first(home))]
    return sum(verdict.spent_usd or 0.0 for verdict in verdicts if verdict is not None)


def go_on(name: str) -> tuple[Batch, list[BatchResult]]:
    queue = find_queue(name)

    async def whole() -> tuple[Batch, list[BatchResult]]:
        async with Batch(queue, jobs=1, before=queue.folder.results()) as batch:
            return batch, await _all(batch)

    return asyncio.run(whole())


def test_a_result_includes_what_earlier_runs_of_the_task_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "play=budget delay=0.02", "say=b"], monkeypatch)
    queue = new_queue([make_task(prompt="x", id=str(n), cwd=str(work)) for n in range(3)])

    async def cut_short() -> None:
        async with Batch(queue, jobs=1) as batch:
            while batch.spent_usd < 0.1:
                await asyncio.sleep(0.005)

    asyncio.run(cut_short())
    _, results = go_on(queue.folder.name)
    assert [(result.id, result.ok) for result in results] == [("1", True), ("2", True)]
    assert (results[0].spent_usd or 0.0) > 0.05 > (results[1].spent_usd or 0.0)
    batch, none = go_on(queue.folder.name)
    assert none == []
    assert batch.spent_usd == pytest.approx(spent_in(tmp_path / "home"))
    assert batch.cost_source == "estimated"  # what the first run of task 1 did not live to tell


def test_a_run_whose_result_was_not_written_is_not_paid_for_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    queue = new_queue([make_task(prompt="x", id="1", cwd=str(work))])
    _, (first,) = go_on(queue.folder.name)
    (queue.folder.path / "results.jsonl").unlink()  # as if we were killed before it was written
    _, (second,) = go_on(queue.folder.name)
    assert calls(tmp_path) == 1
    assert (second.run, second.ok, second.answer) == (first.run, True, "fine")
    assert second.spent_usd == first.spent_usd


def test_a_loop_that_was_interrupted_with_its_batch_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=no", "hang-in-tool", "say=DONE"], monkeypatch)
    task = make_task(prompt="x", id="1", cwd=str(work), until="DONE")
    queue = new_queue([task])

    async def cut_short() -> None:
        async with Batch(queue, jobs=1):
            while calls(tmp_path) < 2:
                await asyncio.sleep(0.01)

    asyncio.run(cut_short())
    _, (result,) = go_on(queue.folder.name)
    assert (result.status, calls(tmp_path)) == ("done", 3)
    assert len(LOOP_FOLDERS.all(tmp_path / "home")) == 1
    assert result.spent_usd == pytest.approx(spent_in(tmp_path / "home"))
    (queue.folder.path / "results.jsonl").unlink()
    _, (again,) = go_on(queue.folder.name)
    assert (again.status, again.spent_usd, calls(tmp_path)) == ("done", result.spent_usd, 3)


@pytest.mark.parametrize("goal", [{}, {"until": "Done."}])
def test_without_money_no_task_starts(
    goal: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    (task,) = read_tasks(lines({"prompt": "x", "cwd": str(work), **goal}), "f")
    batch, results = play([task], max_cost=0.0)
    assert (results, batch.is_over_budget, batch.spent_usd) == ([], True, 0.0)
    assert calls(tmp_path) == 0


def test_what_interrupted_runs_spent_counts_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=budget delay=0.02"], monkeypatch)
    asked = [make_task(prompt="x", id=str(n), cwd=str(work)) for n in range(4)]
    queue = new_queue(asked)

    async def whole(jobs: int, max_cost: float | None) -> tuple[Batch, list[BatchResult]]:
        again = find_queue(queue.folder.name)
        async with Batch(
            again, jobs=jobs, max_cost=max_cost, before=again.folder.results()
        ) as batch:
            while max_cost is None and batch.spent_usd < 0.3:
                await asyncio.sleep(0.005)
            if max_cost is None:
                batch.stop()
            return batch, await _all(batch)

    asyncio.run(whole(4, None))
    begun = calls(tmp_path)
    batch, results = asyncio.run(whole(1, 0.25))
    assert (results, batch.is_over_budget, calls(tmp_path)) == ([], True, begun)
    assert batch.spent_usd == pytest.approx(spent_in(tmp_path / "home"))


def test_a_task_that_our_budget_ended_stays_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["play=budget delay=0.02"], monkeypatch)
    asked = [
        make_task(prompt="x", id="run", cwd=str(work)),
        make_task(prompt="x", id="loop", cwd=str(work), until="never"),
    ]
    queue = new_queue(asked)

    async def whole() -> Batch:
        async with Batch(queue, jobs=2, max_cost=0.2) as batch:
            assert await _all(batch) == []
        return batch

    batch = asyncio.run(whole())
    assert batch.is_over_budget
    assert batch.spent_usd == pytest.approx(spent_in(tmp_path / "home"))
    assert [job.task.id for job in find_queue(queue.folder.name).remaining()] == ["run", "loop"]


def test_an_unknown_cost_is_not_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    said = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "a"}]}}
    result = {"type": "result", "subtype": "success", "is_error": False, "result": "a"}
    stream = tmp_path / "stream.jsonl"
    stream.write_bytes(lines({"type": "system", "subtype": "init"}, said, result))
    (tmp_path / "mute").write_text(f"#!/bin/sh\nexec /bin/cat {stream}\n")
    (tmp_path / "mute").chmod(0o755)
    mute = (str(tmp_path / "mute"),)
    asked = [
        make_task(prompt="x", id="run", cwd=str(work), program=mute),
        make_task(prompt="x", id="loop", cwd=str(work), program=mute, until="a"),
        make_task(prompt="x", id="bad", cwd=str(work), agent="nobody"),
    ]
    batch, results = play(asked)
    told = {each.id: (each.status, each.spent_usd, each.cost_source) for each in results}
    assert told["run"] == ("success", None, "unknown")
    assert told["loop"] == ("done", None, "unknown")
    assert told["bad"][0] == "not_started"
    assert batch.unknown_costs == 2


def test_a_damaged_folder_of_another_run_does_not_stop_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    play([make_task(prompt="x", id="1", cwd=str(work), until="fine")])
    (one,) = list(newest_first(tmp_path / "home"))
    (one.path / "run.json").write_text("{")
    (loop,) = LOOP_FOLDERS.all(tmp_path / "home")
    (loop.path / "plan.json").write_text("{")
    _, (result,) = play([make_task(prompt="x", id="1", cwd=str(work))])
    assert result.ok


def test_a_missing_working_folder_ends_one_task_and_not_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    gone = str(tmp_path / "gone")
    asked = [
        make_task(prompt="x", id="run", cwd=gone),
        make_task(prompt="x", id="loop", cwd=gone, check="true", until="DONE"),
        make_task(prompt="x", id="fine", cwd=str(work)),
    ]
    _, results = play(asked, jobs=1)
    assert {result.id: result.ok for result in results} == {
        "run": False,
        "loop": False,
        "fine": True,
    }


def test_a_full_disk_ends_one_task_and_not_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    asked = [make_task(prompt="x", id=id, cwd=str(work), until="DONE") for id in ("a", "b")]
    write, full = LoopFolder.add_event, iter([True])

    def add_event(folder: LoopFolder[Any, Any, Any], event: LoopEvent) -> None:
        if isinstance(event, ToolStarted) and next(full, False):
            folder._event_log = os.open("/dev/full", os.O_WRONLY)
        write(folder, event)

    monkeypatch.setattr(LoopFolder, "add_event", add_event)
    _, results = play(asked, jobs=1)
    assert [(result.id, result.ok) for result in results] == [("a", False), ("b", True)]
    assert "No space left on device" in results[0].sentence


def test_a_result_that_cannot_be_saved_is_reported_and_the_batch_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=DONE"], monkeypatch)
    asked = [make_task(prompt="x", id=id, cwd=str(work)) for id in ("a", "b")]

    def add_result(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(BatchFolder, "add_result", add_result)
    _, results = play(asked, jobs=1)
    assert [result.ok for result in results] == [True, True]
    assert all("not saved: " in result.sentence for result in results)


@pytest.mark.parametrize(
    ("task", "refused"),
    [
        ({"agent": "claude"}, False),
        ({"agent": "amp"}, True),
        ({"agent": "amp", "max_cost_unchecked": True}, False),
        ({"agent": "amp", "until": "DONE"}, True),
        ({"agent": "nobody"}, False),  # its result reports that
    ],
)
def test_a_budget_is_refused_that_cannot_hold_for_a_task(
    task: dict[str, Any], refused: bool
) -> None:
    asked = [make_task(prompt="x", id="1"), make_task(prompt="x", id="2", **task)]
    expected = pytest.raises(UnheldBudgetError, match="task 2: --max-cost cannot hold")
    with expected if refused else nullcontext():
        refuse_unheld_tasks(asked, 5.0)


@pytest.mark.parametrize("goal", [{}, {"until": "DONE"}])
def test_a_task_of_unknown_cost_does_not_start_under_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goal: dict[str, Any]
) -> None:
    work = install(tmp_path, ["say=no"], monkeypatch)
    task = make_task(prompt="x", id="1", agent="amp", cwd=str(work), **goal)
    _, (result,) = play([task], max_cost=5.0, needs_cost=True)
    assert (result.status, result.ok) == ("not_started", False)
    assert "--max-cost cannot hold" in result.sentence
