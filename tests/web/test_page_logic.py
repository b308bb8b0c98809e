"""The page's logic without a browser: its modules under Node's own test runner."""

import subprocess
from pathlib import Path

from tests.programs import program
from tests.rules import each

TESTS = sorted((Path(__file__).parent / "page").glob("*.test.js"))


@each("path", TESTS, ids=lambda path: path.name)
def test_the_page_s_logic_holds(path: Path) -> None:
    done = subprocess.run(
        [program("node", "nodejs"), "--test", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
