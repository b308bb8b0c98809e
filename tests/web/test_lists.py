"""Loops and batches, as the page lists them."""

import os
import subprocess
from pathlib import Path

from nightrook.testing import install_agent
from tests.warm import ROOK
from tests.web.served import Served, environment


def test_a_loop_has_its_prompt_and_says_whether_it_runs(tmp_path: Path) -> None:
    install_agent(tmp_path, "--script-say=DONE")
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    home = tmp_path / "home"
    command = [str(ROOK), "loop", "-q", "--until", "DONE", "Make the tests pass\nall of them"]
    subprocess.run(command, env=environment(home, **path), cwd=tmp_path, check=True)
    with Served(home) as server:
        [loop] = server.json("/api/loops")["loops"]
        assert server.json("/api/batches") == {"batches": []}
    assert (loop["prompt"], loop["running"]) == ("Make the tests pass\nall of them", False)
    assert loop["state"]["end"] == "done"
