"""The list of runs: what each row has, which rows are chosen, and what is read for them."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

import nightrook
from nightrook.model.snapshot import TokenCounts
from nightrook.runs.listing import combined, listed_runs
from nightrook.store.filters import Filter
from nightrook.store.list import Row
from tests.runs.folders import ended, live

replace = msgspec.structs.replace


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_row_has_what_a_script_asks_for(home: Path) -> None:
    tokens = TokenCounts(input=3, output=1)
    folder = ended(home, {"tokens": tokens, "files": ["/work/a.py"]}, cwd="/work", agent="claude")
    assert nightrook.list_runs() == [
        Row(
            name=folder.name,
            agent="claude",
            called=None,
            status="denied",
            started_at=1000.5,
            ended_at=1002.5,
            seconds=2.0,
            cost_usd=0.25,
            spent_usd=0.125,
            cost_source="native",
            cwd="/work",
            model="big",
            tokens=tokens,
            session="s",
            exit_code=4,
            sentence="it finished, but 1 tool call was not permitted",
            part_of="nine",
            files=("/work/a.py",),
            what="Fix the tests",
        )
    ]


def test_a_run_of_an_earlier_version_is_listed_without_what_it_did_not_record(home: Path) -> None:
    folder = ended(home)
    saved = json.loads((folder.path / "verdict.json").read_bytes())
    for name in ("tokens", "files"):
        del saved[name]
    (folder.path / "verdict.json").write_text(json.dumps(saved))
    (listed,) = nightrook.list_runs()
    assert (listed.tokens, listed.files, listed.exit_code) == (None, None, 4)


def test_a_live_run_shows_what_it_has_cost_so_far(home: Path) -> None:
    folder = live(home, 6)
    (listed,) = nightrook.list_runs()
    assert (listed.name, listed.status, listed.exit_code) == (folder.name, "running", None)
    assert listed.spent_usd is not None
    assert listed.spent_usd > 0
    assert listed.cost_source == "estimated"
    assert listed.tokens is not None
    assert listed.tokens.total > 0
    assert listed.session is not None
    assert listed.model is not None


def test_a_live_run_without_output_has_no_known_cost(home: Path) -> None:
    live(home, 0)
    (listed,) = nightrook.list_runs()
    assert (listed.status, listed.spent_usd, listed.files) == ("running", None, ())


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"agent": "codex"}, ["c"]),
        ({"agent": "mine"}, ["d"]),
        ({"agent": "claude"}, ["d", "b", "a"]),
        ({"status": "success"}, ["b"]),
        ({"cwd": "/work"}, ["b", "a"]),
        ({"cwd": "/work/"}, ["b", "a"]),
        ({"cwd": "/wor"}, []),
        ({"since": 2000.0}, ["d", "c", "b"]),
        ({"since": 2000.0, "agent": "claude", "limit": 1}, ["d"]),
    ],
)
def test_runs_are_chosen_by_agent_status_folder_and_time(
    home: Path, wanted: dict[str, Any], found: list[str]
) -> None:
    ended(home, started_at=1000.0, cwd="/work", prompt="a")
    ended(home, {"status": "success"}, started_at=2000.0, cwd="/work/b", prompt="b")
    ended(home, started_at=3000.0, cwd="/works", agent="codex", prompt="c")
    ended(home, started_at=4000.0, cwd="/", called="mine", prompt="d")
    assert [run.what for run in nightrook.list_runs(**wanted)] == found


def test_those_beyond_the_limit_are_counted(home: Path) -> None:
    for number in range(5):
        ended(home, started_at=1000.0 + number, agent="codex" if number % 2 else "claude")
    every = listed_runs(Filter(), 2)
    assert ([run.started_at for run in every.runs], every.more) == ([1004.0, 1003.0], 3)
    assert listed_runs(Filter(agent="claude"), 1).more == 2
    assert listed_runs(Filter(), None).more == 0


def test_each_listed_run_is_read_once_and_the_others_not_at_all(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        folder = ended(home, started_at=1000.0 + 60 * number)
        os.utime(folder.path, (1030.0 + 60 * number,) * 2)
    opened: list[str] = []
    real = os.open

    def counted(path: Any, *rest: Any, **more: Any) -> int:
        opened.append(os.fspath(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, "open", counted)
    assert len(nightrook.list_runs(limit=20)) == 20
    assert opened.count("verdict.json") == 20
    assert opened.count("run.json") == 20


def test_runs_that_belong_together_are_summed(home: Path) -> None:
    spent = TokenCounts(input=1, output=2)
    first = ended(home, {"tokens": spent, "files": ["a", "b"], "session": "one"})
    second = ended(home, {"tokens": spent, "files": ["b", "c"], "session": "two"})
    both = combined([first.name, "removed", second.name])
    assert (both.tokens, both.files) == (TokenCounts(input=2, output=4), ("a", "b", "c"))
    assert (both.session, both.model) == ("two", "big")
    assert (combined([]).tokens, combined([]).files) == (None, None)
