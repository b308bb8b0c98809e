"""A rebuilt ledger gives the same report, also of calls whose files are gone."""

import json
import os
from pathlib import Path
from random import Random

import pytest

from nightrook.archive.importer import bring_up_to_date
from nightrook.archive.ledger.ledger import Ledger
from nightrook.archive.rebuild import rebuild
from tests.archive.homes import AT, Home, message
from tests.archive.ledger.samples import sessions
from tests.archive.traps import (
    goose_sums_of_a_session_repeat_its_ledger,
    opencode_messages_have_the_tokens_of_their_last_step,
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return Home(tmp_path)


def facts(home: Home) -> list[tuple[object, ...]]:
    with Ledger.open(home.ledger) as ledger:
        return sessions(ledger)


def test_a_rebuilt_ledger_gives_the_same_report(home: Home, tmp_path: Path) -> None:
    home.write(message(1) + message(2))
    home.write(message(3, 4) + message(4), "gone")
    home.write(message(5) + message(6), "rewritten")
    home.write(message(3, 9), "copy")
    named = tmp_path / "elsewhere.jsonl"
    named.write_text(message(7))
    home.import_all()
    bring_up_to_date(home.ledger, (), names=("claude",), paths=(named,))
    home.file("gone").unlink()
    home.write(message(5), "rewritten")
    home.import_all()
    before, known = home.report(), facts(home)
    home.file("copy").unlink()
    rebuild(home.ledger, (home.path,))
    assert home.totals() == (7, 39)
    assert (home.report(), facts(home)) == (before, known)
    rebuild(home.ledger, (home.path,))
    home.append(message(8))
    home.import_all()
    assert home.totals() == (8, 44)
    assert [path.name for path in home.ledger.parent.glob("*rebuild*")] == []


def many(*numbers: int) -> str:
    return "".join(map(message, numbers))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (many(*range(10, 30)), many(*range(10, 20), 99, *range(21, 30))),  # far from both ends
        (message(1).rstrip(), message(2).rstrip()),
        (message(1) + message(2).rstrip(), message(1) + message(3).rstrip()),
        (message(1) + message(2).rstrip(), message(1) + message(3)),
        (message(1) + message(2).rstrip(), message(1)),
    ],
)
def test_what_a_file_had_before_it_was_rewritten_stays(home: Home, first: str, second: str) -> None:
    os.utime(home.write(first), (AT, AT))
    home.import_all()
    os.utime(home.write(second), (AT + 9, AT + 9))
    home.import_all()
    before = home.report()
    ids = {json.loads(line)["message"]["id"] for line in (first + "\n" + second).split()}
    assert home.totals() == (len(ids), 5 * len(ids))
    rebuild(home.ledger, (home.path,))
    assert home.report() == before


def test_a_file_that_was_away_is_not_a_rewritten_one(home: Home) -> None:
    os.utime(home.write(message(1)), (AT, AT))
    home.import_all()
    home.file().rename(home.path / "away")
    home.import_all()
    (home.path / "away").rename(home.file())
    home.import_all()
    with Ledger.open(home.ledger) as ledger:
        (source,) = ledger.sources().values()
    assert (source.state, source.rewritten) == ("ok", False)


def test_what_an_earlier_version_read_wrongly_is_read_again(home: Home) -> None:
    home.write(message(1))
    home.import_all()
    with Ledger.open(home.ledger) as ledger:
        ledger.connection.execute("UPDATE calls SET output = 99, key = 0")
    rebuild(home.ledger, (home.path,))
    assert home.totals() == (1, 5)


def test_a_removed_run_stays_in_a_rebuilt_ledger(home: Home) -> None:
    from nightrook.archive.ledger.runs import RunFigures

    figures = RunFigures(
        name="r", agent="claude", session="s", started_at=1.0, ended_at=2.0, native_usd=1.0
    )
    with Ledger.open(home.ledger) as ledger, ledger.batch() as batch:
        batch.add_run(figures)
    before = home.report()
    rebuild(home.ledger, (home.path,))
    assert home.report() == before != []


def damage(store: Path, random: Random) -> None:
    """Change some bytes of a store, and perhaps cut it."""
    data = bytearray(store.read_bytes())
    for _ in range(random.randint(1, 40)):
        start = random.randrange(100, len(data))
        end = min(len(data), start + random.randint(1, 200))
        data[start:end] = random.choice((random.randbytes(end - start), bytes(end - start)))
    store.write_bytes(data[: random.choice((len(data), random.randrange(512, len(data))))])


@pytest.mark.parametrize("seed", range(6))
def test_a_damaged_store_gives_the_same_report_after_a_rebuild(home: Home, seed: int) -> None:
    opencode_messages_have_the_tokens_of_their_last_step(home.path)
    goose_sums_of_a_session_repeat_its_ledger(home.path)
    stores = [path for path in sorted(home.path.rglob("*.db")) if path.is_file()]
    assert len(stores) == 2
    for store in stores:
        damage(store, Random(seed))
    bring_up_to_date(home.ledger, (home.path,))
    before = home.report()
    bring_up_to_date(home.ledger, (home.path,))
    assert home.report() == before
    rebuild(home.ledger, (home.path,))
    assert home.report() == before
