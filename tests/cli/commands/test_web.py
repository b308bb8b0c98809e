"""`rook web`, `rook web --detach`, `rook web --demo` and `rook run --web`, as a user calls them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.process.recording import PATIENCE_S
from tests.runs.asking.asking_agent import command, install
from tests.warm import ROOK
from tests.web.served import Page, environment

_OPENER = """#!/bin/sh
echo "$@" >> {file}.new
mv {file}.new {file}
"""


class Place:
    """A home, and a program that opens addresses by writing them down."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.opened = folder / "opened"
        programs = folder / "bin"
        programs.mkdir()
        opener = programs / "xdg-open"
        opener.write_text(_OPENER.format(file=self.opened))
        opener.chmod(0o755)
        self.environment = environment(self.home, PATH=f"{programs}:{folder}:{os.environ['PATH']}")

    def until_opened(self) -> str:
        """The address that was opened."""
        until = time.monotonic() + PATIENCE_S
        while not self.opened.exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        return self.opened.read_text().strip()

    def rook(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [ROOK, *words],
            env={**self.environment, **variables},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )


@contextmanager
def ending(place: Place) -> Iterator[None]:
    """End the server of a home that runs in the background."""
    try:
        yield
    finally:
        known = place.rook("web", "--no-open", "--detach")
        pid = int(known.stderr.rsplit("process ", 1)[1])
        os.kill(pid, signal.SIGTERM)


def test_a_server_in_the_background_outlives_its_command_and_is_found(tmp_path: Path) -> None:
    place = Place(tmp_path)
    with ending(place):
        first, second = (place.rook("web", "--detach") for _ in range(2))
        assert (first.returncode, second.returncode) == (0, 0)
        assert first.stdout == second.stdout
        assert place.until_opened() == first.stdout.strip()


def test_a_run_opens_its_page_and_is_answered_there(tmp_path: Path) -> None:
    place = Place(tmp_path)
    install(tmp_path)
    (tmp_path / "steps.json").write_text(json.dumps([command()]))
    run = subprocess.Popen(
        [ROOK, "run", "--web", "--permission", "ask", "Clean up"],
        env={**place.environment, "STEPS": str(tmp_path / "steps.json")},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with ending(place):
        url = place.until_opened()
        address, _, route = url.partition("&to=")
        page = Page(place.home, address)
        [question] = page.until("/api/questions", lambda found: found["questions"])["questions"]
        assert route == f"/runs/{question['run']}"
        path = f"/api/runs/{question['run']}/questions/{question['id']}"
        answer = page.post(path, {"allow": True})
        page.close()
        assert (answer.status, answer.json.get("error")) == (200, None)
        out, errors = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, errors
    assert address in errors
    assert "Done." in out


def test_the_demo_asks_something_and_leaves_nothing_behind(tmp_path: Path) -> None:
    place = Place(tmp_path)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    demo = subprocess.Popen(
        [ROOK, "web", "--demo", "--no-open"],
        env={**place.environment, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert demo.stdout is not None
    page = Page(place.home, demo.stdout.readline().strip())
    [question] = page.until("/api/questions", lambda found: found["questions"])["questions"]
    assert question["title"] == "git push --tags"
    page.until("/api/runs", lambda found: {"denied"} <= {run["status"] for run in found["runs"]})
    page.close()
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=PATIENCE_S)
    assert list(temporary.iterdir()) == []


def test_without_the_extra_it_says_what_to_install() -> None:
    code = (
        "import sys; from importlib import util; found = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'uvicorn' else found(name, *more)\n"
        "sys.argv = ['rook', 'web']\n"
        "from nightrook.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'nightrook[web]'" in done.stderr


def test_a_certificate_needs_its_key_and_both_must_fit(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (tmp_path / "x").write_text("no certificate")
    for words in (("--cert", "x"), ("--key", "x"), ("--cert", "x", "--key", "x")):
        done = place.rook("web", "--no-open", *words)
        assert done.returncode == 2
        assert "--key" in done.stderr
