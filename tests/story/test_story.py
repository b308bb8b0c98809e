"""The story of a run folder, read without waiting."""

from pathlib import Path

import pytest

from nightrook.story.feed import iterate
from nightrook.story.story import open_story
from tests.runs.folders import live


@pytest.mark.parametrize("is_running", [True, False])
def test_a_call_without_an_end_is_open_only_while_the_run_is_running(
    tmp_path: Path, is_running: bool
) -> None:
    feed = open_story(live(tmp_path, 7), is_running=is_running).feed
    types = [record.event.__class__.__name__ for record in iterate(feed.since(0))]
    assert ("StreamClosed" in types) is not is_running
    assert bool(feed.state.open_tools) is is_running
    assert feed.state.tools_orphaned == (0 if is_running else 1)
