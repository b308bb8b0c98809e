"""Removes each protection of the source tree in turn and checks that a named test notices.

`python scripts/protections.py [WORD ...]` tries those whose names or files contain a word; without
a word, all. The protections are listed in `tests/protections/*.toml`, one file per area:

    [[protection]]
    name = "The folder of a run is private"
    file = "src/nightrook/store/run_folder.py"
    remove = "mode=0o700"
    put = "mode=0o755"
    tests = ["tests/store/test_run_folder.py::test_it_is_private"]

`remove` occurs exactly once in the file; `put` takes its place. The work is done in copies of the
tree, one per processor, each with a virtual environment that shares the installed packages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

from shared_python import make_python

ROOT = Path(__file__).parent.parent
TABLES = ROOT / "tests" / "protections"
LIBRARIES = Path("src", "nightrook", "web", "page", "vendor")
PATIENCE = 180
"""Seconds after which a test that runs without a protection hangs, which is a failure as well."""
PATIENCE_FOR_ALL = 3600
"""The same for all tests together, before anything is removed."""


@dataclass(frozen=True)
class Protection:
    """One protection: how to remove it, and the tests that fail without it."""

    name: str
    file: str
    remove: str
    put: str
    tests: tuple[str, ...]

    def removed(self, text: str) -> str:
        """The text of its file without it; raises ValueError unless it occurs exactly once."""
        if (times := text.count(self.remove)) != 1:
            raise ValueError(f"{self.name}: its text occurs {times} times in {self.file}, not once")
        return text.replace(self.remove, self.put)


def protections() -> list[Protection]:
    """All protections that are listed."""
    return [
        Protection(**{**entry, "tests": tuple(entry["tests"])})
        for table in sorted(TABLES.glob("*.toml"))
        for entry in tomllib.loads(table.read_text())["protection"]
    ]


class Copy:
    """A copy of the source tree with a Python that imports it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        for name in filter(None, os.fsdecode(files).split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        if (ROOT / LIBRARIES).is_dir():  # git ignores them
            shutil.copytree(ROOT / LIBRARIES, folder / LIBRARIES)
        self._python = make_python(folder / ".venv", folder / "src")

    def notices(self, protection: Protection) -> bool:
        """Whether the tests fail without a protection."""
        file = self.folder / protection.file
        text = file.read_text()
        file.write_text(protection.removed(text))
        try:
            return not self.passes(protection.tests)
        finally:
            file.write_text(text)

    def passes(self, tests: Sequence[str], patience_s: float = PATIENCE) -> bool:
        """Whether tests pass; those that do not end, fail."""
        options = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "-m", ""]
        command = [str(self._python), "-B", "-m", "pytest", *options, *tests]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return False
        if process.returncode not in (0, 1):  # not failed but missing, or nothing was run
            raise RuntimeError(output.decode(errors="replace"))
        return process.returncode == 0


def survivors(chosen: Sequence[Protection], copies: Sequence[Copy]) -> Iterator[Protection]:
    """Remove each protection in turn; yield those without which all tests pass."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def attempt(protection: Protection) -> bool:
        copy = free.get()
        try:
            return copy.notices(protection)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as workers:
        for protection, noticed in zip(chosen, workers.map(attempt, chosen), strict=True):
            print(f"{'noticed ' if noticed else 'SURVIVED'}  {protection.name}", flush=True)
            if not noticed:
                yield protection


def main(arguments: Sequence[str]) -> int:
    """Try the chosen protections; return 1 if one can be removed without a test that fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="try only those with such a word in name or file")
    words = parser.parse_args(arguments).words
    chosen = [
        protection
        for protection in protections()
        if not words or any(word in f"{protection.name} {protection.file}" for word in words)
    ]
    if not chosen:
        print(f"no protection has {' or '.join(words)} in its name or file", file=sys.stderr)
        return 2
    with TemporaryDirectory(prefix="nightrook-protections-") as place:
        count = min(len(chosen), os.cpu_count() or 1)
        copies = [Copy(Path(place) / str(n)) for n in range(count)]
        tests = sorted({test for protection in chosen for test in protection.tests})
        if not copies[0].passes(tests, PATIENCE_FOR_ALL):
            print("these tests must pass before anything is removed:", *tests, file=sys.stderr)
            return 2
        left = [*survivors(chosen, copies)]
    print(f"a named test fails without {len(chosen) - len(left)} of {len(chosen)} protections")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
