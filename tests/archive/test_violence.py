"""Imports that are killed, that run at once or on a full disk: the next report is right."""

import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nightrook.testing.histories import month_of_work, write
from tests.archive.hard_traps import ALL_TRAPS
from tests.archive.reference import totals_of
from tests.archive.reports import imported, report, totals

UNTIL = 1_793_620_800.0
ROOT = Path(__file__).parent.parent.parent

# Kills itself before the given call of a function, and says how many there were if it was not.
IMPORT = """
import os, signal, sys
from pathlib import Path
from nightrook.archive import importer
from nightrook.archive.rebuild import rebuild

importer._MOST_LINES = 60
what, ledger, home, point = sys.argv[1:]
calls = 0

def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
    if calls == int(point):
        os.kill(os.getpid(), signal.SIGKILL)

sys.setprofile(count if int(point) else None)
{"import": importer.bring_up_to_date, "rebuild": rebuild}[what](ledger, (Path(home),))
sys.setprofile(None)
print(calls)
"""
NEVER = 1 << 40


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with some days of five agents' work."""
    folder = tmp_path_factory.mktemp("violence") / "home"
    for session in month_of_work(UNTIL, seed=7, days=2):
        write(folder, session)
    return folder


def start(what: str, ledger: Path, home: Path, point: int = 0) -> "subprocess.Popen[str]":
    """Start an import in a process of its own; it is killed at a point, if one is given."""
    command = [sys.executable, "-c", IMPORT, what, str(ledger), str(home), str(point)]
    environment = {**os.environ, "ROOK_HOME": str(ledger.parent)}
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: "subprocess.Popen[str]") -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def check(ledger: Path, home: Path) -> None:
    """The next report has everything, once."""
    imported(ledger, home)
    assert totals(ledger) == totals_of([home])


def kills(folder: Path, home: Path, made: random.Random, count: int) -> Iterator[None]:
    """Kill imports and rebuilds at random points: of new ledgers, and of the one that is left."""
    ledger = folder / "0" / "ledger.db"
    last = {what: int(finished(start(what, ledger, home, NEVER))) for what in ("import", "rebuild")}
    for number in range(count):
        what = "rebuild" if number % 3 == 2 else "import"
        if what == "import":
            ledger = folder / str(number + 1) / "ledger.db"
        process = start(what, ledger, home, made.randint(1, last[what]))
        _, err = process.communicate()
        assert process.returncode in (-signal.SIGKILL, 0), err
        if made.random() < 0.7:
            check(ledger, home)
        yield
    check(ledger, home)


def test_the_report_after_an_import_was_killed_is_right(tmp_path: Path, home: Path) -> None:
    for _ in kills(tmp_path, home, random.Random(1), 4):
        pass


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(8))
def test_reports_after_200_imports_were_killed_are_right(
    tmp_path: Path, home: Path, seed: int
) -> None:
    for _ in kills(tmp_path, home, random.Random(100 + seed), 25):
        pass


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_reports_after_imports_were_killed_inside_of_sqlite_are_right(
    tmp_path: Path, home: Path, seed: int
) -> None:
    made = random.Random(seed)
    for number in range(15):
        ledger = tmp_path / str(number) / "ledger.db"
        process = start("import", ledger, home)
        try:
            process.communicate(timeout=made.uniform(0.3, 1.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        check(ledger, home)


def test_importers_and_a_rebuild_at_once_count_everything_once(tmp_path: Path, home: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for process in [start(what, ledger, home) for what in ("import", "rebuild", "import")]:
        finished(process)
    check(ledger, home)


def small_disk() -> None:
    """Let no file of this process grow beyond that."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def rook(ledger: Path, home: Path, *words: str, before: Callable[[], None] | None = None) -> str:
    """Run the command; its output, and what it reports on standard error."""
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(home),
        "ROOK_HOME": str(ledger.parent),
        "XDG_CACHE_HOME": str(ledger.parent),
    }
    command = [sys.executable, "-m", "nightrook", *words]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, preexec_fn=before, check=False
    )
    return done.stdout + done.stderr


def test_a_full_disk_is_reported_and_the_next_report_is_right(tmp_path: Path, home: Path) -> None:
    ledger = tmp_path / "ledger.db"
    for words in (("cost",), ("import",), ("index", "--rebuild")):
        shown = rook(ledger, home, *words, before=small_disk)
        assert "check the disk" in shown
        assert "Traceback" not in shown
    check(ledger, home)


def test_reading_changes_nothing_in_the_folders_of_ten_agents(tmp_path: Path) -> None:
    home, ledger = tmp_path / "home", tmp_path / "runs" / "ledger.db"
    first = {trap.__name__.partition("_")[0]: trap for trap in reversed(ALL_TRAPS)}
    calls = sum(trap(home).calls for trap in first.values())
    for path in (home, *home.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
        os.utime(path, ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_002))
    before = contents(home)
    assert len(first) == 10
    for words in (("cost", "--json"), ("cost",), ("index", "--rebuild"), ("import",)):
        rook(ledger, home, *words)
        assert contents(home) == before
    assert report(ledger).total.calls == calls
    for path in (home, *home.rglob("*")):
        path.chmod(0o700)


def contents(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """What is in a folder: modes, times of changes, and bytes."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        stat = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (stat.st_mode, stat.st_mtime_ns, stat.st_ctime_ns, data)
    return found
