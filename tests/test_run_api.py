"""The public functions: typed use, arguments that are refused, and the results of a run."""

import asyncio
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import nightrook
from nightrook.config.option import rows
from nightrook.config.options import LoopOptions, RunOptions
from nightrook.events import ToolStarted
from nightrook.run_api import run_options
from nightrook.testing import install_agent

KEYWORDS = ((nightrook.RunKeywords, RunOptions), (nightrook.LoopKeywords, LoopOptions))


def test_run_takes_every_option_of_a_run() -> None:
    not_keywords = {"grace", "agent", "prompt"}
    expected = set(RunOptions.__struct_fields__) - not_keywords
    assert set(get_type_hints(nightrook.RunKeywords)) == expected


@pytest.mark.parametrize(("keywords", "struct"), KEYWORDS)
def test_an_editor_and_help_show_what_each_keyword_means(keywords: type, struct: type) -> None:
    source = inspect.getsource(keywords)
    for row in rows(struct):
        if row.name in keywords.__annotations__:
            assert f"        {row.name}: " in (keywords.__doc__ or "")
            assert re.search(rf'^    {row.name}: .*\n    """', source, re.MULTILINE), row.name


@pytest.mark.parametrize("function", [nightrook.run, nightrook.run_sync, nightrook.loop])
def test_a_keyword_that_does_not_exist_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_cots'"):
        function("claude", "x", max_cots=2)


def test_the_library_asks_nobody_and_waits_for_nobody_by_default() -> None:
    options = run_options("run", {"agent": "claude", "prompt": "x"})
    assert options == RunOptions(agent="claude", prompt="x", permission="agent", ask_timeout=None)


@pytest.mark.parametrize("function", [nightrook.run, nightrook.run_sync, nightrook.loop])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("timeout", "soon"),
        ("max_cost", "2"),
        ("max_turns", 0),
        ("allow", "Read"),
        ("allow", ["Read", "--settings"]),
        ("model", "--yolo"),
        ("cwd", 3),
    ],
)
def test_a_wrong_type_is_refused_before_anything_starts(
    tmp_path: Path, function: Callable[..., Any], option: str, value: object
) -> None:
    with pytest.raises(nightrook.OptionError, match=f"^{option} takes ") as error:
        function("claude", "x", home=tmp_path / "home", **{option: value})
    assert error.value.name == option
    assert not (tmp_path / "home").exists()


def test_a_finished_run_has_its_results(tmp_path: Path) -> None:
    program = install_agent(tmp_path, "--script-say=All good.")
    run = nightrook.run_sync(
        "claude", "Fix it", cwd=tmp_path, home=tmp_path, program=program, timeout="60s"
    )
    assert run.verdict is not None
    assert (run.verdict.status, run.text) == ("success", "All good.")
    assert run.cost is not None
    assert run.cost > 0
    assert run.tokens.total > 0
    assert run.files == tuple(run.state.files)
    assert isinstance(run.feed.snapshot(), nightrook.Snapshot)


def test_run_sync_works_inside_a_running_event_loop(tmp_path: Path) -> None:
    program = install_agent(tmp_path, "--script-say=hi")

    async def notebook() -> nightrook.Run:
        return nightrook.run_sync("claude", "x", cwd=tmp_path, home=tmp_path, program=program)

    run = asyncio.run(notebook())
    assert (run.text, run.exit_code) == ("hi", 0)


def test_a_run_is_listed_and_decoded_by_name_and_by_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path))
    program = install_agent(tmp_path, "--script-say=hi")
    run = nightrook.run_sync("claude", "Fix it", cwd=tmp_path, program=program)
    (listed,) = nightrook.list_runs()
    assert (listed.name, listed.agent, listed.status) == (run.name, "claude", "success")
    assert (listed.what, listed.spent_usd) == ("Fix it", run.cost)
    assert nightrook.list_runs(limit=0) == []
    by_name = list(nightrook.decode(run.name))
    assert by_name == list(nightrook.decode(run.folder.path))
    assert all(record.at is not None for record in by_name[:-1])
    assert any(isinstance(record.event, ToolStarted) for record in by_name)


def test_a_loop_of_the_library_reaches_its_goal(tmp_path: Path) -> None:
    program = install_agent(tmp_path, "--script-say=DONE")

    async def main() -> nightrook.Loop:
        made = nightrook.loop(
            "claude", "Fix it", cwd=tmp_path, home=tmp_path, until="DONE", program=program
        )
        async with made as loop:
            await loop.wait()
        return loop

    loop = asyncio.run(main())
    assert loop.exit_code == 0
    plan = json.loads((loop.folder.path / "plan.json").read_bytes())
    assert (plan["agent"], plan["prompt"], plan["goal"]["until"]) == ("claude", "Fix it", "DONE")
