"""What `rook` prints in a pipe for every recorded stream, with and without -v; its exit codes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.frozen.rook import AGENTS, HERE, plain

ESTIMATE = re.compile(r"~\$\d+\.\d+")  # from the prices of another package, which change


@pytest.mark.parametrize("agent", AGENTS)
def test_every_recorded_stream_is_shown_as_it_was(agent: str, tmp_path: Path) -> None:
    stored = json.loads((HERE / "plain" / f"{agent}.json").read_text(encoding="utf-8"))
    now = plain(agent, tmp_path)
    changed = {
        name: (_lines(then), _lines(now.get(name)))
        for name, then in stored.items()
        if _lines(then) != _lines(now.get(name))
    }
    assert not changed


def _lines(shown: Any) -> list[str]:
    """Everything that is shown of a stream, a line each."""
    if shown is None:
        return ["the stream is missing"]
    parts = [(how, shown[how]) for how in ("plain", "verbose")]
    return [
        ESTIMATE.sub("~$", f"{how}: {line}")
        for how, part in parts
        for line in (*part["stdout"], f"exit code {part['exit_code']}")
    ]
