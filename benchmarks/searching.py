"""What `rook search` costs over stored sessions whose text is real and distinct."""

import os
import random
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from real_sessions import write_real_sessions
from starting import ROOK, rook_environment
from timing import Row, spent_by_children

from nightrook.archive.search.index import FILE, SearchIndex, decompress
from nightrook.archive.search.search import SearchQuery, search
from nightrook.model.redaction.redactor import Redactor

MB = 1_000_000
LEAST_SPEED = 60 * MB
MOST_WORDS = MOST_TEXT = 0.08
MOST_P95_S, MOST_COMMON_S, MOST_COMMAND_S = 0.1, 0.2, 0.5
MOST_MEMORY = 200 * MB
_COMMON = ("the", "import", "return")
_FILL = """
import sys, time
from pathlib import Path
from nightrook.archive.importer import bring_up_to_date
from nightrook.archive.search.index import SearchIndex
from nightrook.archive.search.indexing import fill
folder, home = map(Path, sys.argv[1:])
begin = time.process_time()
bring_up_to_date(folder / "ledger.db", [home])
with SearchIndex.open(folder / "words.db") as words:
    for _ in fill(words, [home]):
        pass
spent = time.process_time() - begin
# Not ru_maxrss: it begins with the memory of the benchmark, which started this process.
status = Path("/proc/self/status").read_text()
print(spent, int(status.partition("VmHWM:")[2].split()[0]) * 1024)
"""


class Setting(Protocol):
    """What of a benchmark's setting is needed here."""

    folder: Path
    quick: bool


def searching(setting: Setting) -> Iterator[Row]:
    """The CPU time of the index of words and of searches, and their sizes."""
    size, files = (20 * MB, 40) if setting.quick else (1000 * MB, 1500)
    home, folder = setting.folder / "real-sessions", setting.folder / "words"
    written = write_real_sessions(home, size, files=files)
    folder.mkdir()
    spent, peak = _filled(folder, home)
    what = f"import with words and text, {written / MB:.0f} MB of real text"
    speed = written / spent
    yield _row(
        what, f"{speed / MB:.0f} MB/s", f"≥ {LEAST_SPEED / MB:.0f} MB/s", speed >= LEAST_SPEED
    )
    yield _row(
        what, f"{peak / MB:.0f} MB", f"≤ {MOST_MEMORY / MB:.0f} MB", peak <= MOST_MEMORY, "memory"
    )
    with SearchIndex.open(folder / FILE) as words:
        yield from _sizes(words.connection, written)
        yield from _searches(words.connection)
    yield from _command(setting, home, folder)


def _filled(folder: Path, home: Path) -> tuple[float, int]:
    command = [sys.executable, "-c", _FILL, str(folder), str(home)]
    environment = {**os.environ, "HOME": str(home), "CLAUDE_CONFIG_DIR": ""}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    spent, peak = done.stdout.split()
    return float(spent), int(peak)


def _sizes(connection: sqlite3.Connection, written: int) -> Iterator[Row]:
    (words,) = connection.execute("SELECT sum(length(block)) FROM words_data").fetchone()
    facts, text = connection.execute(
        "SELECT sum(length(facts)), sum(length(text)) FROM blocks"
    ).fetchone()
    for what, part, most in (
        ("words", (words + facts) / written, MOST_WORDS),
        ("kept text", text / written, MOST_TEXT),
    ):
        yield _row(what, f"{part:.1%}", f"≤ {most:.0%}", part <= most, "the source")


def _searches(connection: sqlite3.Connection) -> Iterator[Row]:
    redact = Redactor({}).text

    def timed(text: str) -> float:
        begin = time.process_time()
        search(connection, SearchQuery(text=text), limit=20, per_session=1, redact=redact)
        return time.process_time() - begin

    spent = sorted(map(timed, queries(connection)))
    slow = spent[int(len(spent) * 0.95)]
    what = f"{len(spent)} mixed searches, 95 % of them"
    yield _row(what, f"{slow * 1000:.0f} ms", f"≤ {MOST_P95_S * 1000:.0f} ms", slow <= MOST_P95_S)
    common = max(map(timed, _COMMON))
    yield _row(
        "search for a common word",
        f"{common * 1000:.0f} ms",
        f"≤ {MOST_COMMON_S * 1000:.0f} ms",
        common <= MOST_COMMON_S,
    )


def queries(connection: sqlite3.Connection, each: int = 40) -> list[str]:
    """Words, pairs, phrases, beginnings of words and identifiers of the indexed texts."""
    made = random.Random(5)
    ids = [id for (id,) in connection.execute("SELECT id FROM blocks")]

    def words(pattern: str, least: int) -> Sequence[str]:
        while True:
            query = "SELECT text FROM blocks WHERE id = ?"
            (data,) = connection.execute(query, (made.choice(ids),)).fetchone()
            text = decompress(data)
            begin = made.randrange(max(1, len(text) - 2000))
            found = re.findall(pattern, text[begin : begin + 2000])
            if len(found) >= least:
                return found

    asked: list[str] = []
    for _ in range(each):
        several = words(r"[^\W_]{4,}", 3)
        first = words(r"[^\W_]+", 4)
        asked += [several[0], f"{several[1]} {several[2]}", f'"{first[1]} {first[2]}"']
        asked += [f"{several[0][:5]}*", words(r"\w+_\w+", 1)[0]]
    return asked


def _command(setting: Setting, home: Path, folder: Path) -> Iterator[Row]:
    environment = {**rook_environment(setting.folder), "HOME": str(home)}
    environment |= {"ROOK_HOME": str(folder), "NO_COLOR": "1"}
    command = [ROOK, "search", "return", "self"]
    spent_by_children(command, environment)
    spent = min(spent_by_children(command, environment) for _ in range(5))
    yield _row(
        "rook search, the whole command",
        f"{spent:.2f} s",
        f"≤ {MOST_COMMAND_S:.1f} s",
        spent <= MOST_COMMAND_S,
    )


def _row(what: str, value: str, required: str, ok: bool, against: str = "CPU time") -> Row:
    return Row(what, against, value, required, ok)
