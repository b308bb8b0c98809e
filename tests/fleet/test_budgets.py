"""Money that many runs share: reserved once, settled once, never spent twice."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from nightrook.fleet import subjects
from nightrook.fleet.boss import liveness, replicator, submit
from nightrook.fleet.boss.budgets import Budget, Budgets
from nightrook.fleet.boss.fleet_run import Fleet
from nightrook.fleet.boss.settlement import settle, stored_settlement
from nightrook.fleet.boss.submit import NoMoneyError
from nightrook.fleet.connection import ServerAwayError
from nightrook.fleet.messages import Settlement
from nightrook.fleet.nats_server import LocalServer
from nightrook.store.list import newest_first
from tests.fleet.fleets import finished, job, on_fleet


def test_a_reservation_and_a_settlement_happen_once() -> None:
    budget = Budget(limit=1.0).reserve("a/1", 0.6)
    assert budget is not None
    assert budget.reserve("a/1", 0.6) is budget
    assert budget.reserve("b/1", 0.5) is None
    settled = budget.settle("a/1", 0.2, at_least=False)
    assert (settled.spent, settled.reserved, settled.left) == (0.2, 0.0, 0.8)
    assert settled.settle("a/1", 0.3, at_least=False) is settled


def test_what_a_lost_run_spent_is_replaced_by_what_it_really_spent() -> None:
    budget = Budget(limit=1.0).settle("a/1", 0.1, at_least=True)
    assert budget.settle("a/1", 0.4, at_least=False).spent == 0.4


def test_many_askers_cannot_reserve_more_than_there_is(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> tuple[int, float]:
        budgets = Budgets(fleet.connection)
        await budgets.open("b", 5.0)
        won = await asyncio.gather(*(budgets.reserve("b", f"r{n}/1", 1.0) for n in range(12)))
        found = await budgets.read("b")
        assert found is not None
        return sum(won), found.left

    assert on_fleet(server, tmp_path / "home", work) == (5, 0.0)


def test_lost_is_replaced_once_and_nothing_else_is(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> list[str]:
        made = job()
        asked = ["lost", "lost", "incomplete", "success", "lost"]
        told = [
            (await settle(fleet.connection, made, Settlement(status=status))).status  # type: ignore[arg-type]
            for status in asked
        ]
        found = await stored_settlement(fleet.connection, made)
        assert found is not None
        return [*told, found[0].status]

    statuses = on_fleet(server, tmp_path / "home", work)
    assert statuses == ["lost", "lost", "incomplete", "incomplete", "incomplete", "incomplete"]


def test_no_run_gets_a_share_that_is_only_a_rounding_error() -> None:
    budget = Budget(limit=1.0).settle("a/1", 0.7, at_least=False).reserve("b/1", 0.3)
    assert budget is not None
    assert budget.left == 0.0


def test_a_server_that_has_no_budgets_now_is_away(server: LocalServer, tmp_path: Path) -> None:
    async def work(fleet: Fleet) -> None:
        budgets = Budgets(fleet.connection)
        await budgets.open("b", 5.0)
        await fleet.connection.streams.delete_stream(subjects.BUDGETS_STREAM)
        with pytest.raises(ServerAwayError):
            await budgets.read("b")

    on_fleet(server, tmp_path / "home", work)


def test_a_run_that_its_budget_cannot_pay_is_settled_and_holds_nothing_back(
    server: LocalServer, tmp_path: Path
) -> None:
    async def work(fleet: Fleet) -> tuple[int, list[str]]:
        budgets = Budgets(fleet.connection)
        await budgets.open("b", 1.0)
        dear = replace(job(max_cost=2.0), budget="b")
        with pytest.raises(NoMoneyError, match="has not enough left"):
            await submit.submit(fleet.connection, fleet.home, dear)
        folder = next(iter(newest_first(fleet.home)))
        found = await stored_settlement(fleet.connection, replace(dear, run=folder.name))
        budget = await budgets.read("b")
        verdict = folder.verdict()
        assert found is not None
        assert budget is not None
        assert verdict is not None
        return budget.open, [found[0].status, verdict.status]

    outcome = on_fleet(server, tmp_path / "home", work)
    assert outcome == (0, ["not_started", "not_started"])


def test_a_job_that_may_have_been_queued_is_followed_and_its_money_is_freed(
    server: LocalServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise ServerAwayError("the server did not answer")

    monkeypatch.setattr(submit, "_queued", away)
    monkeypatch.setattr(replicator, "UNCLAIMED_S", 1.0)
    monkeypatch.setattr(liveness, "SILENT_S", 0.3)

    async def work(fleet: Fleet) -> tuple[str | None, int]:
        budgets = Budgets(fleet.connection)
        await budgets.open("b", 1.0)
        run = await finished(fleet, replace(job(max_cost=1.0), budget="b"))
        verdict, budget = run.folder.verdict(), await budgets.read("b")
        assert verdict is not None
        assert budget is not None
        return verdict.status, budget.open

    assert on_fleet(server, tmp_path / "home", work) == ("lost", 0)
