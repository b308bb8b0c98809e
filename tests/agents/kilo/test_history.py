"""What Kilo CLI keeps on disk, and what of it counts."""

from pathlib import Path

import pytest

from nightrook.adapter.history import Call, Session
from nightrook.agents.kilo.history import HISTORY
from tests.agents.histories import place_of, tokens
from tests.agents.stores import answer, findings, step, store_of, unpacked

SUMS = {"calls": 2, "input": 400, "output": 68, "cache_read": 2000, "reasoning": 14}
"""Of two answers of the scripted model, of 1200 tokens with 1000 cached, and 34 with 7 thoughts."""


@pytest.mark.parametrize("case", ["shell_ok", "two_turn_resume"])
def test_a_store_has_what_the_model_reported(case: str, tmp_path: Path) -> None:
    found = findings(HISTORY, unpacked("kilo", case, tmp_path))
    assert tokens(found) == SUMS
    calls = [call for call in found if isinstance(call, Call)]
    assert {(call.model, call.cost_usd, call.subagent) for call in calls} == {
        ("fake-model", 0.000368, None)
    }


def test_a_session_has_its_facts(tmp_path: Path) -> None:
    found = findings(HISTORY, unpacked("kilo", "shell_ok", tmp_path))
    assert found[0] == Session(
        id="ses_e1c99f10affe8J2x1rAcsG76Io",
        at=1794816550.702,
        project="/home/dev/cap/w/others/work/kilo/shell_ok",
        title="New session - 2026-11-16T08:07:58.973Z",
    )


def test_the_cost_of_a_subagent_in_the_message_that_called_it_does_not_count(
    tmp_path: Path,
) -> None:
    store = store_of(
        tmp_path / "kilo.db",
        ("parent", "m1", answer(cost=0.001104), [step(cost=0.000368)]),
        ("parent", "m2", answer(cost=0.001104), []),
        ("child", "m3", answer(cost=0.000736), [step(cost=0.000736)]),
    )
    calls = [call for call in findings(HISTORY, store) if isinstance(call, Call)]
    assert sorted((call.session, call.cost_usd) for call in calls if call.cost_usd) == [
        ("child", 0.000736),
        ("parent", 0.000368),
    ]
    assert len(calls) == 3


def test_only_its_database_is_read() -> None:
    assert place_of(HISTORY, ".local/share/kilo/kilo.db") is not None
    assert place_of(HISTORY, ".local/share/kilo/kilo.db-wal") is None
