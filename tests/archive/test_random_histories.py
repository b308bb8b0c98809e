"""Random histories that change between reports, against a slow reading of all that was written."""

import random
import shutil
from pathlib import Path

import pytest

from nightrook.archive.rebuild import rebuild
from nightrook.testing.histories import StoredSession, month_of_work, write
from tests.archive.reference import totals_of
from tests.archive.reports import imported, totals

UNTIL = 1_793_620_800.0


class Histories:
    """Two homes that change, and one that keeps all that was ever in them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.made = random.Random(seed)
        self.ledger = folder / "runs" / "ledger.db"
        self.homes = [folder / "laptop", folder / "desk"]
        self.everything = folder / "everything"
        self.sessions = list(month_of_work(UNTIL, seed=seed, days=4))
        self.half: dict[Path, bytes] = {}

    def step(self) -> str:
        """Change something at random; give what."""
        changes = (self.work, self.work, self.copy, self.delete, self.move, self.cut, self.rebuild)
        change = self.made.choice(changes)
        change()
        return change.__name__

    def work(self) -> None:
        """A session is written in one of the homes."""
        if self.sessions:
            session: StoredSession = self.sessions.pop(0)
            write(self.made.choice(self.homes), session)
            write(self.everything, session)

    def copy(self) -> None:
        """A file is copied to the other home."""
        path = self._any_file()
        if path is not None:
            home, other = self.homes if path.is_relative_to(self.homes[0]) else self.homes[::-1]
            target = other / path.relative_to(home)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)

    def delete(self) -> None:
        """A file that was imported is deleted."""
        self.check()
        path = self._any_file()
        if path is not None:
            path.unlink()

    def move(self) -> None:
        """A file is moved to another folder below the same place."""
        path = self._any_file()
        if path is not None and ".claude" in path.parts and path.parent.parent.name == "projects":
            folder = path.parent.with_name(f"{path.parent.name}-moved")
            folder.mkdir(exist_ok=True)
            path.rename(folder / path.name)

    def cut(self) -> None:
        """The last line of a file is only half written when it is read."""
        path = self._any_file()
        if path is None:
            return
        whole = path.read_bytes()
        path.write_bytes(whole[: whole.rfind(b"\n", 0, -1) + 1 + self.made.randint(0, 40)])
        imported(self.ledger, *self.homes)
        path.write_bytes(whole)

    def rebuild(self) -> None:
        """The ledger is built again from its sources."""
        if self.ledger.exists():
            rebuild(self.ledger, self.homes)

    def check(self) -> None:
        """The report has everything that was ever written, once."""
        imported(self.ledger, *self.homes)
        assert totals(self.ledger) == totals_of([self.everything])

    def _any_file(self) -> Path | None:
        files = sorted(path for home in self.homes for path in home.rglob("*.jsonl"))
        return self.made.choice(files) if files else None


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ROOK_HOME", str(tmp_path / "runs"))


def walk(folder: Path, seed: int, steps: int) -> None:
    histories = Histories(folder, seed)
    for _ in range(steps):
        histories.step()
        histories.check()


@pytest.mark.parametrize("seed", range(6))
def test_reports_are_those_of_the_slow_reading_after_every_change(
    tmp_path: Path, seed: int
) -> None:
    walk(tmp_path, seed, 12)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 200))
def test_reports_are_those_of_the_slow_reading_after_many_changes(
    tmp_path: Path, seed: int
) -> None:
    walk(tmp_path, seed, 40)
