"""`nightrook.cost`: stored sessions are read, counted once and reported."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

import nightrook
from nightrook.archive import importer
from nightrook.archive.report.figures import Dollars
from nightrook.testing.histories import StoredCall, StoredSession, write

NOON = datetime(2026, 11, 2, 12, tzinfo=UTC).timestamp()


def session(id: str, *calls: StoredCall) -> StoredSession:
    return StoredSession(agent="claude", id=id, project="/srv/app", title="Work", calls=calls)


def call(number: int, hours: float = 0.0) -> StoredCall:
    return StoredCall(
        id=f"msg_{number}",
        at=NOON + hours * 3600,
        model="claude-sonnet-4-5",
        input=1000,
        output=100,
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "nightrook"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path


def test_stored_sessions_are_reported_and_stay_counted(home: Path) -> None:
    write(home, session("s1", call(1), call(2, hours=24)))
    report = nightrook.cost("day,model", timezone="UTC")
    assert [tuple(row.keys.values()) for row in report.rows] == [
        ("2026-11-02", "claude-sonnet-4-5"),
        ("2026-11-03", "claude-sonnet-4-5"),
    ]
    assert report.total.tokens.input == 2000
    assert report.total.cost_usd == Dollars(estimated=2 * (1000 * 3 + 100 * 15) / 1e6)
    for path in (home / ".claude").rglob("*.jsonl"):
        path.unlink()
    write(home, session("s2", call(3)))
    assert nightrook.cost(timezone="UTC").total.calls == 3


def test_a_report_is_filtered_as_a_program_asks(home: Path) -> None:
    write(home, session("s1", call(1), call(2, hours=24)))

    def calls(**wanted: object) -> int:
        return nightrook.cost(timezone="UTC", **wanted).total.calls  # type: ignore[arg-type]

    assert calls(since=date(2026, 11, 3)) == 1
    assert calls(until="2026-11-02") == 1
    assert calls(since=NOON + 1, until=datetime(2026, 11, 4, tzinfo=UTC)) == 1
    assert calls(project="app", model="claude-*", agent="claude") == 2
    assert calls(agent="codex") == 0


def test_a_home_is_another_folder_for_the_ledger(home: Path) -> None:
    write(home, session("s1", call(1)))
    assert nightrook.cost(home=home / "other").total.calls == 1
    assert (home / "other" / "ledger.db").exists()
    assert not (home / "nightrook").exists()


def test_homes_of_other_machines_count_by_a_setting(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, session("s1", call(1)))
    write(home / "copied", session("s1", call(1), call(2)))
    monkeypatch.setenv("ROOK_ARCHIVE_ROOTS", str(home / "copied"))
    assert nightrook.cost().total.calls == 2


def test_a_home_that_does_not_exist_is_noted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOK_ARCHIVE_ROOTS", str(home / "lost"))
    note = f"{home / 'lost'} does not exist and is not read; the setting archive_roots names it"
    assert nightrook.cost().notes == (note,)


def test_a_price_file_that_is_wrong_is_noted(home: Path) -> None:
    prices = home / "config" / "nightrook" / "prices.toml"
    prices.parent.mkdir(parents=True)
    prices.write_text("[mine")
    write(home, session("s1", call(1)))
    report = nightrook.cost()
    assert report.total.unpriced_tokens == 1100
    assert report.notes[0].startswith(f"{prices}: ")
    assert report.notes[0].endswith("; costs are not estimated: mend that file of prices")
    assert "no price is known" not in "".join(report.notes)
    prices.write_text("")
    assert nightrook.cost().total.unpriced_tokens == 0


def test_an_import_that_was_not_complete_is_noted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_PATIENCE_S", 0.0)
    with importer.locked(home / "nightrook" / "ledger.db"):
        notes = nightrook.cost().notes
    assert notes == ("another process is importing; what it has not read yet is missing",)


def test_a_run_that_cannot_be_read_is_noted(home: Path) -> None:
    run = home / "nightrook" / "runs" / "abcd"
    run.mkdir(parents=True)
    for name in ("run.json", "verdict.json"):
        (run / name).write_text("{")
    (note,) = nightrook.cost().notes
    assert note.startswith(f"{run / 'run.json'}: ")


def test_what_is_wrong_is_an_error_with_the_way_out(home: Path) -> None:
    with pytest.raises(nightrook.OptionError, match="by takes words out of"):
        nightrook.cost(by="weekday")
    with pytest.raises(nightrook.UnknownAgentError, match="did you mean claude"):
        nightrook.cost(agent="cluade")
    with pytest.raises(nightrook.OptionError, match="timezone takes"):
        nightrook.cost(timezone="Mars/Base")
