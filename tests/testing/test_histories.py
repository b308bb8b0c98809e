"""Made-up homes: what the sessions of a script used is what can be read from its files."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from nightrook.testing.histories import AGENTS, month_of_work, write

UNTIL = 1_790_000_000.0


def test_a_month_of_work_has_every_agent_forks_and_subagents() -> None:
    sessions = list(month_of_work(UNTIL))
    assert {session.agent for session in sessions} == set(AGENTS)
    assert any(session.inherited for session in sessions)
    assert any(session.subagents for session in sessions)
    assert len(sessions) > 50


def test_the_same_seed_makes_the_same_month() -> None:
    assert list(month_of_work(UNTIL)) == list(month_of_work(UNTIL))
    assert list(month_of_work(UNTIL, seed=8)) != list(month_of_work(UNTIL))


def test_no_call_is_later_than_the_month_and_no_id_is_used_twice() -> None:
    calls = [call for session in month_of_work(UNTIL) for call in session.all_calls()]
    assert all(UNTIL - 31 * 86400 <= call.at <= UNTIL for call in calls)
    assert len({call.id for call in calls}) == len(calls)


def test_every_agent_writes_to_its_own_place(tmp_path: Path) -> None:
    for session in month_of_work(UNTIL):
        write(tmp_path, session)
    assert {path.name for path in tmp_path.iterdir()} == {
        *(".claude", ".codex", ".gemini", ".local", ".qwen")
    }
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl")]
    lines = [line for text in texts for line in text.split("\n") if line]
    assert all(isinstance(json.loads(line), dict) for line in lines)
    with closing(sqlite3.connect(tmp_path / ".local/share/opencode/opencode.db")) as database:
        steps = database.execute("SELECT count(*) FROM part").fetchone()[0]
    assert steps > 10


def test_a_fork_repeats_the_calls_that_it_inherits(tmp_path: Path) -> None:
    fork = next(s for s in month_of_work(UNTIL) if s.inherited and s.agent == "claude")
    write(tmp_path, fork)
    text = next(tmp_path.rglob("*.jsonl")).read_text(encoding="utf-8")
    assert all(call.id in text for call in (*fork.inherited, *fork.calls))
