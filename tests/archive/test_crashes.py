"""An import that is killed, or that has no room, leaves a ledger that the next one completes."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nightrook.archive import importer
from nightrook.archive.ledger import ledger as ledgers
from nightrook.archive.ledger.ledger import LedgerError
from tests.archive.homes import Home, message
from tests.archive.killing import CALLS


@pytest.fixture(autouse=True)
def _own_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)


def killed(folder: Path, first: int, last: int) -> list[tuple[int, int]]:
    """What the ledger has after imports and rebuilds that were killed."""
    words = [sys.executable, "-m", "tests.archive.killing", str(folder), str(first), str(last)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return [tuple(json.loads(line)) for line in done.stdout.split("\n") if line]


def test_whenever_an_import_or_rebuild_is_killed_the_next_report_is_right(tmp_path: Path) -> None:
    assert killed(tmp_path, 0, 4) == [(CALLS, CALLS * 5)] * 8


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_two_hundred_kills(tmp_path: Path, part: int) -> None:
    assert set(killed(tmp_path, part * 50, (part + 1) * 50)) == {(CALLS, CALLS * 5)}


def test_several_imports_at_once_count_each_call_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_MOST_LINES", 50)
    home = Home(tmp_path)
    for file in range(4):
        home.write("".join(message(100 * file + n) for n in range(100)), f"s{file}")
    with ThreadPoolExecutor(4) as threads:
        reports = list(threads.map(lambda _: home.import_all(), range(4)))
    assert sum(report.calls for report in reports) == 400
    assert home.totals() == (400, 2000)


def test_a_full_disk_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home(tmp_path)
    home.write("".join(message(n) for n in range(50)))
    home.import_all()
    before = home.report()
    home.write("".join(message(n) for n in range(3000)))
    with monkeypatch.context() as full:
        full.setattr(ledgers, "_SETTINGS", (*ledgers._SETTINGS, "PRAGMA max_page_count = 60"))
        with pytest.raises(LedgerError, match="full"):
            home.import_all()
        assert home.report() == before
    home.import_all()
    assert home.totals() == (3000, 15_000)


def test_an_import_that_takes_too_long_does_not_block_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_PATIENCE_S", 0.0)
    home = Home(tmp_path)
    home.write(message(1))
    with importer.locked(home.ledger):
        (problem,) = home.import_all().problems
    assert "another process is importing" in problem.reason
    assert home.import_all().calls == 1
