import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import rookery
from rookery.model.events import StreamClosed, ToolFinished, Unknown, Unreadable

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MB = 1_000_000
ROWS = """
file → records, stream corpus      for line in file: msgspec.json.decode(line)
file → records, deltas corpus      for line in file: msgspec.json.decode(line)
bytes → records, stream corpus     for line in lines: msgspec.json.decode(line)
bytes → records, deltas corpus     for line in lines: msgspec.json.decode(line)
file → records, codex corpus       for line in file: msgspec.json.decode(line)
bytes → records, codex corpus  for line in lines: msgspec.json.decode(line)
file → records, short codex corpus  for line in file: msgspec.json.decode(line)
bytes → records, short codex corpus  for line in lines: msgspec.json.decode(line)
file → records, app-server corpus  for line in file: msgspec.json.decode(line)
bytes → records, app-server corpus  for line in lines: msgspec.json.decode(line)
file → records, short app-server corpus  for line in file: msgspec.json.decode(line)
bytes → records, short app-server corpus  for line in lines: msgspec.json.decode(line)
file → records, opencode corpus    for line in file: msgspec.json.decode(line)
bytes → records, opencode corpus  for line in lines: msgspec.json.decode(line)
file → records, short opencode corpus  for line in file: msgspec.json.decode(line)
bytes → records, short opencode corpus  for line in lines: msgspec.json.decode(line)
file → records, gemini corpus      for line in file: msgspec.json.decode(line)
bytes → records, gemini corpus  for line in lines: msgspec.json.decode(line)
file → records, qwen corpus        for line in file: msgspec.json.decode(line)
bytes → records, qwen corpus  for line in lines: msgspec.json.decode(line)
file → records, amp corpus         for line in file: msgspec.json.decode(line)
bytes → records, amp corpus  for line in lines: msgspec.json.decode(line)
1 % unknown lines, stream corpus   no unknown lines
1 % unknown lines, deltas corpus   no unknown lines
a line of 10 MB, per MB            lines of 100 kB
peak memory, 50 MB stream          10 MB stream
import rookery                     imports asyncio, click, genai_prices, rich
rook --help                        python -c pass
write → record, p50, 100/s         bare os.read
write → record, p99, 10000/s       bare os.read
lag of 5 runs, 100 lines/s each    the time of writing
"""

sys.path.insert(0, str(BENCHMARKS))
from app_server_corpus import AppServerCorpus  # noqa: E402
from codex_corpus import CodexCorpus  # noqa: E402
from corpus import Corpus  # noqa: E402
from more_corpora import AmpCorpus, GeminiCorpus, QwenCorpus  # noqa: E402
from opencode_corpus import OpenCodeCorpus  # noqa: E402


def begin(lines: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)[:MB]).hexdigest()


def names(lines: Iterable[bytes]) -> Iterator[str]:
    return (type(record.event).__name__ for record in rookery.decode(lines, "claude"))


def test_a_seed_makes_the_same_corpus_each_time() -> None:
    assert begin(Corpus(5).lines(MB)) == begin(Corpus(5).lines(MB))
    assert begin(Corpus(5).deltas(MB)) == begin(Corpus(5).deltas(MB))


def test_every_line_of_the_codex_corpus_is_understood() -> None:
    assert begin(CodexCorpus(5).lines(MB)) == begin(CodexCorpus(5).lines(MB))
    records = list(rookery.decode(CodexCorpus().lines(2 * MB), "codex"))
    kinds = {type(record.event).__name__ for record in records}
    assert {"Thinking", "Text", "ToolStarted", "ToolFinished", "FileChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}


def test_every_line_of_the_app_server_corpus_is_understood_and_known() -> None:
    assert begin(AppServerCorpus(5).lines(MB)) == begin(AppServerCorpus(5).lines(MB))
    *records, closed = rookery.decode(AppServerCorpus().lines(2 * MB))
    kinds = {type(record.event).__name__ for record in records}
    assert {"TextDelta", "Text", "ToolProgress", "FileChanged", "UsageReported"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert isinstance(closed.event, StreamClosed)
    assert closed.event.unknown_fields == ()


@pytest.mark.parametrize(
    ("agent", "corpus"), [("gemini", GeminiCorpus), ("qwen", QwenCorpus), ("amp", AmpCorpus)]
)
def test_every_line_of_the_other_corpora_is_understood(agent: str, corpus: Any) -> None:
    assert begin(corpus(5).lines(MB)) == begin(corpus(5).lines(MB))
    records = list(rookery.decode(corpus().lines(2 * MB)))  # and its agent is known
    kinds = {type(record.event).__name__ for record in records}
    assert {"Text", "ToolStarted", "ToolFinished", "FileChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert ("TextDelta" in kinds) == (agent == "gemini")


def test_another_seed_makes_another_corpus() -> None:
    assert begin(Corpus(5).lines(MB)) != begin(Corpus(6).lines(MB))


@pytest.mark.parametrize("seed", [1, 2])
def test_every_line_of_the_corpus_is_understood(seed: int) -> None:
    records = list(rookery.decode(Corpus(seed).lines(2 * MB), "claude"))

    assert not [r for r in records if isinstance(r.event, (Unknown, Unreadable))]
    assert {"SessionStarted", "TextDelta", "Thinking", "ToolInputDelta", "ToolFinished"} <= {
        type(record.event).__name__ for record in records
    }


def test_the_deltas_are_partial_messages_after_one_init() -> None:
    first, *others = Corpus().deltas(MB)

    assert b'"subtype":"init"' in first
    assert all(line.startswith(b'{"type":"stream_event",') for line in others)
    assert Counter(names([first, *others]))["TextDelta"] > 1000


def test_one_line_in_a_hundred_is_unknown_if_asked_for() -> None:
    lines = list(islice(Corpus(unknown=0.01).lines(1000 * MB), 10_000))

    assert 50 <= Counter(names(lines))["Unknown"] <= 150


def test_every_line_of_opencode_s_corpus_is_understood() -> None:
    assert begin(OpenCodeCorpus(5).lines(MB)) == begin(OpenCodeCorpus(5).lines(MB))
    *records, closed = rookery.decode(OpenCodeCorpus().lines(2 * MB), "opencode")
    kinds = {type(record.event).__name__ for record in records}
    assert {"Thinking", "Text", "ToolFinished", "FileChanged", "PlanChanged"} <= kinds
    assert not kinds & {"Unknown", "Unreadable"}
    assert isinstance(closed.event, StreamClosed)
    assert closed.event.unknown_fields == ()


@pytest.mark.parametrize("largest", [2000, 50 * 1024])
def test_opencode_s_corpus_has_outputs_of_all_sizes_up_to_the_largest(largest: int) -> None:
    records = rookery.decode(OpenCodeCorpus(largest=largest).lines(4 * MB), "opencode")
    ended = [r.event for r in records if isinstance(r.event, ToolFinished)]
    sizes = [len(e.output or e.error or "") for e in ended if e.kind == "execute"]
    assert min(sizes) < 60
    assert 0.9 * largest < max(sizes) <= largest


def test_a_tool_result_has_about_the_size_asked_for() -> None:
    assert 90_000 < len(Corpus().tool_result(100_000)) < 120_000
    assert 9 * MB < len(Corpus().tool_result(9 * MB)) < 10 * MB


def test_a_quick_run_prints_every_row() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench.py"), "--quick"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)

    rows = [re.split("  +", row)[:2] for row in printed.stdout.splitlines()]
    assert [row for row in rows if "claude-agent-sdk" in row[-1]]
    assert [row for row in ROWS.split("\n") if re.split("  +", row) not in rows] == []
    assert printed.stderr == ""


def test_one_benchmark_can_be_run_alone() -> None:
    command = [sys.executable, str(BENCHMARKS / "bench.py"), "--only", "imports", "--strict"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)

    assert printed.stdout.splitlines()[-1].split()[:2] == ["import", "rookery"]
    assert printed.stdout.splitlines()[-1].endswith("ok")
