"""`rook run` with a Qwen Code that plays what a real one wrote."""

from pathlib import Path

import pytest

from tests.cli.desk import Desk
from tests.recorded import cases, name_of

pytestmark = pytest.mark.slow  # each starts processes


def test_a_limit_of_turns_that_only_the_exit_code_tells_is_a_budget(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (stream,) = (path for path in cases("qwen") if name_of(path) == "max_turns-0.15.10")
    desk.program("qwen", f"/bin/cat '{stream}'; exit 53")
    done = desk.rook("run", "--agent", "qwen", "Do the thing")
    assert done.returncode == 5
    assert "reached the agent's own limit of turns" in done.stderr
