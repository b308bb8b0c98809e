"""When a limit ends: every form that providers use, with a fake clock."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nightrook
from nightrook.loops.limit_resets import SystemZone, from_field, from_text
from nightrook.loops.loop_runs import report
from nightrook.loops.plan import Goal
from nightrook.loops.retries import MOST_AHEAD_S, backoff_s, end_of_limit
from nightrook.model.facts import Facts
from nightrook.model.fold import fold
from nightrook.model.verdict import judge
from tests.recorded import ALL, name_of

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC).timestamp()
BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")


def at(text: str, zone: tzinfo = UTC) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


FORMS = {
    "Claude AI usage limit reached|1794765825": 1794765825,
    "Claude AI usage limit reached|1794765825000": 1794765825,
    "You've hit your session limit · resets 8:03pm (UTC)": at("2026-11-15 20:03"),
    "You've hit your 5-hour limit · resets 8:08pm (UTC)": at("2026-11-15 20:08"),
    "You've hit your limit · resets 2pm (Europe/Berlin)": at("2026-11-15 14:00", BERLIN),
    "5-hour limit reached ∙ resets 3pm": at("2026-11-15 15:00"),
    "5-hour limit reached ∙ resets 3pm (America/New_York)": at("2026-11-15 15:00", NEW_YORK),
    "Weekly limit reached · resets Nov 20 at 3pm (America/New_York)": at(
        "2026-11-20 15:00", NEW_YORK
    ),
    "You've hit your weekly limit · resets Thu, 10:59 (UTC)": at("2026-11-19 10:59"),
    "Opus weekly limit reached ∙ resets Mon 9am (UTC)": at("2026-11-16 09:00"),
    "usage limit reached, resets 12am (UTC)": at("2026-11-16 00:00"),
    "usage limit reached, resets 12pm (UTC)": at("2026-11-15 12:00"),
    "limit will reset at 11 pm (Asia/Tokyo).": at("2026-11-15 23:00", ZoneInfo("Asia/Tokyo")),
    "Your limit will reset at 14:30 UTC.": at("2026-11-15 14:30"),
    "Your limit will reset at 14:30 UTC+2.": at("2026-11-15 12:30"),
    "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
    "https://chatgpt.com/settings/usage to purchase more credits or try again at "
    "Nov 21st, 2026 2:13 PM.": at("2026-11-21 14:13"),
    "You've hit your usage limit. Try again at 3:05 PM.": at("2026-11-15 15:05"),
    "You've hit your usage limit. Try\u00a0again at 3:05\u202fPM.": at("2026-11-15 15:05"),
    "try again after 2026-11-16\u202f10:00": at("2026-11-16 10:00"),
    "You've hit your usage limit. Try again in 3 days 4 hours 12 minutes.": NOW + 274320,
    "Rate limit reached for gpt. Please try again in 0.5s.": NOW + 0.5,
    "Rate limit reached for gpt. Please try again in 250ms.": NOW + 0.25,
    "Rate limit reached. Please try again in 6m0s.": NOW + 360,
    "Rate limit reached. Please try again in 1h2m3s.": NOW + 3723,
    "You have exhausted your capacity. Your quota will reset after 18h33m10s.": NOW + 66790,
    'quota exceeded {"retryDelay": "34s"}': NOW + 34,
    "You exceeded your current quota. Please retry in 34.074824224s.": NOW + 34.074824224,
    "429 Too Many Requests, retry after 30 seconds": NOW + 30,
    "429 Too Many Requests; Retry-After: 120": NOW + 120,
    '{"error":{"retry_after": 45}}': NOW + 45,
    "quota exceeded; resets in 2 hours and 5 minutes": NOW + 7500,
    "quota resets at 2026-11-16T10:00:00Z": at("2026-11-16 10:00"),
    "try again after 2026-11-16 10:00:00 +0100": at("2026-11-16 09:00"),
    "limit reached until 2026-11-16T10:00:00.250Z": at("2026-11-16 10:00:00.250"),
}
SILENT = (
    "exceeded retry limit, last status: 429 Too Many Requests",
    "try again later",
    "retry 3 times",
    "API Error: 529 overloaded. usually temporary — try again in a moment.",
    "resets 25:00 (UTC)",
    "resets 13pm (UTC)",
    "resets Feb 31 at 3pm",
    "Claude AI usage limit reached|soon",
    "",
)


@pytest.mark.parametrize("text", FORMS)
def test_a_form_of_text_names_its_moment(text: str) -> None:
    assert from_text(text, now=NOW, local=UTC) == pytest.approx(FORMS[text], abs=1e-3)


def test_there_are_at_least_thirty_forms() -> None:
    assert len(FORMS) >= 30


@pytest.mark.parametrize("text", SILENT)
def test_a_text_without_a_moment_names_none(text: str) -> None:
    assert from_text(text, now=NOW, local=UTC) is None


def test_no_text_names_no_moment() -> None:
    assert from_text(None, now=NOW, local=UTC) is None


def test_a_clock_that_has_just_passed_is_not_tomorrow() -> None:
    moment = at("2026-11-15 11:30")
    assert from_text("resets 11:30am (UTC)", now=NOW, local=UTC) == moment
    assert end_of_limit(moment, now=NOW) == NOW + 60


def test_a_clock_that_passed_long_ago_is_tomorrow() -> None:
    assert from_text("resets 9am (UTC)", now=NOW, local=UTC) == at("2026-11-16 09:00")


def test_a_date_of_next_year_needs_no_year() -> None:
    late = datetime(2026, 12, 30, tzinfo=UTC).timestamp()
    assert from_text("resets Jan 2 at 3pm", now=late, local=UTC) == at("2027-01-02 15:00")


def test_an_unknown_zone_is_taken_for_ours() -> None:
    text = "resets 3pm (Mars/Olympus)"
    assert from_text(text, now=NOW, local=BERLIN) == at("2026-11-15 15:00", BERLIN)


# Daylight saving, in Berlin: 29 March 2026 has no 2:30, 25 October 2026 has it twice.


def test_of_an_hour_that_comes_twice_the_later_is_meant() -> None:
    now = at("2026-10-24 23:00", UTC)
    named = from_text("resets 2:30am (Europe/Berlin)", now=now, local=UTC)
    assert named == at("2026-10-25 01:30", UTC)


def test_an_hour_that_does_not_come_is_waited_for_long_enough() -> None:
    now = at("2026-03-28 23:00", UTC)
    named = from_text("resets 2:30am (Europe/Berlin)", now=now, local=UTC)
    assert named == at("2026-03-29 01:30", UTC)


@pytest.fixture
def berlin_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin_machine")
@pytest.mark.parametrize(
    "wall", ["2026-07-01 12:00", "2026-12-01 12:00", "2026-10-25 02:30", "2026-10-25 04:00"]
)
@pytest.mark.parametrize("fold_", [0, 1])
def test_the_machine_s_zone_is_that_of_its_name(wall: str, fold_: int) -> None:
    reading = datetime.fromisoformat(wall).replace(fold=fold_)
    named = reading.replace(tzinfo=BERLIN).timestamp()
    assert reading.replace(tzinfo=SystemZone()).timestamp() == named
    assert datetime.fromtimestamp(named, SystemZone()).replace(tzinfo=None, fold=0) == (
        reading.replace(fold=0)
    )


@pytest.mark.usefixtures("berlin_machine")
@pytest.mark.parametrize(
    ("eve", "day"), [("2026-10-24", "2026-10-25"), ("2026-03-28", "2026-03-29")]
)
def test_a_clock_without_zone_is_ours_also_behind_a_change_of_the_hour(eve: str, day: str) -> None:
    now = at(f"{eve} 22:00", BERLIN)
    named = from_text("resets 4am", now=now, local=SystemZone())
    assert named == at(f"{day} 04:00", BERLIN)


# Fields.


@pytest.mark.parametrize(
    ("field", "moment"),
    [
        (1794765825.0, 1794765825.0),
        (1794765825000.0, 1794765825.0),
        (None, None),
        (0.0, None),
        (-1.0, None),
        (float("inf"), None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_a_field_in_seconds_or_milliseconds(field: float | None, moment: float | None) -> None:
    assert from_field(field) == moment


def test_a_wait_is_never_early_nor_absurd() -> None:
    assert end_of_limit(NOW + 3600, now=NOW) == NOW + 3660
    assert end_of_limit(NOW - 3600, now=NOW) == NOW + 60
    assert end_of_limit(NOW + 1e9, now=NOW) == NOW + MOST_AHEAD_S


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_a_backoff_grows_to_its_cap_and_never_under_half(failures: int, chance: float) -> None:
    wait = backoff_s(failures, chance, least=2.0, most=300.0)
    due = min(300.0, 2.0 * 2.0 ** max(0, min(failures, 100) - 1))
    assert due / 2 <= wait <= due


# Recorded streams.


def test_every_recorded_limit_is_found_and_no_other(tmp_path: Path) -> None:
    """Those that a limit ended say when it ends, except for a bare 429; other text never does."""
    told = {}
    for path in ALL:
        state = fold(nightrook.decode(path, agent="claude"))
        verdict = judge(state, Facts())
        found = report(
            state,
            verdict,
            goal=Goal(ask_done=True),
            nonce="DONE",
            run=None,
            started_at=NOW,
            ended_at=NOW,
            local=UTC,
        )
        if found.status == "limited":
            told[name_of(path)] = found.resets_at
        else:
            assert found.resets_at is None or found.reset_from_field
    assert told
    assert {name for name, moment in told.items() if moment is None} == {
        name for name in told if "_429-" in name or "_credit-" in name
    }, json.dumps(told)
