"""Every trap of stored sessions: files in a home give the report that was worked out by hand."""

from pathlib import Path

import pytest

from tests.archive.hard_traps import ALL_TRAPS
from tests.archive.reports import calls_by, imported, report
from tests.archive.traps import Trap


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "runs"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("trap", ALL_TRAPS, ids=lambda trap: trap.__name__)
def test_the_report_is_the_one_worked_out_by_hand(trap: Trap, tmp_path: Path) -> None:
    home, ledger = tmp_path / "home", tmp_path / "runs" / "ledger.db"
    expected = trap(home)
    assert imported(ledger, home).problems == []
    total = report(ledger).total
    tokens = total.tokens
    found = total.calls, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write
    assert found == (
        *(expected.calls, expected.input, expected.output),
        *(expected.cache_read, expected.cache_write),
    )
    assert total.cost_usd.native == pytest.approx(expected.native, abs=1e-9)
    if expected.estimated is not None:
        assert total.cost_usd.estimated == pytest.approx(expected.estimated, abs=1e-9)
    if expected.unpriced is not None:
        assert total.unpriced_tokens == expected.unpriced
    if expected.days is not None:
        assert calls_by(ledger, "day") == expected.days
    if expected.models is not None:
        assert calls_by(ledger, "model") == expected.models
