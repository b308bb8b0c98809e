"""The ledger has what the stores of real agents report of themselves, to the token."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from nightrook.archive.importer import bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from tests.agents.histories import transcript
from tests.agents.stores import answer, step, store_of, unpacked
from tests.archive.folders import unchanged


class Given(NamedTuple):
    """A recorded store, where its agent keeps it, and how the agent itself adds up its use."""

    agent: str
    case: str
    folder: str
    sums: str


# Reasoning is output; input of Goose has the cache in it.
MESSAGES = """
SELECT sum(tokens_input), sum(tokens_output) + sum(tokens_reasoning), sum(tokens_cache_read),
  sum(tokens_cache_write), cast(round(sum(cost) * 1e9) AS INTEGER) FROM session
"""
ACCUMULATED = """
SELECT sum(accumulated_input_tokens) - sum(accumulated_cache_read_tokens)
  - sum(accumulated_cache_write_tokens), sum(accumulated_output_tokens),
  sum(accumulated_cache_read_tokens), sum(accumulated_cache_write_tokens), 0 FROM sessions
"""
GIVEN = [
    Given("opencode", "text", "opencode", MESSAGES),
    Given("kilo", "shell_ok", "kilo", MESSAGES),
    Given("kilo", "two_turn_resume", "kilo", MESSAGES),
    Given("goose", "shell_ok", "goose/sessions", ACCUMULATED),
]


def of_agent(given: Given, folder: Path) -> tuple[int, ...]:
    """What the agent itself reports; opening the copy changes it."""
    folder.mkdir()
    with closing(sqlite3.connect(unpacked(given.agent, given.case, folder))) as store:
        sums: tuple[int, ...] = store.execute(given.sums).fetchone()
        return sums


def of_ledger(path: Path) -> tuple[int, ...]:
    with Ledger.open(path) as ledger:
        columns = "sum(input), sum(output), sum(cache_read), sum(cache_write), sum(native_nano)"
        sums: tuple[int, ...] = ledger.connection.execute(f"SELECT {columns} FROM sums").fetchone()
        return sums


@pytest.fixture(autouse=True)
def _without_a_moved_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: f"{given.agent} {given.case}")
def test_the_ledger_equals_what_the_agent_reports(given: Given, tmp_path: Path) -> None:
    store = tmp_path / "home" / ".local/share" / given.folder
    store.mkdir(parents=True)
    unpacked(given.agent, given.case, store)
    ledger = tmp_path / "nightrook" / "ledger.db"
    with unchanged(store):
        for _ in range(2):
            report = bring_up_to_date(ledger, [tmp_path / "home"], names=[given.agent])
            assert report.problems == []
    assert of_ledger(ledger) == of_agent(given, tmp_path / "opened")


def test_documents_count_until_the_store_has_their_session(tmp_path: Path) -> None:
    home, ledger = tmp_path / "home", tmp_path / "nightrook" / "ledger.db"
    for path, data in transcript("opencode", "before_1_2").items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_bytes(data)
    bring_up_to_date(ledger, [home], names=["opencode"])
    assert of_ledger(ledger) == (1000, 40, 200, 50, 3_847_500)
    steps = [step(tokens={"input": 600, "output": 20}), step(tokens={"input": 400, "output": 20})]
    message = ("ses_66f0c1d2affeXyZ", "msg_1", answer(1_758_400_002_000), steps)
    store_of(home / ".local/share/opencode/opencode.db", message)
    bring_up_to_date(ledger, [home], names=["opencode"])
    assert of_ledger(ledger) == (1000, 40, 0, 0, 500_000_000)
