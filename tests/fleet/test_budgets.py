"""Money that many runs share: reserved once, settled once, never spent twice."""

import asyncio
from pathlib import Path

from rookery.fleet.boss.budgets import Budget, Budgets
from rookery.fleet.boss.fleet_run import Fleet
from rookery.fleet.boss.settlement import settle, stored_settlement
from rookery.fleet.messages import Settlement
from rookery.fleet.server import LocalServer
from tests.fleet.fleets import job, on_fleet


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
