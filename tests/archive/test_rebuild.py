"""A rebuilt ledger gives the same report, also of calls whose files are gone."""

from pathlib import Path

import pytest

from rookery.archive.importer import bring_up_to_date
from rookery.archive.ledger.ledger import Ledger
from rookery.archive.rebuild import rebuild
from tests.archive.homes import Home, message
from tests.archive.ledger.samples import sessions


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


def test_what_an_earlier_version_read_wrongly_is_read_again(home: Home) -> None:
    home.write(message(1))
    home.import_all()
    with Ledger.open(home.ledger) as ledger:
        ledger.connection.execute("UPDATE calls SET output = 99, key = 0")
    rebuild(home.ledger, (home.path,))
    assert home.totals() == (1, 5)


def test_a_removed_run_stays_in_a_rebuilt_ledger(home: Home) -> None:
    from rookery.archive.ledger.records import RunFigures

    figures = RunFigures(
        name="r", agent="claude", session="s", started_at=1.0, ended_at=2.0, native_usd=1.0
    )
    with Ledger.open(home.ledger) as ledger, ledger.batch() as batch:
        batch.add_run(figures)
    before = home.report()
    rebuild(home.ledger, (home.path,))
    assert home.report() == before != []
