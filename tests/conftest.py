"""Shared by all tests: where the recorded streams are, and a session to decode."""

import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from nightrook.ci.services import SERVICES

ROOT = Path(__file__).parent.parent
SESSION = ROOT / "examples" / "session.jsonl"


settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("search", derandomize=False, deadline=None, max_examples=2_000)
settings.load_profile("same")
"""`make test` tries the same examples every time; `make soak` searches for new ones."""

OF_THE_PLACE = (
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PAGER", "COLUMNS", "LINES"),
    *("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", *(service.variable for service in SERVICES)),
)
"""Variables that would let what we print depend on where the tests run."""


def pytest_configure() -> None:
    """Make tests run alike in CI, on a terminal and in the background, where Ctrl-C is ignored."""
    for name in os.environ.keys() & {*OF_THE_PLACE, *_settings()}:
        del os.environ[name]
    os.environ["XDG_CACHE_HOME"] = str(Path(tempfile.gettempdir(), "nightrook-tests-cache"))
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _settings() -> set[str]:
    """The settings of whoever runs the tests; those that tests themselves need stay."""
    ours = {name for name in os.environ if name.startswith("ROOK_")}
    return {name for name in ours if not name.startswith("ROOK_TEST_")}


PORTABLE = "no_linux_calls" in sys.modules
"""Whether Linux's own calls are taken away, by `make test-portable`."""

QUICK = (
    "adapter",
    "agents",
    "config",
    "display",
    "model",
    "prices",
    "test_architecture.py",
    "test_generated.py",
    "test_rules.py",
)
"""Where tests start no process and need no more than moments."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="fail if a test is skipped")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail for a skipped test where all must run: nobody reads the reasons of a green run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("--no-skips") and reporter and reporter.stats.get("skipped"):
        for report in reporter.stats["skipped"]:
            reporter.write_line(f"SKIPPED {report.nodeid}: {report.longrepr}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` runs, and skip what only Linux can do where its calls are missing."""
    for item in items:
        if PORTABLE and (mark := item.get_closest_marker("linux")) is not None:
            item.add_marker(pytest.mark.skip(reason=f"only on Linux: {mark.args[0]}"))
        marks = {mark.name for mark in item.iter_markers()}
        place = item.path.relative_to(ROOT / "tests").parts[0]
        if place in QUICK and not marks & {"slow", "soak", "conformance"}:
            item.add_marker("quick")


@pytest.fixture
def readable_again() -> Iterator[None]:
    """Undo that reading credentials hides the memory of the process, which is that of the tests."""
    yield
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE


@pytest.fixture
def session() -> Path:
    """A recorded session of a real agent."""
    return SESSION


@pytest.fixture
def root() -> Path:
    """The root of the repository."""
    return ROOT
