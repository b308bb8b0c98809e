"""Sessions in a list: subagents are part of theirs, runs of rook are not."""

from pathlib import Path
from typing import Any

from nightrook.archive.report.sessions import listed_sessions
from tests.archive.report.ledgers import ledger


def call(session: str, hour: int, **given: Any) -> dict[str, Any]:
    return {"at": f"2026-11-02T{hour:02}:00Z", "session": session, "input": 1, **given}


def test_a_session_includes_its_subagents_whatever_their_depth(tmp_path: Path) -> None:
    calls = [
        call("root", 10, model="opus"),
        call("root", 12, model="haiku"),
        call("child", 9, parent="root"),
        call("grandchild", 15, parent="child"),
        call("orphan", 11, parent="unknown"),
    ]
    with ledger(tmp_path, *calls) as connection:
        first, second = listed_sessions(connection)
    assert (first.session, first.used.calls, first.model) == ("root", 4, "haiku")
    assert first.ended_at is not None
    assert first.started_at is not None
    assert first.ended_at - first.started_at == 6 * 3600
    assert (second.session, second.used.calls) == ("orphan", 1)


def test_sessions_in_a_circle_are_listed_once(tmp_path: Path) -> None:
    calls = [call("b", 10, parent="a"), call("a", 11, parent="b"), call("c", 12, parent="b")]
    with ledger(tmp_path, *calls) as connection:
        listed = listed_sessions(connection)
    assert sum(session.used.calls for session in listed) == 3
    assert [session.session for session in listed] == ["a"]


def test_what_only_runs_of_rook_did_is_no_session_of_a_person(tmp_path: Path) -> None:
    calls = [call("mixed", 10, run="k7f3"), call("mixed", 11), call("only a run", 12, run="k7f4")]
    with ledger(tmp_path, *calls) as connection:
        (listed,) = listed_sessions(connection)
    assert (listed.session, listed.used.calls) == ("mixed", 1)
