"""Many tasks side by side, with the scripted agent."""

import asyncio
import json
from pathlib import Path

import pytest

from rookery.core.errors import RookeryError
from rookery.folder import runs
from rookery.loop import tasks
from rookery.loop.batch import Batch
from rookery.loop.tasks import BatchResult, BatchTask, read_tasks
from tests.loop.playing import calls, install


def lines(*objects: object) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in objects)


def play(
    asked: list[BatchTask], jobs: int = 2, **options: float
) -> tuple[Batch, list[BatchResult]]:
    async def whole() -> tuple[Batch, list[BatchResult]]:
        async with Batch(tasks.create(asked), jobs=jobs, **options) as batch:  # type: ignore[arg-type]
            return batch, [result async for result in batch]

    return asyncio.run(whole())


def test_every_task_gets_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=fine"], monkeypatch)
    asked = [BatchTask(prompt=f"task {n}", id=f"t{n}", cwd=str(work)) for n in range(6)]
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
        asked = [BatchTask(prompt="x", id=str(n), cwd=str(work)) for n in range(6)]
        async with Batch(tasks.create(asked), jobs=2) as batch:
            reading = asyncio.ensure_future(_all(batch))
            while not reading.done():
                most = max(most, len(batch.working))
                await asyncio.sleep(0.005)

    asyncio.run(whole())
    assert most == 2


async def _all(batch: Batch) -> list[BatchResult]:
    return [result async for result in batch]


def test_a_task_with_a_goal_is_a_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["say=no", "say=DONE"], monkeypatch)
    _, (result,) = play([BatchTask(prompt="x", id="1", cwd=str(work), until="DONE")])
    assert (result.ok, result.status, calls(tmp_path)) == (True, "done", 2)
    assert result.loop is not None


def test_one_that_fails_does_not_hold_up_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a"], monkeypatch)
    asked = [
        BatchTask(prompt="x", id="bad", agent="nobody", cwd=str(work)),
        BatchTask(prompt="x", id="good", cwd=str(work)),
    ]
    _, results = play(asked, jobs=1)
    told = {result.id: (result.ok, result.status) for result in results}
    assert told == {"bad": (False, "not_started"), "good": (True, "success")}


def test_the_budget_is_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = install(tmp_path, ["play=budget delay=0.02"], monkeypatch)
    asked = [BatchTask(prompt="x", id=str(n), cwd=str(work)) for n in range(10)]
    batch, results = play(asked, jobs=2, max_cost=0.3)
    assert batch.is_over_budget
    assert len(results) < 10
    assert 0.3 < batch.spent_usd < 0.3 + 2 * 0.65


def test_a_batch_goes_on_with_what_has_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = install(tmp_path, ["say=a", "hang-in-tool", "say=b"], monkeypatch)
    asked = [BatchTask(prompt="x", id=str(n), cwd=str(work)) for n in range(3)]
    folder = tasks.create(asked)

    async def cut_short() -> None:
        async with Batch(folder, jobs=1) as batch:
            async for result in batch:
                assert result.id == "0"
                while calls(tmp_path) < 2:
                    await asyncio.sleep(0.01)
                batch.stop()

    asyncio.run(cut_short())
    assert [result.id for result in folder.results()] == ["0"]

    async def go_on() -> list[BatchResult]:
        async with Batch(tasks.find(folder.name), jobs=1) as batch:
            return await _all(batch)

    assert [result.id for result in asyncio.run(go_on())] == ["1", "2"]
    assert [result.id for result in tasks.find(folder.name).results()] == ["0", "1", "2"]
    assert len(runs.runs(tmp_path / "home")) == 4


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "holds no task"),
        (b"\n\n", "holds no task"),
        (b"{", "line 1"),
        (lines({"prompt": "a"}, {"promt": "b"}), "line 2: .*promt"),
        (lines({"prompt": " "}), "line 1: the prompt is empty"),
        (lines({"prompt": "a", "id": "x"}, {"prompt": "b", "id": "x"}), "the id 'x'"),
        (lines({"prompt": "a", "check": "make"}), "line 1: Expected `array`"),
    ],
)
def test_a_wrong_line_is_named(data: bytes, words: str) -> None:
    with pytest.raises(RookeryError, match=words):
        read_tasks(data, "tasks.jsonl")


def test_a_task_without_a_name_is_called_by_its_line() -> None:
    found = read_tasks(b"\n" + lines({"prompt": "a"}, {"prompt": "b", "id": "mine"}), "f")
    assert [task.id for task in found] == ["2", "mine"]
