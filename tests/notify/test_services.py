"""Messages by apprise: in a process of its own, with a stand-in for the package."""

import json
from pathlib import Path

import pytest

from nightrook.notify.services import MISSING, send
from tests.ci.test_github import DONE

STAND_IN = """
import json, os

class Apprise:
    def add(self, url):
        self.url = url
        return not url.startswith("bad://")

    def notify(self, *, title, body):
        with open(os.environ["SENT"], "a") as file:
            print(json.dumps([self.url, title, body]), file=file)
        return True
"""


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `apprise` that writes what it sends to a file."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "apprise.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.setenv("SENT", str(tmp_path / "sent"))
    monkeypatch.syspath_prepend(str(packages))
    return tmp_path / "sent"


def test_each_address_gets_the_message(sent: Path) -> None:
    assert send(["one://token", "two://token"], DONE) is None
    lines = [json.loads(line) for line in sent.read_text().split("\n")[:-1]]
    assert lines == [
        ["one://token", "rook run k7f3: success", "~$0.0150"],
        ["two://token", "rook run k7f3: success", "~$0.0150"],
    ]


def test_a_failure_names_the_service_without_its_secret(sent: Path) -> None:
    assert send(["bad://token", "one://token"], DONE) == "notify: not sent by bad"
    assert "one://" in sent.read_text()


def test_without_the_extra_it_says_how_to_install_it() -> None:
    assert send(["one://token"], DONE) == MISSING


def test_nothing_is_imported_from_the_project(
    sent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("json.py", "msgspec.py", "nightrook.py"):
        (project / name).write_text("import sys; sys.exit('owned')")
    monkeypatch.chdir(project)
    assert send(["one://token"], DONE) is None
