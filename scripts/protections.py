"""Removes each guard of the source tree in turn and checks that a named test notices.

`python scripts/protections.py [WORD ...]` tries those whose names, files or tests contain a word;
without a word, all.

A guard is a piece of code that protects something: a check, a flag, a limit. A comment marks it, at
the end of its line or above it, and moves with it:

    os.fsync(fd)  # guards: file-synced

`tests/protections.toml` says under each file of tests which test fails without it:

    ["store/test_files.py"]
    file-synced = "test_a_file_is_on_disk_before_it_has_its_name"
    lock-waits = { test = "test_a_lock_waits", drop = "LOCK_NB" }

What is marked is the first thing that begins on the line: a statement, an argument, an item. It is
left out; an `if` is never true. Where that is not what removes the guard, the entry says what does,
in terms of the statement at the marker:

    drop = "NAME"        the argument, item or operand that mentions a name; a text in a string
    unwrap = "NAME"      the call of a function is replaced by what it was given
    becomes = "VALUE"    the condition, or what is assigned, returned or passed, is another one
    swap = ["OLD", "NEW"]   a name, an expression or a text in a string is replaced

JavaScript has no syntax tree here: its lines are left out, or lose a text.

The work is done in copies of the tree, one per processor, each with a virtual environment that
shares the installed packages.
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

from mutation import Change, markers, without
from shared_python import make_python

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "nightrook"
TABLE = ROOT / "tests" / "protections.toml"
LIBRARIES = SOURCE / "web" / "page" / "vendor"
PATIENCE = 180
"""Seconds after which a test that runs without a protection hangs, which is a failure as well."""
PATIENCE_FOR_ALL = 3600
"""The same for all tests together, before anything is removed."""


@dataclass(frozen=True)
class Protection:
    """One guard: where its markers are, how it is removed, and the tests that fail without it."""

    name: str
    file: str
    lines: tuple[int, ...]
    change: Change
    tests: tuple[str, ...]

    def removed(self, text: str) -> str:
        """The text of its file without it; raises MutationError if it cannot be removed."""
        return without(text, self.lines, self.change, is_python=self.file.endswith(".py"))


def entries() -> dict[str, tuple[Change, tuple[str, ...]]]:
    """What the table says of each guard: how it is removed, and its tests."""
    found = {}
    for file, guards in tomllib.loads(TABLE.read_text()).items():
        for name, entry in guards.items():
            fields = dict(entry) if isinstance(entry, dict) else {"test": entry}
            tests = fields.pop("test")
            paths = (
                f"tests/{file}::{test}" for test in ([tests] if isinstance(tests, str) else tests)
            )
            if name in found:
                raise ValueError(f"{name} is in the table twice")
            swap = fields.pop("swap", None)
            found[name] = Change(swap=swap and tuple(swap), **fields), tuple(paths)
    return found


def marked() -> dict[str, tuple[str, tuple[int, ...]]]:
    """The file of each guard that is marked, and the lines; a name in two files is refused."""
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for path in sorted(SOURCE.rglob("*")):
        if path.suffix not in (".py", ".js") or LIBRARIES in path.parents:
            continue
        file = str(path.relative_to(ROOT))
        for name, line in markers(path.read_text()):
            known, lines = found.get(name, (file, ()))
            if known != file:
                raise ValueError(f"{name} is marked in {known} and in {file}")
            found[name] = file, (*lines, line)
    return found


def protections() -> list[Protection]:
    """All guards that are marked and in the table."""
    places = marked()
    return [
        Protection(name, *places[name], *entry)
        for name, entry in entries().items()
        if name in places
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
        if LIBRARIES.is_dir():  # git ignores them
            shutil.copytree(LIBRARIES, folder / LIBRARIES.relative_to(ROOT))
        self._python = make_python(folder / ".venv", folder / "src")

    def notices(self, protection: Protection) -> bool:
        """Whether the tests fail without a protection."""
        file = self.folder / protection.file
        text = file.read_text()
        file.write_text(protection.removed(text))
        try:
            return self.failure(protection.tests) is not None
        finally:
            file.write_text(text)

    def failure(self, tests: Sequence[str], patience_s: float = PATIENCE) -> str | None:
        """Run tests; return what they print if they fail or do not end, None if they pass."""
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
            return f"they do not end within {patience_s:.0f} s"
        shown = output.decode(errors="replace")
        if process.returncode not in (0, 1):  # not failed but missing, or nothing was run
            raise RuntimeError(shown)
        return shown if process.returncode else None


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
    parser.add_argument(
        "words", nargs="*", help="try only those with such a word in name, file or test"
    )
    words = parser.parse_args(arguments).words
    chosen = [
        protection
        for protection in protections()
        if not words or any(word in str(protection) for word in words)
    ]
    if not chosen:
        print(f"no protection has {' or '.join(words)} in its name, file or test", file=sys.stderr)
        return 2
    with TemporaryDirectory(prefix="nightrook-protections-") as place:
        count = min(len(chosen), os.cpu_count() or 1)
        copies = [Copy(Path(place) / str(n)) for n in range(count)]
        tests = sorted({test for protection in chosen for test in protection.tests})
        if (why := copies[0].failure(tests, PATIENCE_FOR_ALL)) is not None:
            print(f"these tests must pass before anything is removed:\n{why}", file=sys.stderr)
            return 2
        left = [*survivors(chosen, copies)]
    print(f"a named test fails without {len(chosen) - len(left)} of {len(chosen)} protections")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
